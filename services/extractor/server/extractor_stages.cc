#include "services/extractor/server/extractor_stages.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/adapters/tree_sitter/tree_sitter_parser.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/core/link/imported_launches.h"
#include "services/extractor/core/link/jit_names.h"
#include "services/extractor/core/link/kernel_shards.h"
#include "services/extractor/core/link/link.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {
namespace {

// Bytes of definitions that a source's files may import from one another, held at a time; and of
// functions that launch kernels of other files.
constexpr size_t kMaxImportable = 256u << 20;
constexpr size_t kMaxLaunches = 64u << 20;

// "files" -> "kernels": of all files, or of the piece that the parameters name.
class ExtractStage : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kExtract; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const cas::Digest input, worker::InputNamed(action, "files"));
    ASSIGN_OR_RETURN(const v1::FileShard files, cas::GetMessage<v1::FileShard>(store, input));
    ASSIGN_OR_RETURN(const v1::KernelShard kernels, Extract(files, action.params()));
    ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, kernels));
    v1::StageResult result;
    worker::AddOutput(result, "kernels", output, kernels.kernels_size());
    Count(kernels, result);
    if (!action.params().extract().set_aside().empty()) ListFailures(kernels, result);
    return result;
  }

 private:
  absl::StatusOr<v1::KernelShard> Extract(const v1::FileShard& files,
                                          const v1::StageParams& params) const {
    if (!params.has_extract()) return ExtractKernels(files, parser_);
    const v1::ExtractParams& extract = params.extract();
    const Piece piece = {extract.first(), extract.count()};
    if (!extract.set_aside().empty()) return SetAside(files, piece, extract.set_aside());
    return ExtractPiece(files, piece, parser_);
  }

  static void ListFailures(const v1::KernelShard& kernels, v1::StageResult& result) {
    for (const v1::ExtractedFile& file : kernels.files()) {
      v1::FileFailure* failure = result.add_failures();
      failure->set_path(file.path());
      failure->set_reason(file.failed());
    }
  }

  static void Count(const v1::KernelShard& kernels, v1::StageResult& result) {
    for (const v1::ExtractedFile& file : kernels.files()) {
      if (!file.failed().empty()) {
        worker::AddCounter(result, absl::StrCat("files.failed.", file.failed()), 1);
        continue;
      }
      worker::AddCounter(result, "files.extracted", 1);
      if (file.parse_errors()) worker::AddCounter(result, "files.parse_errors", 1);
      for (const v1::SkippedString& string : file.skipped_strings()) {
        worker::AddCounter(result, absl::StrCat("strings.skipped.", string.reason()), 1);
      }
    }
    for (const v1::ExtractedFile& file : kernels.files()) {
      for (const v1::OtherDsl& dsl : file.other_dsls()) {
        worker::AddCounter(result, absl::StrCat("functions.other.", dsl.name()), dsl.functions());
      }
    }
    worker::AddCounter(result, "kernels.found", kernels.kernels_size());
  }

  TreeSitterParser parser_;
};

// "tree", "kernels"* of one source -> "kernels"*, one a shard, in the same order.
class LinkStage : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kLink; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const cas::Digest tree_digest, worker::InputNamed(action, "tree"));
    const std::vector<cas::Digest> inputs = worker::InputsNamed(action, "kernels");
    ASSIGN_OR_RETURN(const std::vector<int> pieces,
                     PiecesOfShards(action.params().link(), inputs.size()));
    ASSIGN_OR_RETURN(const v1::SourceTree tree,
                     cas::GetMessage<v1::SourceTree>(store, tree_digest));
    ASSIGN_OR_RETURN(WholeSource source, ReadWhole(store, inputs));
    SourceScope scope(std::move(source.definitions), AllPaths(tree));
    source.launches.Resolve(scope);
    v1::StageResult result;
    auto next = inputs.begin();
    for (const int count : pieces) {
      ASSIGN_OR_RETURN(v1::KernelShard shard, Join(store, next, next + count));
      next += count;
      worker::AddCounter(result, "kernels.found", DecideCandidates(source.names, shard));
      source.launches.FillIn(shard);
      SetRequirement(tree, shard);
      LinkShard(scope, shard);
      ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, shard));
      worker::AddOutput(result, "kernels", output, shard.kernels_size());
    }
    return result;
  }

 private:
  using Inputs = std::vector<cas::Digest>::const_iterator;

  // What of a source decides on its shards.
  struct WholeSource {
    JitNames names;
    // What only kernels of other files may use is left out beyond the limit.
    std::vector<v1::Definition> definitions;
    ImportedLaunches launches{kMaxLaunches};
  };

  static void SetRequirement(const v1::SourceTree& tree, v1::KernelShard& shard) {
    for (v1::Kernel& kernel : *shard.mutable_kernels()) {
      if (kernel.dsl() != v1::DSL_TRITON && kernel.dsl() != v1::DSL_GLUON) continue;
      kernel.set_requires_triton(tree.requires_triton());
      kernel.set_requires_triton_path(tree.requires_triton_path());
    }
  }

  static absl::StatusOr<WholeSource> ReadWhole(cas::BlobStore& store,
                                               const std::vector<cas::Digest>& inputs) {
    WholeSource source;
    size_t left = kMaxImportable;
    for (const cas::Digest& input : inputs) {
      ASSIGN_OR_RETURN(v1::KernelShard shard, cas::GetMessage<v1::KernelShard>(store, input));
      source.names.Add(shard);
      for (v1::Definition& definition : *shard.mutable_definitions()) {
        const size_t size = definition.text().size();
        if (!definition.used() && size > left) continue;
        if (!definition.used()) left -= size;
        source.definitions.push_back(std::move(definition));
      }
      for (v1::ImportedLaunch& launch : *shard.mutable_launches()) {
        source.launches.Add(std::move(launch));
      }
    }
    return source;
  }

  static std::vector<std::string> AllPaths(const v1::SourceTree& tree) {
    std::vector<std::string> paths;
    for (const v1::FileEntry& file : tree.files()) paths.push_back(file.path());
    return paths;
  }

  // How many inputs each shard is made of.
  static absl::StatusOr<std::vector<int>> PiecesOfShards(const v1::LinkParams& params,
                                                         size_t inputs) {
    if (params.pieces().empty()) return std::vector<int>(inputs, 1);
    int64_t sum = 0;
    for (const int pieces : params.pieces()) {
      if (pieces < 1) return absl::InvalidArgumentError("a shard of no pieces");
      sum += pieces;
    }
    if (sum != static_cast<int64_t>(inputs)) {
      return absl::InvalidArgumentError(
          absl::StrCat("shards of ", sum, " pieces together, but ", inputs, " inputs"));
    }
    return std::vector<int>(params.pieces().begin(), params.pieces().end());
  }

  static absl::StatusOr<v1::KernelShard> Join(cas::BlobStore& store, Inputs begin, Inputs end) {
    ASSIGN_OR_RETURN(v1::KernelShard shard, cas::GetMessage<v1::KernelShard>(store, *begin));
    for (auto piece = begin + 1; piece != end; ++piece) {
      ASSIGN_OR_RETURN(v1::KernelShard next, cas::GetMessage<v1::KernelShard>(store, *piece));
      JoinPieces(std::move(next), shard);
    }
    return shard;
  }
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewExtractorStages() {
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(std::make_unique<ExtractStage>());
  stages.push_back(std::make_unique<LinkStage>());
  return stages;
}

}  // namespace kernelmill::extractor
