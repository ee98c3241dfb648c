// The numbers were an enum in a field of their own, which is reserved now: the parser keeps them as
// an unknown field.
#include "common/manifest/older_languages.h"

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstdint>
#include <iterator>

#include "common/dsl/names.h"

namespace kernelmill::manifest {
namespace {

constexpr int kKernelField = 4;
constexpr int kVersionField = 10;

// By number, from 1.
constexpr const char* kLanguages[] = {dsl::kTriton, dsl::kGluon, dsl::kPallas, dsl::kCuda};

template <typename Record>
void NameLanguage(int field, Record* record) {
  using google::protobuf::UnknownField;
  if (!record->dsl().empty()) return;
  const auto& unknown = record->GetReflection()->GetUnknownFields(*record);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const UnknownField& one = unknown.field(i);
    if (one.number() != field || one.type() != UnknownField::TYPE_VARINT) continue;
    const uint64_t number = one.varint();
    if (number >= 1 && number <= std::size(kLanguages)) record->set_dsl(kLanguages[number - 1]);
  }
}

}  // namespace

void NameLanguages(v1::KernelShard* shard) {
  for (v1::Kernel& kernel : *shard->mutable_kernels()) NameLanguage(kKernelField, &kernel);
}

void NameLanguages(v1::ChangeShard* shard) {
  for (v1::KernelChange& change : *shard->mutable_changes()) {
    if (change.has_before()) NameLanguage(kVersionField, change.mutable_before());
    if (change.has_after()) NameLanguage(kVersionField, change.mutable_after());
  }
}

}  // namespace kernelmill::manifest
