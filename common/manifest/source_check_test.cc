#include "common/manifest/source_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/manifest/testing/write_files.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::manifest {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kSource[] = "@triton.jit\r\ndef k(x):\r    tl.load(x)\n";

v1::Kernel& AddKernel(v1::KernelShard& shard, const std::string& path, int line) {
  v1::Kernel& kernel = *shard.add_kernels();
  kernel.set_path(path);
  kernel.set_qualname("k");
  kernel.set_first_line(line);
  kernel.set_source(kSource);
  return kernel;
}

// Two kernels of a file of code, and two of a JSON file.
class SourceCheckTest : public ::testing::Test {
 protected:
  SourceCheckTest() {
    AddKernel(shard_, "a.py", 3);
    AddKernel(shard_, "a.py", 9);
    AddKernel(shard_, "b.json", 1).set_json_pointer("/0/code");
    AddKernel(shard_, "b.json", 5).set_json_pointer("/1/code");
    files_ = WriteFiles(&shard_);
  }

  v1::Kernel& kernel(int i) { return *shard_.mutable_kernels(i); }

  void ExpectLie(absl::string_view path, absl::string_view what) const {
    const absl::Status status = CheckSources(files_, shard_);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(path)));
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(what)));
  }

  v1::KernelShard shard_;
  v1::FileShard files_;
};

TEST_F(SourceCheckTest, WhatTheFilesHaveIsTrue) {
  EXPECT_THAT(CheckSources(files_, shard_), IsOk());
  EXPECT_THAT(CheckSources(v1::FileShard(), v1::KernelShard()), IsOk());
}

TEST_F(SourceCheckTest, ForeignTextUnderAGenuinePathIsALie) {
  kernel(1).set_source("@triton.jit\ndef stolen(x):\n    pass\n");
  ExpectLie("\"a.py\": line 9, kernel \"k\"", "the source has SHA-256");
  kernel(1).set_sha256(Sha256Hex(kernel(1).source()));
  ExpectLie("\"a.py\": line 9", "differ from byte 11 of");
}

TEST_F(SourceCheckTest, AHashOfAnotherTextIsALie) {
  kernel(0).set_sha256(Sha256Hex("another"));
  ExpectLie("\"a.py\": line 3", Sha256Hex(kSource));
}

TEST_F(SourceCheckTest, APartOfTheLinesIsNotTheLines) {
  kernel(0).mutable_source()->pop_back();
  kernel(0).set_sha256(Sha256Hex(kernel(0).source()));
  ExpectLie("a.py", "differ from byte");
}

TEST_F(SourceCheckTest, LinesAndOffsetsMustAgree) {
  kernel(0).set_first_byte(kernel(0).first_byte() + 1);
  ExpectLie("a.py", "begins at byte 2, not 3");
  kernel(0).set_first_byte(2);
  kernel(0).set_first_line(4);
  ExpectLie("a.py", "line 4");
  kernel(0).set_first_line(3);
  for (const int last : {0, 2, 4, 6, 12, 1'000'000}) {
    kernel(0).set_last_line(last);
    ExpectLie("a.py", "line 3");
  }
  kernel(0).set_first_line(-1);
  ExpectLie("a.py", "do not exist");
}

TEST_F(SourceCheckTest, AKernelIsOfAFileOfItsShard) {
  kernel(0).set_path("c.py");
  ExpectLie("c.py", "no such file");
}

TEST_F(SourceCheckTest, AFileIsListedAsItIs) {
  const v1::KernelShard truth = shard_;
  const std::function<void(v1::ExtractedFile&)> lies[] = {
      [](v1::ExtractedFile& file) { file.set_path("c.py"); },
      [](v1::ExtractedFile& file) { file.set_size_bytes(1); },
      [](v1::ExtractedFile& file) { file.set_sha256(Sha256Hex("")); },
      [](v1::ExtractedFile& file) { file.set_lines(1); },
  };
  for (const auto& lie : lies) {
    shard_ = truth;
    lie(*shard_.mutable_files(0));
    ExpectLie(shard_.files(0).path(), "");
  }
}

TEST_F(SourceCheckTest, AKernelOfAJsonFileStandsInTheStringThatItsPointerNames) {
  kernel(2).set_json_pointer("/1/code");
  ExpectLie("\"b.json\": line 1 of the string \"/1/code\"", "no such string");
  kernel(2).set_json_pointer("/0/code");
  const int64_t begin = kernel(2).string_begin();
  for (const int64_t other : {int64_t{-1}, int64_t{0}, begin - 1, kernel(3).string_begin()}) {
    kernel(2).set_string_begin(other);
    ExpectLie("b.json", "no such string");
  }
  kernel(2).set_string_begin(1 << 20);
  ExpectLie("b.json", "no such string");
  kernel(2).clear_json_pointer();
  ExpectLie("b.json", "no such string");
  kernel(2) = kernel(3);
  EXPECT_THAT(CheckSources(files_, shard_), IsOk()) << "in any order";
  kernel(0).set_json_pointer("/0/code");
  ExpectLie("a.py", "no such string");
}

// A document's kernel `def k(): pass` on line 2 of its text or cell.
class DocumentCheckTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    files_.add_files()->set_path(path);
    files_.mutable_files(0)->set_content(content);
    kernel_.set_path(path);
    kernel_.set_first_line(2);
    kernel_.set_last_line(2);
    SetSource("def k(): pass\n");
  }

  void SetSource(const std::string& source) {
    kernel_.set_source(source);
    kernel_.set_sha256(Sha256Hex(source));
  }

  absl::Status Check() const {
    v1::KernelShard shard;
    *shard.add_kernels() = kernel_;
    return CheckSources(files_, shard);
  }

  v1::FileShard files_;
  v1::Kernel kernel_;
};

TEST_F(DocumentCheckTest, AKernelOfANotebookIsInTheCellThatItsPointerNames) {
  const std::string text =
      R"({"cells": [{"cell_type": "code", "source": ["x\n", "def k(): pass\n", "y"]}]})";
  Write("a.ipynb", text);
  kernel_.set_first_byte(2);
  kernel_.set_string_begin(static_cast<int64_t>(text.find("x\\n")));
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kDataLoss));
  kernel_.set_json_pointer("/cells/0/source");
  EXPECT_THAT(Check(), IsOk());
  kernel_.set_json_pointer("/cells/1/source");
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kDataLoss));
  kernel_.set_json_pointer("/cells/0/source");
  kernel_.set_string_begin(kernel_.string_begin() + 1);
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(DocumentCheckTest, AKernelOfAPageIsOnTheFilesLines) {
  Write("a.md", "```py\ndef k(): pass\n```\n");
  kernel_.set_first_byte(6);
  EXPECT_THAT(Check(), IsOk());
  SetSource("def l(): pass\n");
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kDataLoss));
  SetSource("def k(): pass\n");
  kernel_.set_json_pointer("/cells/0/source");
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(DocumentCheckTest, MarksOfQuotesAreBlanksAndHtmlIsDecoded) {
  Write("a.md", "> ```py\n> def k(): pass\n> ```\n");
  SetSource("  def k(): pass\n");
  kernel_.set_first_byte(8);
  EXPECT_THAT(Check(), IsOk());
  files_.clear_files();
  Write("a.html", "<pre>\ndef <b>k</b>&#40;): pass\n</pre>\n");
  kernel_.set_first_byte(1);
  EXPECT_THAT(Check(), IsOk());
}

TEST_F(SourceCheckTest, ForeignTextInAJsonFileIsALie) {
  kernel(3).mutable_source()->replace(0, 11, "@stolen.jit");
  kernel(3).set_sha256(Sha256Hex(kernel(3).source()));
  ExpectLie("\"b.json\": line 5 of the string \"/1/code\"", "differ from byte 1 of");
}

TEST(TreeCheckTest, ATreeIsOfItsSourceAndItsPin) {
  v1::Source git;
  git.set_git("https://example.org/a");
  git.set_ref(std::string(40, 'a'));
  v1::SourceTree tree;
  tree.set_repository("https://example.org/a");
  tree.set_commit(git.ref());
  EXPECT_THAT(CheckTree(git, tree), IsOk());
  git.set_ref(std::string(40, 'b'));
  EXPECT_THAT(CheckTree(git, tree), StatusIs(absl::StatusCode::kDataLoss));
  v1::Source path;
  path.set_path("https://example.org/a");
  path.set_sha256("1234");
  EXPECT_THAT(CheckTree(path, tree), StatusIs(absl::StatusCode::kDataLoss));
  tree.set_commit("sha256:1234");
  EXPECT_THAT(CheckTree(path, tree), IsOk());
  tree.set_repository("https://example.org/b");
  EXPECT_THAT(CheckTree(path, tree), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(SourceCheckWholeFile, IsAllOfItsFile) {
  v1::KernelShard shard;
  AddKernel(shard, "a.py", 3);
  for (const char* path : {"a.py", "b.md", "c.json"}) {
    v1::Kernel& whole = *shard.add_kernels();
    whole.set_form(v1::KERNEL_FORM_FILE);
    whole.set_path(path);
    whole.set_source("no kernels\n");
  }
  const v1::FileShard files = WriteFiles(&shard);
  EXPECT_THAT(CheckSources(files, shard), IsOk());
  v1::KernelShard part = shard;
  part.mutable_kernels(1)->set_source(kSource);
  part.mutable_kernels(1)->set_sha256(Sha256Hex(kSource));
  EXPECT_THAT(CheckSources(files, part), StatusIs(absl::StatusCode::kDataLoss));
  v1::KernelShard twice = shard;
  *twice.add_kernels() = shard.kernels(1);
  EXPECT_THAT(CheckSources(files, twice), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(SourceCheckWholeFile, HasAnotherIdThanAKernelOfTheSameLines) {
  v1::KernelShard shard;
  AddKernel(shard, "a.py", 1);
  *shard.add_kernels() = shard.kernels(0);
  shard.mutable_kernels(1)->set_form(v1::KERNEL_FORM_FILE);
  SetKernelIds(v1::SourceTree(), &shard);
  EXPECT_NE(shard.kernels(0).id(), shard.kernels(1).id());
}

}  // namespace
}  // namespace kernelmill::manifest
