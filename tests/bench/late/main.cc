// made_worker: a worker that answers the stages before resolve with made results, for
// tests/bench/late.py. The coordinator, the store and the late stages are the real ones.

#include <grpcpp/impl/service_type.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/flags/server_flags.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "tests/bench/late/made_results.h"

namespace kernelmill::bench {
namespace {

// The input of all made stages.
struct Made {
  MadeResults results;
  int shards;  // each source has
};

class MadeStage : public worker::Stage {
 public:
  MadeStage(worker::StageId id, std::shared_ptr<const Made> made)
      : id_(id), made_(std::move(made)) {}
  worker::StageId id() const override { return id_; }

 protected:
  const MadeResults& results() const { return made_->results; }
  int shards() const { return made_->shards; }

  // Returns the number of the shard of an input.
  absl::StatusOr<int64_t> FindShard(const v1::Action& action, const char* input,
                                    cas::BlobStore& store) const {
    ASSIGN_OR_RETURN(const cas::Digest digest, worker::InputNamed(action, input));
    ASSIGN_OR_RETURN(const std::vector<std::string> blobs, store.Get({digest}));
    return results().FindShard(blobs[0]);
  }

  template <typename Message>
  static absl::Status Add(const char* name, const Message& message, int64_t items,
                          cas::BlobStore& store, v1::StageResult* result) {
    ASSIGN_OR_RETURN(const cas::Digest digest, cas::PutMessage(store, message));
    worker::AddOutput(*result, name, digest, items);
    return absl::OkStatus();
  }

 private:
  const worker::StageId id_;
  const std::shared_ptr<const Made> made_;
};

class MadePin final : public MadeStage {
 public:
  using MadeStage::MadeStage;
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore&) override {
    v1::StageResult result;
    v1::Source& pinned = *result.mutable_pinned();
    pinned = action.params().pin().source();
    pinned.set_ref(Sha256Hex(pinned.git()).substr(0, 40));
    return result;
  }
};

// A source's number is at the end of its URL.
class MadeFetch final : public MadeStage {
 public:
  using MadeStage::MadeStage;
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    const v1::Source& source = action.params().fetch().source();
    int64_t number = 0;
    if (!absl::SimpleAtoi(source.git().substr(source.git().rfind('s') + 1), &number)) {
      return absl::InvalidArgumentError(absl::StrCat(source.git(), ": is no made source"));
    }
    v1::StageResult result;
    const v1::SourceTree tree = results().MakeTree(source, number * shards(), shards());
    RETURN_IF_ERROR(Add("tree", tree, tree.files_size(), store, &result));
    for (int i = 0; i < shards(); ++i) {
      const v1::FileShard files = results().MakeFiles(number * shards() + i);
      RETURN_IF_ERROR(Add("files", files, files.files_size(), store, &result));
    }
    return result;
  }
};

// The made kernels are linked already.
class MadeExtract final : public MadeStage {
 public:
  using MadeStage::MadeStage;
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const int64_t shard, FindShard(action, "files", store));
    v1::StageResult result;
    RETURN_IF_ERROR(
        Add("kernels", results().MakeKernels(shard), results().kernels(), store, &result));
    return result;
  }
};

class MadeLink final : public MadeStage {
 public:
  using MadeStage::MadeStage;
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore&) override {
    v1::StageResult result;
    for (const cas::Digest& kernels : worker::InputsNamed(action, "kernels")) {
      worker::AddOutput(result, "kernels", kernels, results().kernels());
    }
    return result;
  }
};

class MadeValidate final : public MadeStage {
 public:
  using MadeStage::MadeStage;
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const int64_t shard, FindShard(action, "kernels", store));
    v1::StageResult result;
    RETURN_IF_ERROR(
        Add("verdicts", results().MakeVerdicts(shard), results().kernels(), store, &result));
    return result;
  }
};

// Shingles are empty, because no later stage reads them.
class MadeSign final : public MadeStage {
 public:
  using MadeStage::MadeStage;
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const int64_t shard, FindShard(action, "kernels", store));
    v1::StageResult result;
    RETURN_IF_ERROR(
        Add("signatures", results().MakeSignatures(shard), results().kernels(), store, &result));
    RETURN_IF_ERROR(Add("shingles", v1::ShingleShard(), results().kernels(), store, &result));
    return result;
  }
};

// The first partition has all pairs.
class MadePair final : public MadeStage {
 public:
  using MadeStage::MadeStage;
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    const v1::PairParams& params = action.params().pair();
    v1::PairSet pairs;
    if (params.partition() == 0) pairs = results().MakePairs(params.holdouts_size());
    v1::StageResult result;
    RETURN_IF_ERROR(Add("pairs", pairs, pairs.pairs_size(), store, &result));
    return result;
  }
};

std::vector<std::unique_ptr<worker::Stage>> NewMadeStages(const std::shared_ptr<const Made>& made) {
  using worker::StageId;
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(std::make_unique<MadePin>(StageId::kPin, made));
  stages.push_back(std::make_unique<MadeFetch>(StageId::kFetch, made));
  stages.push_back(std::make_unique<MadeExtract>(StageId::kExtract, made));
  stages.push_back(std::make_unique<MadeLink>(StageId::kLink, made));
  stages.push_back(std::make_unique<MadeValidate>(StageId::kValidate, made));
  stages.push_back(std::make_unique<MadeSign>(StageId::kSign, made));
  stages.push_back(std::make_unique<MadePair>(StageId::kPair, made));
  return stages;
}

}  // namespace
}  // namespace kernelmill::bench

int main(int argc, char** argv) {
  namespace flags = kernelmill::flags;
  namespace bench = kernelmill::bench;
  CLI::App app("Answers the stages before resolve with made results.", "made_worker");
  flags::ServerFlags server_flags;
  server_flags.version = kernelmill::Version();
  flags::WorkerFlags worker_flags;
  flags::AddServerFlags(app, &server_flags);
  flags::AddWorkerFlags(app, &worker_flags);
  std::string folder;
  int shards = 1;
  app.add_option("--template", folder, "folder of the files of a shard")->required();
  app.add_option("--shards", shards, "shards of a source");
  if (const auto exit_status = flags::ParseFlags(app, argc, argv)) return *exit_status;
  auto results = bench::MadeResults::Create(folder);
  if (!results.ok()) {
    std::cerr << results.status().message() << "\n";
    return 1;
  }
  const auto made = std::make_shared<const bench::Made>(bench::Made{*std::move(results), shards});
  return kernelmill::worker::RunWorkerProcess(server_flags, worker_flags,
                                              bench::NewMadeStages(made), {});
}
