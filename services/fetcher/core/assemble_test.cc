#include "services/fetcher/core/assemble.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/hash.h"
#include "common/source_files/content_hash.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// A snapshot in memory whose reads can be made to fail.
class FakeSnapshot : public Snapshot {
 public:
  const Listing& listing() const override { return listing_; }
  absl::StatusOr<int64_t> Size(const Entry& entry) override {
    const auto error = errors.find(entry.path);
    if (error != errors.end()) return error->second;
    return static_cast<int64_t>(contents[entry.path].size());
  }
  absl::StatusOr<std::string> Read(const Entry& entry) override { return contents[entry.path]; }

  void Add(const std::string& path, std::string content, EntryKind kind = EntryKind::kFile) {
    listing_.files.push_back({path, kind, ""});
    contents[path] = std::move(content);
  }
  void AddLicense(const std::string& path, std::string content) {
    listing_.licenses.push_back({path, EntryKind::kFile, ""});
    contents[path] = std::move(content);
  }

  Listing listing_;
  std::map<std::string, std::string> contents;
  std::map<std::string, absl::Status> errors;
};

v1::SourceTree Describe(FakeSnapshot& snapshot, const ContentLimits& limits = {}) {
  absl::StatusOr<v1::SourceTree> tree = DescribeTree(snapshot, "repo", limits);
  EXPECT_THAT(tree, IsOk());
  return tree.ok() ? *tree : v1::SourceTree();
}

// row 21, row 22, row 24, row 27
TEST(Assemble, EveryFileHasAFateAndTheLedgerAddsUp) {
  FakeSnapshot snapshot;
  snapshot.Add("../x.py", "triton");
  snapshot.Add("a.py", "import triton");
  snapshot.Add("b.py", "import torch");
  snapshot.Add("c.py", "triton", EntryKind::kSymlink);
  snapshot.Add("d.py", "triton", EntryKind::kSubmodule);
  snapshot.Add("e.py", "triton", EntryKind::kSpecial);
  snapshot.Add("f.py", std::string(101, 't'));
  snapshot.Add("g.py", "triton");
  snapshot.Add("g.py", "triton");
  snapshot.Add("h.py", "");
  snapshot.Add("i.py", "");
  snapshot.Add("j.py", "");
  snapshot.errors["h.py"] = absl::NotFoundError("");
  snapshot.errors["i.py"] = absl::DataLossError("");
  snapshot.errors["j.py"] = absl::PermissionDeniedError("");
  ContentLimits limits;
  limits.file_bytes = 100;
  const v1::SourceTree tree = Describe(snapshot, limits);
  const std::map<std::string, int64_t> expected = {{"files.seen", 12},
                                                   {"files.sharded", 2},
                                                   {"files.skipped.unsafe_path", 1},
                                                   {"files.skipped.no_kernel_marker", 1},
                                                   {"files.skipped.symlink", 1},
                                                   {"files.skipped.submodule", 1},
                                                   {"files.skipped.special_file", 1},
                                                   {"files.skipped.too_large", 1},
                                                   {"files.skipped.duplicate_path", 1},
                                                   {"files.failed.missing_object", 1},
                                                   {"files.failed.corrupt_object", 1},
                                                   {"files.failed.unreadable", 1}};
  EXPECT_EQ(CountFiles(tree), expected);
  EXPECT_EQ(tree.files(1).sha256(), Sha256Hex("import triton"));
  EXPECT_EQ(tree.files(6).sha256(), "");
  EXPECT_EQ(tree.files(6).size_bytes(), 101);
}

TEST(Assemble, WhatKernelsImportIsShardedAndCountedAsSupport) {
  FakeSnapshot snapshot;
  snapshot.Add("p/a.py", "import triton\nfrom .b import N\n@triton.jit\ndef k(): pass\n");
  snapshot.Add("p/b.py", "N = 1\n");
  snapshot.Add("p/c.py", "N = 2\n");
  const v1::SourceTree tree = Describe(snapshot);
  const std::map<std::string, int64_t> expected = {{"files.seen", 3},
                                                   {"files.sharded", 2},
                                                   {"files.support", 1},
                                                   {"files.skipped.no_kernel_marker", 1}};
  EXPECT_EQ(CountFiles(tree), expected);
  EXPECT_FALSE(tree.files(0).support());
  EXPECT_TRUE(tree.files(1).support());
  const std::vector<std::vector<size_t>> shards = ListShards(tree, {});
  ASSERT_EQ(shards.size(), 1u);
  EXPECT_EQ(shards[0], (std::vector<size_t>{0, 1}));
}

TEST(Assemble, TheFirstFileThatStatesAVersionOfTritonIsBelieved) {
  FakeSnapshot snapshot;
  for (const char* path : {"pyproject.toml", "setup.cfg", "setup.py", "requirements.txt"}) {
    snapshot.listing_.requirements.push_back({path, EntryKind::kFile, ""});
  }
  snapshot.contents["pyproject.toml"] = "dependencies = ['triton']\n";
  snapshot.errors["setup.cfg"] = absl::NotFoundError("");
  snapshot.contents["setup.py"] = "setup(install_requires=['triton>=3.0.0'])\n";
  snapshot.contents["requirements.txt"] = "triton==2.0\n";
  const v1::SourceTree tree = Describe(snapshot);
  EXPECT_EQ(tree.requires_triton(), ">=3.0.0");
  EXPECT_EQ(tree.requires_triton_path(), "setup.py");
  EXPECT_EQ(tree.files_size(), 0);
  snapshot.contents["setup.py"] = "setup(install_requires=['triton>=3.1.0'])\n";
  EXPECT_NE(source_files::ContentHash(Describe(snapshot)), source_files::ContentHash(tree));
}

TEST(Assemble, OtherErrorsFailTheSource) {
  FakeSnapshot snapshot;
  snapshot.Add("a.py", "triton");
  snapshot.errors["a.py"] = absl::ResourceExhaustedError("");
  EXPECT_THAT(DescribeTree(snapshot, "repo", {}), StatusIs(absl::StatusCode::kResourceExhausted));
}

// row 24
TEST(Assemble, TotalIsBounded) {
  FakeSnapshot snapshot;
  snapshot.Add("a.py", std::string(60, 'x'));
  snapshot.Add("b.py", std::string(60, 'x'));
  ContentLimits limits;
  limits.total_bytes = 100;
  EXPECT_THAT(DescribeTree(snapshot, "repo", limits),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// row 25
TEST(Assemble, ShardsHoldTheShardedFilesBytes) {
  FakeSnapshot snapshot;
  const std::string odd("\xef\xbb\xbf\0\r\rtriton\xff", 13);
  snapshot.Add("A.py", odd);
  snapshot.Add("a.py", "triton\r\n");
  snapshot.Add("b.py", "nothing");
  const v1::SourceTree tree = Describe(snapshot);
  const std::vector<std::vector<size_t>> shards = ListShards(tree, {});
  ASSERT_EQ(shards.size(), 1u);
  const absl::StatusOr<v1::FileShard> shard = ReadShard(snapshot, tree, shards[0]);
  ASSERT_THAT(shard, IsOk());
  ASSERT_EQ(shard->files_size(), 2);
  EXPECT_EQ(shard->files(0).path(), "A.py");
  EXPECT_EQ(shard->files(0).content(), odd);
  EXPECT_EQ(shard->files(1).path(), "a.py");
}

TEST(Assemble, ChangeBetweenReadsIsAborted) {
  FakeSnapshot snapshot;
  snapshot.Add("a.py", "triton 1");
  const v1::SourceTree tree = Describe(snapshot);
  snapshot.contents["a.py"] = "triton 2";
  EXPECT_THAT(ReadShard(snapshot, tree, {0}), StatusIs(absl::StatusCode::kAborted));
}

TEST(Assemble, LicencesAreCappedAndMissingOnesLeftOut) {
  FakeSnapshot snapshot;
  snapshot.AddLicense("LICENSE", "MIT");
  snapshot.AddLicense("a/LICENSE", std::string(11, 'x'));
  snapshot.AddLicense("b/LICENSE", "gone");
  snapshot.errors["b/LICENSE"] = absl::NotFoundError("");
  ContentLimits limits;
  limits.license_bytes = 10;
  const v1::SourceTree tree = Describe(snapshot, limits);
  ASSERT_EQ(tree.license_files_size(), 1);
  EXPECT_EQ(tree.license_files(0).content(), "MIT");
}

TEST(Assemble, ALinkToALicenceIsFollowedWithinTheSource) {
  FakeSnapshot snapshot;
  snapshot.AddLicense("LICENSE", "terms");
  const auto link = [&](const std::string& path, const std::string& target) {
    snapshot.listing_.licenses.push_back({path, EntryKind::kSymlink, ""});
    snapshot.contents[path] = target;
  };
  link("a/LICENSE", "../LICENSE");
  link("b/LICENSE", "../a/LICENSE");
  link("c/LICENSE", "../../LICENSE");
  link("d/LICENSE", "/LICENSE");
  link("e/LICENSE", "LICENSE");
  link("f/LICENSE", "../missing");
  const v1::SourceTree tree = Describe(snapshot);
  ASSERT_EQ(tree.license_files_size(), 3);
  EXPECT_EQ(tree.license_files(1).path(), "a/LICENSE");
  EXPECT_EQ(tree.license_files(1).content(), "terms");
  EXPECT_EQ(tree.license_files(2).path(), "b/LICENSE");
  EXPECT_EQ(tree.license_files(2).content(), "terms");
}

TEST(ContentHash, DependsOnPathsContentsAndLicencesAlone) {
  FakeSnapshot snapshot;
  snapshot.Add("a.py", "triton");
  snapshot.AddLicense("LICENSE", "MIT");
  const std::string hash = source_files::ContentHash(Describe(snapshot));
  FakeSnapshot same = snapshot;
  same.listing_.commit = "elsewhere";
  same.listing_.unselected = 7;
  EXPECT_EQ(source_files::ContentHash(Describe(same)), hash);
  FakeSnapshot content = snapshot;
  content.contents["a.py"] = "gluon!";
  EXPECT_NE(source_files::ContentHash(Describe(content)), hash);
  FakeSnapshot license = snapshot;
  license.contents["LICENSE"] = "ISC";
  EXPECT_NE(source_files::ContentHash(Describe(license)), hash);
  FakeSnapshot more = snapshot;
  more.Add("b.py", "");
  EXPECT_NE(source_files::ContentHash(Describe(more)), hash);
}

TEST(Assemble, ASourceThatKeepsFilesGivesAllTextThatItsGlobsName) {
  FakeSnapshot snapshot;
  snapshot.Add("binary.bin", std::string("a\0b", 3));
  snapshot.Add("codegen.py", "def generate(): return 'tl' + '.load'\n");
  snapshot.Add("empty.py", "\n");
  snapshot.Add("kernels.py", "import triton\nfrom codegen import generate\n");
  snapshot.Add("large.md", std::string((1 << 20) + 1, 'x'));
  snapshot.Add("lowering.td", "def Op;\n");
  const absl::StatusOr<v1::SourceTree> tree =
      DescribeTree(snapshot, "repo", {}, {.keep = v1::SOURCE_KEEP_FILES});
  ASSERT_THAT(tree, IsOk());
  const std::map<std::string, int64_t> expected = {{"files.seen", 6},
                                                   {"files.sharded", 3},
                                                   {"files.skipped.binary", 1},
                                                   {"files.skipped.empty", 1},
                                                   {"files.skipped.too_large", 1}};
  EXPECT_EQ(CountFiles(*tree), expected);  // and none is there for others' sake alone
}

TEST(Assemble, ASourceOfEvidenceGivesAllThatItsGlobsName) {
  FakeSnapshot snapshot;
  snapshot.Add("cases.jsonl", std::string((1 << 20) + 1, 'x'));
  snapshot.Add("empty.jsonl", "");
  snapshot.Add("results.jsonl", "{\"triton\": 1}\n");
  ContentLimits limits;
  limits.file_bytes = (1 << 20) + 1;
  snapshot.Add("large.jsonl", std::string((1 << 20) + 2, 'x'));
  const absl::StatusOr<v1::SourceTree> tree =
      DescribeTree(snapshot, "repo", limits, {.role = v1::SOURCE_ROLE_EVIDENCE});
  ASSERT_THAT(tree, IsOk());
  const std::map<std::string, int64_t> expected = {{"files.seen", 4},
                                                   {"files.sharded", 2},
                                                   {"files.skipped.empty", 1},
                                                   {"files.skipped.too_large", 1}};
  EXPECT_EQ(CountFiles(*tree), expected);
}

}  // namespace
}  // namespace kernelmill::fetcher
