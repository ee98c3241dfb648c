#include "services/extractor/server/extractor_stages.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/worker/stage_versions.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/adapters/tree_sitter/tree_sitter_parser.h"
#include "services/extractor/core/extract.h"
#include "services/extractor/core/link.h"

namespace kernelmill::extractor {
namespace {

// "files" -> "kernels".
class ExtractStage : public worker::Stage {
 public:
  absl::string_view name() const override { return "extract"; }
  int version() const override { return worker::kExtractVersion; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const cas::Digest input, worker::InputNamed(action, "files"));
    ASSIGN_OR_RETURN(const v1::FileShard files, cas::GetMessage<v1::FileShard>(store, input));
    ASSIGN_OR_RETURN(const v1::KernelShard kernels, ExtractKernels(files, parser_));
    ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, kernels));
    v1::StageResult result;
    worker::AddOutput(result, "kernels", output, kernels.kernels_size());
    Count(kernels, result);
    return result;
  }

 private:
  static void Count(const v1::KernelShard& kernels, v1::StageResult& result) {
    for (const v1::ExtractedFile& file : kernels.files()) {
      if (!file.failed().empty()) {
        worker::AddCounter(result, absl::StrCat("files.failed.", file.failed()), 1);
        continue;
      }
      worker::AddCounter(result, "files.extracted", 1);
      if (file.parse_errors()) worker::AddCounter(result, "files.parse_errors", 1);
    }
    worker::AddCounter(result, "kernels.found", kernels.kernels_size());
  }

  TreeSitterParser parser_;
};

// "tree", "kernels"* of one source -> "kernels"*, as many, in the same order.
class LinkStage : public worker::Stage {
 public:
  absl::string_view name() const override { return "link"; }
  int version() const override { return worker::kLinkVersion; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const cas::Digest tree_digest, worker::InputNamed(action, "tree"));
    ASSIGN_OR_RETURN(const v1::SourceTree tree,
                     cas::GetMessage<v1::SourceTree>(store, tree_digest));
    v1::StageResult result;
    for (const cas::Digest& input : worker::InputsNamed(action, "kernels")) {
      ASSIGN_OR_RETURN(v1::KernelShard shard, cas::GetMessage<v1::KernelShard>(store, input));
      LinkShard(tree.repository(), tree.commit(), shard);
      ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, shard));
      worker::AddOutput(result, "kernels", output, shard.kernels_size());
    }
    return result;
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
