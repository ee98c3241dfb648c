#include "services/coordinator/core/plan/packed_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelmill::coordinator {
namespace {

TEST(PackedSources, AreThoseOfTheSpecInTheirOrder) {
  v1::JobSpec spec;
  spec.set_name("job");
  for (const char* git : {"https://a", "https://b"}) spec.add_sources()->set_git(git);
  spec.mutable_sources(1)->add_include("*.py");
  spec.mutable_sources(1)->set_role(v1::SOURCE_ROLE_HOLDOUT);
  const v1::JobSpec whole = spec;
  PackedSources packed(spec);
  EXPECT_EQ(spec.sources_size(), 0);
  EXPECT_EQ(spec.name(), "job");
  ASSERT_EQ(packed.size(), 2);
  EXPECT_EQ(packed.Get(1).git(), "https://b");
  EXPECT_EQ(packed.Get(1).include(0), "*.py");
  EXPECT_FALSE(packed.IsHoldout(0));
  EXPECT_TRUE(packed.IsHoldout(1));
  EXPECT_FALSE(packed.ReadsWholeFiles(0));
  EXPECT_TRUE(packed.ReadsWholeFiles(1));
  packed.CopyTo(spec);
  EXPECT_EQ(spec.SerializeAsString(), whole.SerializeAsString());
}

TEST(PackedSources, TakeOnPinsAndGrow) {
  PackedSources packed;
  v1::Source source;
  source.set_git("https://a");
  packed.Add(source);
  source.set_ref("0123456789012345678901234567890123456789");
  packed.Set(0, source);
  source.set_git("https://b");
  packed.Add(source);
  EXPECT_EQ(packed.size(), 2);
  EXPECT_EQ(packed.Get(0).git(), "https://a");
  EXPECT_EQ(packed.Get(0).ref(), source.ref());
}

}  // namespace
}  // namespace kernelmill::coordinator
