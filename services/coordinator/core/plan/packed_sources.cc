#include "services/coordinator/core/plan/packed_sources.h"

#include <utility>

#include "common/job/source_spec.h"

namespace kernelmill::coordinator {

// A job may have 100,000 sources. A message takes several times the memory of its serialized form.
// The three flags that the plan asks for most are kept unpacked.
PackedSources::PackedSources(v1::JobSpec& spec) {
  // Moved out of the spec, since a message keeps the memory of cleared fields.
  const auto sources = std::move(*spec.mutable_sources());
  spec.mutable_sources()->Clear();
  packed_.reserve(sources.size());
  for (const v1::Source& source : sources) Add(source);
}

v1::Source PackedSources::Get(int32_t index) const {
  v1::Source source;
  source.ParseFromString(packed_[index]);
  return source;
}

void PackedSources::Set(int32_t index, const v1::Source& source) {
  packed_[index] = source.SerializeAsString();
  holdouts_[index] = source.role() == v1::SOURCE_ROLE_HOLDOUT;
  evidence_[index] = source.role() == v1::SOURCE_ROLE_EVIDENCE;
  whole_files_[index] = job::ReadsWholeFiles(source);
  SetLanguages(index, source);
}

void PackedSources::SetLanguages(int32_t index, const v1::Source& source) {
  if (source.languages().empty()) {
    languages_.erase(index);
  } else {
    languages_[index].assign(source.languages().begin(), source.languages().end());
  }
}

const std::vector<std::string>* PackedSources::GetLanguages(int32_t index) const {
  const auto found = languages_.find(index);
  return found == languages_.end() ? nullptr : &found->second;
}

void PackedSources::Add(const v1::Source& source) {
  packed_.push_back(source.SerializeAsString());
  holdouts_.push_back(source.role() == v1::SOURCE_ROLE_HOLDOUT);
  evidence_.push_back(source.role() == v1::SOURCE_ROLE_EVIDENCE);
  whole_files_.push_back(job::ReadsWholeFiles(source));
  SetLanguages(size() - 1, source);
}

void PackedSources::CopyTo(v1::JobSpec& spec) const {
  spec.mutable_sources()->Reserve(spec.sources_size() + size());
  for (const std::string& source : packed_) spec.add_sources()->ParseFromString(source);
}

}  // namespace kernelmill::coordinator
