#include "services/runner/core/case_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"

namespace kernelmill::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kToolchain[] = R"({"numpy":"2.2.6","triton":"3.5.1"})";

std::string MakeCase(const std::string& name, const std::string& tensor,
                     const std::string& output) {
  return absl::StrCat(R"({"type":"case","id":")", Sha256Hex(name), R"(","module_sha256":")",
                      Sha256Hex("module"), R"(","kernel":"add","storages":[{"bytes":4,"sha256":")",
                      Sha256Hex(tensor), R"("},{"bytes":4,"recipe":{"kind":"poison"}}],)",
                      R"("outputs":[{"storage":1,"sha256":")", Sha256Hex(output), "\"}]}");
}

std::string MakeResult(const std::string& name, const std::string& device,
                       const std::string& toolchain) {
  return absl::StrCat(R"({"type":"result","case":")", Sha256Hex(name), R"(","device":")", device,
                      R"(","toolchain":)", toolchain, "}");
}

v1::FileShard Shard(const std::string& path, const std::string& content) {
  v1::FileShard shard;
  v1::SourceFile& file = *shard.add_files();
  file.set_path(path);
  file.set_content(content);
  return shard;
}

class CaseIndexTest : public ::testing::Test {
 protected:
  const KernelName kAdd = {Sha256Hex("module"), "add"};
  CaseIndex index_{"cpu", kToolchain};
};

TEST_F(CaseIndexTest, CasesAreFoundByModuleAndNameEachOnceInTheOrderOfTheirIds) {
  const std::string a = MakeCase("a", "x", "y"), b = MakeCase("b", "x", "z");
  index_.AddShard(0, Shard("one.jsonl", absl::StrCat(b, "\n\n", a, "\n")));
  index_.AddShard(1, Shard("two.jsonl", a));
  index_.Finish();
  const std::vector<Case>* const cases = index_.Find(kAdd);
  ASSERT_NE(cases, nullptr);
  ASSERT_EQ(cases->size(), 2u);
  EXPECT_LT((*cases)[0].id, (*cases)[1].id);
  const Case& first = (*cases)[0].id == Sha256Hex("a") ? (*cases)[0] : (*cases)[1];
  EXPECT_EQ(first.line, a);
  EXPECT_THAT(first.tensors, ElementsAre(Sha256Hex("x"), Sha256Hex("y")));
  EXPECT_EQ(index_.Find({Sha256Hex("module"), "other"}), nullptr);
}

TEST_F(CaseIndexTest, AKernelIsNamedByItsTextAsRowsHaveIt) {
  v1::Kernel kernel;
  kernel.set_module("broken \xff");
  kernel.set_qualname("Ops.add");
  EXPECT_EQ(NameKernel(kernel), KernelName(Sha256Hex("broken \xef\xbf\xbd"), "Ops.add"));
}

TEST_F(CaseIndexTest, OnlyAResultOfTheSameDeviceAndToolchainIsKnown) {
  index_.AddShard(
      0, Shard("results.jsonl", absl::StrCat(MakeResult("a", "cpu", kToolchain), "\n",
                                             MakeResult("b", "cuda:90", kToolchain), "\n",
                                             MakeResult("c", "cpu", R"({"triton":"3.9.0"})"), "\n",
                                             MakeResult("d", "cpu", R"({ "triton" : "3.5.1",
)"))));
  index_.AddShard(1, Shard("blanks.jsonl",
                           MakeResult("e", "cpu", R"({ "triton": "3.5.1", "numpy": "2.2.6" })")));
  index_.Finish();
  EXPECT_TRUE(index_.IsKnown(Sha256Hex("a")));
  EXPECT_FALSE(index_.IsKnown(Sha256Hex("b")));
  EXPECT_FALSE(index_.IsKnown(Sha256Hex("c")));
  EXPECT_FALSE(index_.IsKnown(Sha256Hex("d")));
  EXPECT_TRUE(index_.IsKnown(Sha256Hex("e"))) << "as another program writes JSON";
}

TEST_F(CaseIndexTest, LinesThatAreNothingOfThatAreLeftOut) {
  const std::string deep(100'000, '[');
  index_.AddShard(
      0, Shard("hostile.jsonl",
               absl::StrCat("no JSON\n[1]\n{}\n{\"type\":7}\n", deep, "\n",
                            R"({"type":"result","toolchain":)", deep, std::string(deep.size(), ']'),
                            "}\n", R"({"type":"case","id":"../../etc"})", "\n",
                            R"({"type":"case","storages":{},"outputs":[7]})", "\n",
                            R"({"type":"result","case":")", std::string(2 << 20, 'x'), "\"}\n",
                            MakeCase("a", "x", "y"))));
  index_.Finish();
  ASSERT_NE(index_.Find(kAdd), nullptr);
  EXPECT_EQ(index_.Find(kAdd)->size(), 1u);
}

TEST_F(CaseIndexTest, TensorsAreFilesThatAreNamedByAHash) {
  index_.AddShard(3, Shard(absl::StrCat("evidence/", Sha256Hex("x")), "{\"type\":\"case\"}"));
  index_.AddShard(5, Shard(absl::StrCat("more/", Sha256Hex("y")), "y"));
  index_.Finish();
  EXPECT_TRUE(index_.HasTensor(Sha256Hex("x")));
  EXPECT_FALSE(index_.HasTensor(Sha256Hex("z")));
  EXPECT_THAT(index_.FindShards({Sha256Hex("y"), Sha256Hex("x"), Sha256Hex("z")}),
              ElementsAre(3, 5));
  EXPECT_THAT(index_.FindShards({}), IsEmpty());
  EXPECT_FALSE(IsTensor(absl::StrCat("evidence/", Sha256Hex("x"), ".jsonl")));
}

TEST_F(CaseIndexTest, EveryModuleIsInOnePartition) {
  int counts[3] = {};
  for (int i = 0; i < 300; ++i) {
    const int partition = GetPartition(Sha256Hex(absl::StrCat(i)), 3);
    ASSERT_GE(partition, 0);
    ASSERT_LT(partition, 3);
    ++counts[partition];
  }
  for (const int count : counts) EXPECT_GT(count, 50);
  EXPECT_EQ(GetPartition(Sha256Hex("x"), 1), 0);
}

TEST_F(CaseIndexTest, ALineSaysOfWhichCaseItIsTheResult) {
  const std::string line = MakeResult("a", "cpu", kToolchain);
  EXPECT_EQ(GetResultCase(line, "cpu", kToolchain), Sha256Hex("a"));
  EXPECT_EQ(GetResultCase(line, "cuda:90", kToolchain), "");
  EXPECT_EQ(GetResultCase("{", "cpu", kToolchain), "");
  EXPECT_EQ(GetResultCase(MakeCase("a", "x", "y"), "cpu", kToolchain), "");
}

}  // namespace
}  // namespace kernelmill::runner
