#include "services/extractor/core/history/compiled_versions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"

namespace kernelmill::extractor {
namespace {

v1::Kernel MakeKernel(const std::string& name) {
  v1::Kernel kernel;
  kernel.set_name(name);
  kernel.set_dsl(std::string(dsl::kTriton));
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_source(absl::StrCat("def ", name, "(): pass\n"));
  kernel.set_module(absl::StrCat("import triton\n\n", kernel.source()));
  kernel.set_self_contained(true);
  return kernel;
}

v1::CompileParams MakeJob() {
  v1::CompileParams params;
  params.add_toolchains()->set_name("triton-3.5.1");
  params.add_targets("cuda:90");
  return params;
}

std::vector<v1::KernelShard> Write(const CompiledVersions& versions,
                                   const CompiledVersions::Limits& limits = {}) {
  std::vector<v1::KernelShard> shards;
  const absl::Status written = versions.Write(
      [&](const v1::KernelShard& shard) {
        shards.push_back(shard);
        return absl::OkStatus();
      },
      limits);
  EXPECT_TRUE(written.ok()) << written;
  return shards;
}

TEST(CompiledVersions, TakesWhatTheJobCompiles) {
  CompiledVersions versions(MakeJob());
  EXPECT_NE(versions.Add(MakeKernel("k")), "");
  v1::Kernel kernel = MakeKernel("k");
  kernel.set_self_contained(false);
  EXPECT_EQ(versions.Add(kernel), "");
  EXPECT_EQ(CompiledVersions({}).Add(MakeKernel("k")), "") << "the job does not compile";
}

TEST(CompiledVersions, AKernelOfCudaIsTakenByItsToolchainWithWhatItIsTriedWith) {
  v1::Kernel kernel = MakeKernel("scale");
  kernel.set_dsl(std::string(dsl::kCuda));
  kernel.set_qualname("ops::scale");
  kernel.mutable_cuda()->add_template_parameters("typename T, int N");
  v1::CudaLaunch& launch = *kernel.mutable_cuda()->add_launches();
  launch.set_text("scale<float, 4><<<1, 32>>>(x)");
  launch.set_first_line(20);
  launch.set_host_function("run");
  EXPECT_EQ(CompiledVersions(MakeJob()).Add(kernel), "");
  v1::CompileParams job = MakeJob();
  job.add_toolchains()->set_name("nvrtc-12.9");
  CompiledVersions versions(job);
  const std::string key = versions.Add(kernel);
  EXPECT_NE(key, "");
  const v1::Kernel record = Write(versions)[0].kernels(0);
  EXPECT_EQ(record.qualname(), "ops::scale");
  EXPECT_EQ(record.cuda().template_parameters(0), "typename T, int N");
  EXPECT_EQ(record.cuda().launches(0).text(), "scale<float, 4><<<1, 32>>>(x)");
  launch.set_first_line(21);
  EXPECT_EQ(versions.Add(kernel), key) << "a record has no place";
}

TEST(CompiledVersions, AKernelIsThereOnceWhereverItStands) {
  CompiledVersions versions(MakeJob());
  v1::Kernel moved = MakeKernel("k");
  moved.set_path("g.py");
  moved.set_first_line(7);
  moved.mutable_launcher()->set_path("h.py");
  EXPECT_EQ(versions.Add(MakeKernel("k")), versions.Add(moved));
  v1::Kernel launched = MakeKernel("k");
  launched.mutable_launcher()->set_text("k[(1,)](x)\n");
  EXPECT_NE(versions.Add(launched), versions.Add(moved)) << "a launch gives types";
  const std::vector<v1::KernelShard> shards = Write(versions);
  int kernels = 0;
  for (const v1::KernelShard& shard : shards) kernels += shard.kernels_size();
  EXPECT_EQ(kernels, 2);
  EXPECT_EQ(shards[0].kernels(0).path(), "");
}

TEST(CompiledVersions, PlacesCountThroughTheShardsInAnyOrderOfAdding) {
  CompiledVersions versions(MakeJob()), backward(MakeJob());
  std::vector<std::string> keys;
  for (int i = 0; i < 200; ++i) keys.push_back(versions.Add(MakeKernel(absl::StrCat("k", i))));
  for (int i = 199; i >= 0; --i) backward.Add(MakeKernel(absl::StrCat("k", i)));
  std::vector<std::string> names;
  for (const v1::KernelShard& shard : Write(versions, {32, 10, 4u << 20})) {
    EXPECT_LE(shard.kernels_size(), 10);
    for (const v1::Kernel& kernel : shard.kernels()) names.push_back(kernel.name());
  }
  ASSERT_EQ(names.size(), 200u);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(names[static_cast<size_t>(versions.GetPlace(keys[i]))], absl::StrCat("k", i));
    EXPECT_EQ(versions.GetPlace(keys[i]), backward.GetPlace(keys[i]));
  }
}

TEST(CompiledVersions, AFurtherKernelLeavesMostShardsAsTheyAre) {
  CompiledVersions versions(MakeJob());
  for (int i = 0; i < 1000; ++i) versions.Add(MakeKernel(absl::StrCat("k", i)));
  std::set<std::string> before;
  for (const v1::KernelShard& shard : Write(versions)) before.insert(shard.SerializeAsString());
  EXPECT_GT(before.size(), 15u);
  versions.Add(MakeKernel("new"));
  int changed = 0;
  for (const v1::KernelShard& shard : Write(versions)) {
    changed += before.contains(shard.SerializeAsString()) ? 0 : 1;
  }
  EXPECT_LE(changed, 2);
}

TEST(CompiledVersions, BytesBoundAShardAndAnEmptySetHasNone) {
  CompiledVersions versions(MakeJob());
  EXPECT_TRUE(Write(versions).empty());
  versions.Add(MakeKernel("a"));
  versions.Add(MakeKernel("b"));
  EXPECT_EQ(Write(versions, {1u << 30, 128, 1}).size(), 2u);
}

}  // namespace
}  // namespace kernelmill::extractor
