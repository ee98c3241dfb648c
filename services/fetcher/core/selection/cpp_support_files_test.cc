#include "services/fetcher/core/selection/cpp_support_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kKernel[] = "__global__ void k() {}\n";

using Texts = std::vector<std::pair<std::string, std::string>>;

class FakeSnapshot : public Snapshot {
 public:
  const Listing& listing() const override { return listing_; }
  absl::Status Bring(const std::vector<Entry>& entries) override {
    std::string paths;
    for (const Entry& entry : entries) absl::StrAppend(&paths, entry.path, " ");
    brought.push_back(paths);
    return bring_error;
  }
  absl::StatusOr<int64_t> Size(const Entry& entry) override {
    if (missing == entry.path) return absl::NotFoundError("");
    return static_cast<int64_t>(contents[entry.path].size());
  }
  absl::StatusOr<std::string> Read(const Entry& entry) override { return contents[entry.path]; }

  Listing listing_;
  std::map<std::string, std::string> contents;
  std::vector<std::string> brought;
  std::string missing;
  absl::Status bring_error;
};

class CppSupportFilesTest : public ::testing::Test {
 protected:
  // The paths that are handed on for others, in the tree's order. Texts are sorted by path.
  std::vector<std::string> Support(const Texts& files, const Texts& headers) {
    v1::SourceTree tree;
    tree.set_unselected_files(static_cast<int64_t>(headers.size()));
    for (const auto& [path, text] : files) {
      snapshot_.listing_.files.push_back({path, EntryKind::kFile, ""});
      v1::FileEntry& file = *tree.add_files();
      const absl::string_view reason = ContentSkipReason(text);
      file.set_path(path);
      file.set_size_bytes(static_cast<int64_t>(text.size()));
      file.set_fate(reason.empty() ? v1::FILE_FATE_SHARDED : v1::FILE_FATE_SKIPPED);
      file.set_reason(std::string(reason));
    }
    for (const auto& [path, text] : headers) {
      snapshot_.listing_.headers.push_back({path, EntryKind::kFile, ""});
      snapshot_.contents[path] = text;
    }
    CppSupportFiles support(snapshot_.listing_, limits_);
    for (size_t i = 0; i < files.size(); ++i) {
      support.AddContent(i, files[i].second, ContentSkipReason(files[i].second).empty());
    }
    status_ = support.Mark(snapshot_, tree);
    std::vector<std::string> found;
    for (const v1::FileEntry& file : tree.files()) {
      if (file.support()) found.push_back(file.path());
    }
    unselected_ = tree.unselected_files();
    return found;
  }

  FakeSnapshot snapshot_;
  SupportLimits limits_;
  absl::Status status_;
  int64_t unselected_ = 0;
};

TEST_F(CppSupportFilesTest, WhatCudaFilesIncludeIsHandedOnAndWhatThatIncludes) {
  EXPECT_THAT(Support({{"a/k.cu", absl::StrCat("#include \"b.cuh\"\n", kKernel)},
                       {"a/b.cuh", "#include <p/c.cuh>\n"},
                       {"inc/p/c.cuh", "int n;\n"},
                       {"inc/p/d.cuh", "int m;\n"}},
                      {}),
              ElementsAre("a/b.cuh", "inc/p/c.cuh"));
}

TEST_F(CppSupportFilesTest, HeadersThatNoGlobNamesAreBroughtALevelAtATime) {
  EXPECT_THAT(
      Support({{"k.cu", absl::StrCat("#include \"a.h\"\n#include \"b.h\"\n", kKernel)}},
              {{"a.h", "#include \"inc/c.h\"\n"}, {"b.h", ""}, {"inc/c.h", ""}, {"inc/d.h", ""}}),
      ElementsAre("a.h", "b.h", "inc/c.h"));
  EXPECT_THAT(status_, IsOk());
  EXPECT_THAT(snapshot_.brought, ElementsAre("a.h b.h ", "inc/c.h "));
  EXPECT_EQ(unselected_, 1);
}

TEST_F(CppSupportFilesTest, FilesThatLaunchWhatTheyIncludeAreHandedOn) {
  EXPECT_THAT(Support({{"host.cu", "#include \"k.cuh\"\nvoid f() { k<<<1, 1>>>(); }\n"},
                       {"k.cuh", kKernel},
                       {"other.cu", "void g() { k<<<1, 1>>>(); }\n"},
                       {"plain.cu", "#include \"k.cuh\"\nvoid h() {}\n"}},
                      {}),
              ElementsAre("host.cu"));
}

TEST_F(CppSupportFilesTest, FilesThatInstantiateWhatTheyIncludeAreHandedOnWithTheirIncludes) {
  EXPECT_THAT(
      Support({{"add.metal", "#include \"utils.h\"\n#include \"add.h\"\ninstantiate_add(float)\n"},
               {"add.h", "[[kernel]] void add() { help(); }\n"},
               {"utils.h", "#include \"more.h\"\nvoid help();\n"},
               {"other.metal", "#include \"utils.h\"\nint n;\n"}},
              {{"more.h", ""}}),
      ElementsAre("add.metal", "more.h", "utils.h"));
}

TEST_F(CppSupportFilesTest, FilesWithoutCudaWantNothing) {
  EXPECT_THAT(
      Support({{"a.cpp", "#include \"a.h\"\n"}, {"b.py", "# __global__ #include \"a.h\"\n"}},
              {{"a.h", ""}}),
      IsEmpty());
  EXPECT_THAT(snapshot_.brought, IsEmpty());
}

TEST_F(CppSupportFilesTest, HeadersOverTheLimitsAndMissingOnesAreLeftOut) {
  limits_.file_bytes = 100;
  snapshot_.missing = "b.h";
  EXPECT_THAT(
      Support({{"k.cu",
                absl::StrCat("#include \"a.h\"\n#include \"b.h\"\n#include \"c.h\"\n", kKernel)}},
              {{"a.h", std::string(101, ' ')}, {"b.h", ""}, {"c.h", ""}}),
      ElementsAre("c.h"));
  EXPECT_THAT(status_, IsOk());
}

TEST_F(CppSupportFilesTest, FilesThatIncludeOneAnotherEnd) {
  EXPECT_THAT(
      Support({{"k.cu", absl::StrCat("#include \"a.h\"\n", kKernel)}},
              {{"a.h", "#include \"b.h\"\n#include \"a.h\"\n"}, {"b.h", "#include \"a.h\"\n"}}),
      ElementsAre("a.h", "b.h"));
}

TEST_F(CppSupportFilesTest, AnErrorOfTheTransferIsTheSourcesError) {
  snapshot_.bring_error = absl::UnavailableError("gone");
  Support({{"k.cu", absl::StrCat("#include \"a.h\"\n", kKernel)}}, {{"a.h", ""}});
  EXPECT_THAT(status_, StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace kernelmill::fetcher
