#include "common/manifest/older_languages.h"

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::manifest {
namespace {

template <typename Record>
void SetNumber(int field, int number, Record* record) {
  record->GetReflection()->MutableUnknownFields(record)->AddVarint(field, number);
}

TEST(OlderLanguages, NumbersOfKernelsBecomeNames) {
  v1::KernelShard shard;
  for (const int number : {1, 2, 3, 4, 5}) SetNumber(4, number, shard.add_kernels());
  shard.add_kernels()->set_dsl("cute");
  shard.add_kernels();
  v1::KernelShard read;
  ASSERT_TRUE(read.ParseFromString(shard.SerializeAsString()));
  NameLanguages(&read);
  std::string names;
  for (const v1::Kernel& kernel : read.kernels()) names += kernel.dsl() + " ";
  EXPECT_EQ(names, "triton gluon pallas cuda  cute  ");
}

TEST(OlderLanguages, NumbersOfVersionsBecomeNames) {
  v1::ChangeShard shard;
  SetNumber(10, 2, shard.add_changes()->mutable_before());
  shard.mutable_changes(0)->mutable_after()->set_dsl("warp");
  NameLanguages(&shard);
  EXPECT_EQ(shard.changes(0).before().dsl(), "gluon");
  EXPECT_EQ(shard.changes(0).after().dsl(), "warp");
}

}  // namespace
}  // namespace kernelmill::manifest
