#include "common/job/compile_policy.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>

#include "common/job/job_file.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"
#include "common/toolchains/toolchains.h"

namespace kernelmill::job {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

v1::JobSpec JobThatCompiles(const std::string& json) {
  v1::JobSpec spec;
  spec.set_name("job");
  spec.add_sources()->set_git("https://example.org/a/b");
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, spec.mutable_compile()).ok())
      << json;
  return spec;
}

std::string ProblemOf(const std::string& json) {
  return std::string(CheckJobSpec(JobThatCompiles(json)).message());
}

TEST(CompilePolicy, WhatIsWrongIsNamedWithWhatIsKnown) {
  EXPECT_THAT(CheckJobSpec(JobThatCompiles("{}")), IsOk());
  EXPECT_THAT(ProblemOf(R"({"toolchains": ["triton-1.0"]})"),
              StartsWith("compile.toolchains[0]: unknown toolchain \"triton-1.0\"; triton-"));
  EXPECT_EQ(ProblemOf(R"({"targets": ["cuda:90", "cuda:75"]})"),
            "compile.targets[1]: unknown target \"cuda:75\"; cuda:80, cuda:90, cuda:100, "
            "hip:gfx942 are known");
  EXPECT_EQ(ProblemOf(R"({"keep": ["cubin"]})"),
            "compile.keep[0]: unknown form \"cubin\"; ttir, ttgir, llir, ptx, amdgcn are known");
  EXPECT_EQ(ProblemOf(R"({"targets": ["cuda:90", "cuda:90"]})"),
            "compile.targets[1]: \"cuda:90\" is twice");
  EXPECT_EQ(ProblemOf(R"({"maxSeconds": -1})"), "compile.max_seconds: is not 1 to 600");
  EXPECT_EQ(ProblemOf(R"({"maxSeconds": 601})"), "compile.max_seconds: is not 1 to 600");
  EXPECT_EQ(ProblemOf(R"({"maxSeconds": 600})"), "");
}

TEST(CompilePolicy, AnEmptyPolicyIsAllThatIsPinned) {
  const v1::CompilePolicy policy = WithDefaults(JobThatCompiles("{}")).compile();
  ASSERT_EQ(static_cast<size_t>(policy.toolchains_size()), toolchains::PinnedToolchains().size());
  EXPECT_EQ(policy.toolchains(0), toolchains::PinnedToolchains()[0].name);
  EXPECT_THAT(policy.targets(), ElementsAre("cuda:80", "cuda:90", "cuda:100", "hip:gfx942"));
  EXPECT_THAT(policy.keep(), IsEmpty());
  EXPECT_EQ(policy.max_seconds(), 180);
}

TEST(CompilePolicy, TheOrderOfNamesMakesNoOtherJob) {
  const v1::CompilePolicy one = WithCompileDefaults(
      JobThatCompiles(R"({"targets": ["hip:gfx942", "cuda:80"], "keep": ["ptx", "ttir"]})")
          .compile());
  EXPECT_THAT(one.targets(), ElementsAre("cuda:80", "hip:gfx942"));
  EXPECT_THAT(one.keep(), ElementsAre("ttir", "ptx"));
  EXPECT_EQ(WithCompileDefaults(one).SerializeAsString(), one.SerializeAsString());
}

TEST(CompilePolicy, AJobThatSaysNothingCompilesNothing) {
  v1::JobSpec spec = JobThatCompiles("{}");
  spec.clear_compile();
  EXPECT_FALSE(WithDefaults(spec).has_compile());
}

TEST(CompilePolicy, EvidenceOfCompilersIsRequiredOnlyOfAJobThatCompiles) {
  v1::JobSpec spec = JobThatCompiles("{}");
  spec.mutable_quality()->add_require("compiles");
  EXPECT_THAT(CheckJobSpec(spec), IsOk());
  spec.clear_compile();
  EXPECT_EQ(std::string(CheckJobSpec(spec).message()),
            "quality.require: \"compiles\" is known of a job that has compile alone");
}

TEST(CompilePolicy, AnEmptyMapInAJobFileIsAPolicyAndAnUnknownKeyIsRefused) {
  const std::string job = "name: j\nsources:\n  - git: https://example.org/a/b\ncompile: ";
  const auto read = ParseJobFile(job + "{}\n", "job.yaml");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->has_compile());
  EXPECT_THAT(std::string(ParseJobFile(job + "{gpu: 1}\n", "job.yaml").status().message()),
              HasSubstr("compile.gpu: unknown key (known: toolchains, targets, keep, "
                        "max_seconds)"));
  EXPECT_THAT(
      std::string(ParseJobFile(job + "{targets: [cuda:1]}\n", "job.yaml").status().message()),
      HasSubstr("compile.targets[0]: unknown target \"cuda:1\""));
}

}  // namespace
}  // namespace kernelmill::job
