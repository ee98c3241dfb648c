#include "services/fetcher/server/fetcher_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/testing/status_matchers.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/fetcher/adapters/git/testing/test_repository.h"
#include "services/fetcher/adapters/http/testing/http_server.h"
#include "services/fetcher/adapters/wheel/testing/test_wheel.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::Not;

class FetcherStagesTest : public ::testing::Test {
 protected:
  FetcherStagesTest() {
    options_.local = LocalFolders({"/"});
    options_.temp_dir = temp_.path();
    Restart();
  }

  void Restart() { stages_ = NewFetcherStages(options_); }

  absl::StatusOr<v1::Source> Pin(const v1::Source& source) {
    v1::Action action;
    *action.mutable_params()->mutable_pin()->mutable_source() = source;
    absl::StatusOr<v1::StageResult> result = stages_[1]->Run(action, store_);
    if (!result.ok()) return result.status();
    return result->pinned();
  }

  absl::StatusOr<v1::StageResult> Fetch(const v1::Source& source) { return Fetch(source, store_); }

  absl::StatusOr<v1::StageResult> Fetch(const v1::Source& source, cas::BlobStore& store) {
    v1::Action action;
    *action.mutable_params()->mutable_fetch()->mutable_source() = source;
    absl::StatusOr<v1::StageResult> result = stages_[2]->Run(action, store);
    EXPECT_EQ(TempFiles(), 2) << "this process's folder and the lock in it";
    return result;
  }

  int TempFiles() const {
    return static_cast<int>(
        std::distance(std::filesystem::recursive_directory_iterator(temp_.path()),
                      std::filesystem::recursive_directory_iterator()));
  }

  v1::Source PathSource() {
    v1::Source source;
    source.set_path(local_.path());
    source.set_name("local");
    source.add_include("**/*.py");
    return source;
  }

  void Write(const std::string& name, const std::string& content) {
    ASSERT_THAT(WriteFile(absl::StrCat(local_.path(), "/", name), content), IsOk());
  }

  static std::map<std::string, int64_t> Counters(const v1::StageResult& result) {
    std::map<std::string, int64_t> counters;
    for (const v1::Counter& counter : result.counters()) counters[counter.name()] = counter.value();
    return counters;
  }

  TempDir temp_ = *TempDir::Create();
  TempDir local_ = *TempDir::Create();
  FetcherOptions options_;
  cas::MemoryBlobStore store_;
  std::vector<std::unique_ptr<worker::Stage>> stages_;
};

TEST_F(FetcherStagesTest, WhatAsksTheWorldIsNeverCachedAndFetchIs) {
  ASSERT_EQ(stages_.size(), 3u);
  EXPECT_EQ(stages_[0]->id(), worker::StageId::kDiscover);
  EXPECT_EQ(stages_[1]->id(), worker::StageId::kPin);
  EXPECT_EQ(stages_[2]->id(), worker::StageId::kFetch);
}

TEST_F(FetcherStagesTest, LocalTreeFromPinToShards) {
  Write("a.py", "import triton\n");
  Write("b.py", "import torch\n");
  Write("LICENSE", "MIT License\n");
  const absl::StatusOr<v1::Source> pinned = Pin(PathSource());
  ASSERT_THAT(pinned, IsOk());
  const absl::StatusOr<v1::StageResult> result = Fetch(*pinned);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 2);
  EXPECT_EQ(result->outputs(0).name(), "tree");
  EXPECT_EQ(result->outputs(0).items(), 2);
  EXPECT_EQ(result->outputs(1).name(), "files");
  EXPECT_EQ(result->outputs(1).items(), 1);
  const auto tree = cas::GetMessage<v1::SourceTree>(store_, result->outputs(0).digest());
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(tree->repository(), "local");
  EXPECT_EQ(tree->commit(), absl::StrCat("sha256:", pinned->sha256()));
  EXPECT_EQ(tree->commit_time(), 0);
  EXPECT_EQ(tree->license_files_size(), 1);
  const auto shard = cas::GetMessage<v1::FileShard>(store_, result->outputs(1).digest());
  ASSERT_THAT(shard, IsOk());
  EXPECT_EQ(shard->files(0).content(), "import triton\n");
  const std::map<std::string, int64_t> counters = {
      {"files.seen", 2}, {"files.sharded", 1}, {"files.skipped.no_kernel_marker", 1}};
  EXPECT_EQ(Counters(*result), counters);
}

TEST_F(FetcherStagesTest, FilesThatKernelsImportFromAreInTheShards) {
  Write("a.py", "import triton\nfrom b import N\n@triton.jit\ndef k(): return N\n");
  Write("b.py", "N = 1\n");
  Write("c.py", "N = 1\n");
  Write("requirements.txt", "triton>=3.0.0\n");
  const absl::StatusOr<v1::StageResult> result = Fetch(*Pin(PathSource()));
  ASSERT_THAT(result, IsOk());
  const auto tree = cas::GetMessage<v1::SourceTree>(store_, result->outputs(0).digest());
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(tree->requires_triton(), ">=3.0.0");
  const auto shard = cas::GetMessage<v1::FileShard>(store_, result->outputs(1).digest());
  ASSERT_THAT(shard, IsOk());
  ASSERT_EQ(shard->files_size(), 2);
  EXPECT_EQ(shard->files(1).path(), "b.py");
  const std::map<std::string, int64_t> counters = {{"files.seen", 3},
                                                   {"files.sharded", 2},
                                                   {"files.support", 1},
                                                   {"files.skipped.no_kernel_marker", 1}};
  EXPECT_EQ(Counters(*result), counters);
}

TEST_F(FetcherStagesTest, LocalTreeThatIsNotThePinnedOneIsAWrongHash) {
  Write("a.py", "triton");
  v1::Source pinned = *Pin(PathSource());
  Write("a.py", "triton, changed");
  const absl::StatusOr<v1::StageResult> result = Fetch(pinned);
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(result.status().message()), ::testing::HasSubstr("wrong hash"));
}

TEST_F(FetcherStagesTest, AnInductorFolderIsReadAsALocalTree) {
  std::filesystem::create_directories(local_.path() + "/torchinductor/model__0_inference_0.0");
  Write("torchinductor/model__0_inference_0.0/output_code.py", "async_compile.triton");
  Write("torchinductor/model__0_inference_0.0/fx_graph_runnable.py", "import triton\n");
  Write("torchinductor/model__0_inference_0.0/ir_post_fusion.txt", "triton");
  std::filesystem::create_symlink(local_.path() + "/torchinductor", local_.path() + "/latest");
  v1::Source source;
  source.set_inductor(local_.path());
  source.set_name("debug");
  source.add_include("**/*.py");
  source.add_exclude("**/fx_graph_*.py");
  const absl::StatusOr<v1::Source> pinned = Pin(source);
  ASSERT_THAT(pinned, IsOk());
  EXPECT_EQ(pinned->inductor(), local_.path());
  EXPECT_EQ(pinned->sha256().size(), 64u);
  const absl::StatusOr<v1::StageResult> result = Fetch(*pinned);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->outputs_size(), 2);
  const auto tree = cas::GetMessage<v1::SourceTree>(store_, result->outputs(0).digest());
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(tree->repository(), "debug");
  EXPECT_EQ(tree->commit(), absl::StrCat("sha256:", pinned->sha256()));
  ASSERT_EQ(tree->files_size(), 1);
  EXPECT_EQ(tree->files(0).path(), "torchinductor/model__0_inference_0.0/output_code.py");
  EXPECT_EQ(tree->unselected_files(), 3) << "the link is not followed";
}

TEST_F(FetcherStagesTest, AnInductorFolderThatChangedIsAWrongHash) {
  Write("a.py", "triton");
  v1::Source source;
  source.set_inductor(local_.path());
  const v1::Source pinned = *Pin(source);
  Write("a.py", "triton, changed");
  EXPECT_THAT(Fetch(pinned), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(FetcherStagesTest, GitFromPinToShardsIsReproducible) {
  TestRepository repository;
  const std::string commit =
      repository.Commit(repository.Tree({{"100644", "k.py", repository.Blob("import triton\n")},
                                         {"120000", "l.py", repository.Blob("k.py")}}));
  repository.SetRef("refs/heads/main", commit);
  v1::Source source;
  source.set_git(repository.path());
  source.set_ref("main");
  const absl::StatusOr<v1::Source> pinned = Pin(source);
  ASSERT_THAT(pinned, IsOk());
  EXPECT_EQ(pinned->ref(), commit);
  const absl::StatusOr<v1::StageResult> first = Fetch(*pinned);
  const absl::StatusOr<v1::StageResult> second = Fetch(*pinned);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  ASSERT_EQ(first->outputs_size(), 2);
  EXPECT_EQ(first->outputs(0).digest().hash(), second->outputs(0).digest().hash());
  EXPECT_EQ(first->outputs(1).digest().hash(), second->outputs(1).digest().hash());
  const auto tree = cas::GetMessage<v1::SourceTree>(store_, first->outputs(0).digest());
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(tree->repository(), repository.path());
  EXPECT_EQ(tree->commit(), commit);
  EXPECT_EQ(tree->commit_time(), 1'600'000'000);
  EXPECT_EQ(Counters(*first)["files.skipped.symlink"], 1);
  EXPECT_GT(Counters(*first)["bytes.received"], 0);
}

TEST_F(FetcherStagesTest, NextFetchOfARepositoryMovesOnlyWhatChanged) {
  TestRepository repository;
  std::vector<TestRepository::Item> files;
  for (int i = 10; i < 50; ++i) {
    std::string content = absl::StrCat("import triton\n# ", Sha256Hex(absl::StrCat(i)), "\n");
    files.push_back({"100644", absl::StrCat("k", i, ".py"), repository.Blob(content)});
  }
  v1::Source source;
  source.set_git(repository.path());
  source.set_ref(repository.Commit(repository.Tree(files)));
  const absl::StatusOr<v1::StageResult> first = Fetch(source);
  ASSERT_THAT(first, IsOk());
  files[7].id = repository.Blob("import triton\n# changed\n");
  files.erase(files.begin() + 3);
  source.set_ref(repository.Commit(repository.Tree(files)));
  const absl::StatusOr<v1::StageResult> next = Fetch(source);
  ASSERT_THAT(next, IsOk());
  EXPECT_LT(Counters(*next)["bytes.received"], Counters(*first)["bytes.received"] / 2);
  EXPECT_EQ(Counters(*next)["files.seen"], 39);
  cas::MemoryBlobStore empty;
  const absl::StatusOr<v1::StageResult> cold = Fetch(source, empty);
  ASSERT_THAT(cold, IsOk());
  ASSERT_EQ(next->outputs_size(), cold->outputs_size());
  for (int i = 0; i < cold->outputs_size(); ++i) {
    EXPECT_EQ(next->outputs(i).digest().hash(), cold->outputs(i).digest().hash());
  }
}

TEST_F(FetcherStagesTest, TemporaryFolderThatWasCleanedUpIsMadeAgain) {
  TestRepository repository;
  v1::Source source;
  source.set_git(repository.path());
  source.set_ref(repository.Commit(repository.Tree({})));
  ASSERT_THAT(Fetch(source), IsOk());
  std::filesystem::remove_all(temp_.path());
  EXPECT_THAT(Fetch(source), IsOk());
}

TEST_F(FetcherStagesTest, LocalSourcesNeedPermission) {
  Write("a.py", "triton");
  v1::Source inductor;
  inductor.set_inductor(local_.path());
  const std::vector<v1::Source> sources = {PathSource(), inductor};
  const std::vector<v1::Source> pinned = {*Pin(sources[0]), *Pin(sources[1])};
  options_.local = LocalFolders();
  Restart();
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_THAT(Pin(sources[i]), StatusIs(absl::StatusCode::kPermissionDenied));
    EXPECT_THAT(Fetch(pinned[i]), StatusIs(absl::StatusCode::kPermissionDenied));
  }
  v1::Source git;
  git.set_git(local_.path());
  git.set_ref(std::string(40, 'a'));
  EXPECT_THAT(Fetch(git), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(FetcherStagesTest, MalformedActionsAreRefused) {
  v1::Action empty;
  for (const auto& stage : stages_) {
    EXPECT_THAT(stage->Run(empty, store_), StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(Pin(v1::Source()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Fetch(PathSource()), StatusIs(absl::StatusCode::kInvalidArgument)) << "not pinned";
  v1::Source globs = PathSource();
  globs.add_exclude("[");
  EXPECT_THAT(Pin(globs), StatusIs(absl::StatusCode::kInvalidArgument));
}

// All that comes out of pinning and fetching a package: errors, log lines, the pinned source (which
// is what a lock has), the result and its blobs.
TEST_F(FetcherStagesTest, APasswordInThePackageIndexIsInNothingThatComesOut) {
  TestHttpServer server;
  const std::string wheel = MakeTestWheel({{"pkg/k.py", "import triton"}});
  const std::string index =
      absl::StrReplaceAll(server.Url("/simple"), {{"http://", "http://user:s3cret@"}});
  v1::Source source;
  source.set_package("pkg==1.0");
  source.set_name("pkg");
  source.add_include("**/*.py");
  std::vector<std::string> shown;
  const std::string config = temp_.path() + "-pip.conf";
  ASSERT_THAT(WriteFile(config, absl::StrCat("[global]\nindex-url = ", index, "\n")), IsOk());
  ::setenv("PIP_CONFIG_FILE", config.c_str(), 1);
  ::unsetenv("PIP_INDEX_URL");
  ::testing::internal::CaptureStderr();
  for (const char* option : {index.c_str(), ""}) {  // the flag, then pip's configuration
    options_.package_index = option;
    stages_.clear();
    Restart();
    server.Set("/simple/pkg/", {500, "text/html", ""});
    shown.push_back(Pin(source).status().ToString());
    server.Set("/simple/pkg/",
               {200, "text/html", "<a href=\"/files/pkg-1.0-py3-none-any.whl\">pkg</a>"});
    shown.push_back(Pin(source).status().ToString());
    server.Set("/files/pkg-1.0-py3-none-any.whl", {200, "application/octet-stream", wheel});
    const absl::StatusOr<v1::Source> pinned = Pin(source);
    ASSERT_THAT(pinned, IsOk());
    shown.push_back(pinned->DebugString());
    const absl::StatusOr<v1::StageResult> result = Fetch(*pinned);
    ASSERT_THAT(result, IsOk());
    shown.push_back(result->DebugString());
    for (const v1::NamedDigest& output : result->outputs()) {
      shown.push_back(store_.Get({output.digest()})->front());
    }
    server.Set("/files/pkg-1.0-py3-none-any.whl", {403, "text/html", ""});
    shown.push_back(Fetch(*pinned).status().ToString());
  }
  shown.push_back(::testing::internal::GetCapturedStderr());
  std::filesystem::remove(config);
  ::unsetenv("PIP_CONFIG_FILE");
  ASSERT_EQ(shown.size(), 15u);
  EXPECT_THAT(shown[0], ::testing::HasSubstr("/simple/pkg/: HTTP 500"));
  for (const std::string& text : shown) EXPECT_THAT(text, Not(::testing::HasSubstr("s3cret")));
}

TEST_F(FetcherStagesTest, StoreErrorsAreNotSwallowed) {
  Write("a.py", "triton");
  v1::Source pinned = *Pin(PathSource());
  store_.FailNext(1, absl::ResourceExhaustedError("full"));
  EXPECT_THAT(Fetch(pinned), StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace kernelmill::fetcher
