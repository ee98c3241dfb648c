#include "services/extractor/server/extractor_stages.h"

#include <prometheus/counter.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/processors.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/dsl/languages.h"
#include "common/metrics/metrics.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/history.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/reference.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/core/history/history.h"
#include "services/extractor/core/link/kernel_shards.h"
#include "services/extractor/core/link/link.h"
#include "services/extractor/core/reference/references.h"

namespace kernelmill::extractor {

using python::StandardParser;

namespace {

// A job waits for the link of its largest source, which is therefore done on several threads. More
// would not help much, since the source's index is made on one.
constexpr int kMaxLinkThreads = 8;

// Creates the metrics of all languages with 0, so that a graph does not begin with the first
// kernel.
void PrefillKernels() {
  for (const dsl::Language& language : dsl::Languages()) {
    if (!language.by_default) continue;
    metrics::Prefill(metrics::kFoundKernels, {{"dsl", {std::string(language.name)}}});
  }
}

// The stage "files" -> "kernels", for all files or for the piece that the parameters name.
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
    if (!action.params().extract().quarantine_reason().empty()) ListFailures(kernels, result);
    return result;
  }

 private:
  absl::StatusOr<v1::KernelShard> Extract(const v1::FileShard& files,
                                          const v1::StageParams& params) const {
    const v1::ExtractParams& extract = params.extract();
    ExtractOptions options;
    options.keep_files = extract.keep_files();
    ASSIGN_OR_RETURN(options.languages, dsl::LanguageSet::Make(extract.languages()));
    const bool whole_shard =
        (extract.keep_files() || !extract.languages().empty()) && extract.count() == 0;
    if (!params.has_extract() || whole_shard) {
      return ExtractKernels(files, parser_, options);
    }
    const Piece piece = {extract.first(), extract.count()};
    if (!extract.quarantine_reason().empty()) {
      return ListAsFailed(files, piece, extract.quarantine_reason());
    }
    return ExtractPiece(files, piece, parser_, options);
  }

  // Reports the files of a quarantined piece, which the coordinator shows to the user.
  static void ListFailures(const v1::KernelShard& kernels, v1::StageResult& result) {
    for (const v1::ExtractedFile& file : kernels.files()) {
      v1::FileFailure* failure = result.add_failures();
      failure->set_path(file.path());
      failure->set_reason(file.failed());
    }
  }

  // Counts files, strings and kernels for the job's report and for the worker's metrics. Counters
  // are not part of the stage's output.
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
    std::map<std::string, int64_t> by_language;  // one metric lookup per kernel would be slow
    int64_t whole_files = 0;
    for (const v1::Kernel& kernel : kernels.kernels()) {
      if (kernel.form() == v1::KERNEL_FORM_FILE) {
        ++whole_files;
      } else {
        ++by_language[kernel.dsl()];
      }
    }
    worker::AddCounter(result, "kernels.found", kernels.kernels_size() - whole_files);
    if (whole_files > 0) worker::AddCounter(result, "training_files.found", whole_files);
    for (const auto& [language, found] : by_language) {
      metrics::Counter(metrics::kFoundKernels, {{"dsl", language}})
          .Increment(static_cast<double>(found));
    }
  }

  StandardParser parser_;
};

// The stage "tree", "kernels"* of a source and "used_tree", "used_kernels"* of each used source ->
// "kernels"*, one for each shard of the source, in the same order.
class LinkStage : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kLink; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const cas::Digest tree_digest, worker::InputNamed(action, "tree"));
    const std::vector<cas::Digest> inputs = worker::InputsNamed(action, "kernels");
    ASSIGN_OR_RETURN(const std::vector<Shard> shards, GroupShards(action.params().link(), inputs));
    ASSIGN_OR_RETURN(const v1::SourceTree tree,
                     cas::GetMessage<v1::SourceTree>(store, tree_digest));
    ASSIGN_OR_RETURN(const std::vector<UsedSourceShards> used, UsedSources(action, store));
    v1::StageResult result;
    const auto read = [&](size_t shard) { return Join(store, shards[shard]); };
    std::vector<std::pair<cas::Digest, int>> outputs(shards.size());  // with numbers of kernels
    const auto write = [&](size_t shard, const v1::KernelShard& linked) -> absl::Status {
      ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, linked));
      outputs[shard] = {output, linked.kernels_size()};
      return absl::OkStatus();
    };
    LinkOptions options;
    options.threads = std::min(kMaxLinkThreads, CountProcessors());
    ASSIGN_OR_RETURN(const int64_t decided,
                     LinkSource(tree, {shards.size(), read}, used, write, options));
    for (const auto& [output, kernels] : outputs) {
      worker::AddOutput(result, "kernels", output, kernels);
    }
    worker::AddCounter(result, "kernels.found", decided);
    return result;
  }

 private:
  // The inputs that make up one shard: its pieces in order.
  using Shard = absl::Span<const cas::Digest>;

  // Groups the inputs into shards: one input each, or as many as the parameters say. Returns
  // INVALID_ARGUMENT if the numbers do not fit the inputs.
  static absl::StatusOr<std::vector<Shard>> GroupShards(const v1::LinkParams& params,
                                                        absl::Span<const cas::Digest> inputs) {
    std::vector<Shard> shards;
    if (params.parts().empty()) {
      for (size_t i = 0; i < inputs.size(); ++i) shards.push_back(inputs.subspan(i, 1));
      return shards;
    }
    int64_t sum = 0;
    for (const int pieces : params.parts()) {
      if (pieces < 1) return absl::InvalidArgumentError("link.parts: each must be at least 1");
      if (sum + pieces <= static_cast<int64_t>(inputs.size())) {
        shards.push_back(inputs.subspan(static_cast<size_t>(sum), static_cast<size_t>(pieces)));
      }
      sum += pieces;
    }
    if (sum == static_cast<int64_t>(inputs.size())) return shards;
    return absl::InvalidArgumentError(
        absl::StrCat("link.parts: must add up to the ", inputs.size(), " inputs, not ", sum));
  }

  // Returns INVALID_ARGUMENT if the inputs are not those that the parameters name.
  static absl::StatusOr<std::vector<UsedSourceShards>> UsedSources(const v1::Action& action,
                                                                   cas::BlobStore& store) {
    const std::vector<cas::Digest> trees = worker::InputsNamed(action, "used_tree");
    const std::vector<cas::Digest> kernels = worker::InputsNamed(action, "used_kernels");
    const auto& uses = action.params().link().uses();
    int64_t sum = 0;
    for (const v1::UsedSource& use : uses) {
      if (use.kernels() < 0)
        return absl::InvalidArgumentError("link.uses.kernels: must not be negative");
      sum += use.kernels();
    }
    if (static_cast<size_t>(uses.size()) != trees.size() ||
        sum != static_cast<int64_t>(kernels.size())) {
      return absl::InvalidArgumentError(absl::StrCat("link.uses: must match the ", trees.size(),
                                                     " used trees and ", kernels.size(),
                                                     " shards, not ", uses.size(), " and ", sum));
    }
    std::vector<UsedSourceShards> used;
    size_t first = 0;
    for (int i = 0; i < uses.size(); ++i) {
      UsedSourceShards& source = used.emplace_back();
      source.name = uses[i].name();
      ASSIGN_OR_RETURN(source.tree, cas::GetMessage<v1::SourceTree>(store, trees[i]));
      source.shards.count = static_cast<size_t>(uses[i].kernels());
      source.shards.read = [&store, shards = std::vector<cas::Digest>(
                                        kernels.begin() + first,
                                        kernels.begin() + first + source.shards.count)](size_t at) {
        return cas::GetMessage<v1::KernelShard>(store, shards[at]);
      };
      first += source.shards.count;
    }
    return used;
  }

  // Reads the pieces of a shard as one.
  static absl::StatusOr<v1::KernelShard> Join(cas::BlobStore& store, Shard pieces) {
    ASSIGN_OR_RETURN(v1::KernelShard shard, cas::GetMessage<v1::KernelShard>(store, pieces[0]));
    for (const cas::Digest& piece : pieces.subspan(1)) {
      ASSIGN_OR_RETURN(v1::KernelShard next, cas::GetMessage<v1::KernelShard>(store, piece));
      JoinPieces(std::move(next), shard);
    }
    return shard;
  }
};

// The stage "tree", "files"*, "kernels"* of a linked source -> "references"*, one for each shard of
// kernels, in the same order.
class ReferenceStage : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kReference; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const cas::Digest tree_digest, worker::InputNamed(action, "tree"));
    const std::vector<cas::Digest> files = worker::InputsNamed(action, "files");
    const std::vector<cas::Digest> kernels = worker::InputsNamed(action, "kernels");
    ASSIGN_OR_RETURN(const v1::SourceTree tree,
                     cas::GetMessage<v1::SourceTree>(store, tree_digest));
    ReferenceInputs inputs;
    inputs.files = files.size();
    inputs.read_files = [&](size_t i) { return cas::GetMessage<v1::FileShard>(store, files[i]); };
    inputs.kernels = kernels.size();
    inputs.read_kernels = [&](size_t i) {
      return cas::GetMessage<v1::KernelShard>(store, kernels[i]);
    };
    v1::StageResult result;
    std::map<std::string, int64_t> counts;
    const auto write = [&](const v1::ReferenceShard& shard) -> absl::Status {
      ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, shard));
      worker::AddOutput(result, "references", output, shard.kernels_size());
      Count(shard, counts);
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(FindReferences(tree, inputs, parser_, write));
    for (const auto& [name, count] : counts) worker::AddCounter(result, name, count);
    return result;
  }

 private:
  // Counts kernels by what is known of their best test.
  static void Count(const v1::ReferenceShard& shard, std::map<std::string, int64_t>& counts) {
    for (const v1::KernelReferences& kernel : shard.kernels()) {
      const std::string& status =
          kernel.tests().empty() ? kernel.reason() : kernel.tests(0).status();
      if (!status.empty()) ++counts[absl::StrCat("references.kernels.", status)];
    }
  }

  StandardParser parser_;
};

// The stage "tree", "history", "versions"*, "kernels"* of a linked source -> "changes"*,
// "version_kernels"*.
class HistoryStage : public worker::Stage {
 public:
  worker::StageId id() const override { return worker::StageId::kHistory; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ASSIGN_OR_RETURN(const cas::Digest tree_digest, worker::InputNamed(action, "tree"));
    ASSIGN_OR_RETURN(const cas::Digest index_digest, worker::InputNamed(action, "history"));
    const std::vector<cas::Digest> versions = worker::InputsNamed(action, "versions");
    const std::vector<cas::Digest> kernels = worker::InputsNamed(action, "kernels");
    ASSIGN_OR_RETURN(const v1::SourceTree tree,
                     cas::GetMessage<v1::SourceTree>(store, tree_digest));
    HistoryInputs inputs;
    ASSIGN_OR_RETURN(inputs.index, cas::GetMessage<v1::HistoryIndex>(store, index_digest));
    inputs.versions = versions.size();
    inputs.read_versions = [&](size_t i) {
      return cas::GetMessage<v1::VersionShard>(store, versions[i]);
    };
    inputs.kernels = kernels.size();
    inputs.read_kernels = [&](size_t i) {
      return cas::GetMessage<v1::KernelShard>(store, kernels[i]);
    };
    v1::StageResult result;
    std::map<std::string, int64_t> counts;
    HistoryOutputs outputs;
    outputs.write_changes = [&](const v1::ChangeShard& shard) -> absl::Status {
      ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, shard));
      worker::AddOutput(result, "changes", output, shard.changes_size());
      for (const v1::KernelChange& change : shard.changes()) {
        ++counts[absl::StrCat("history.changes.", change.kind())];
      }
      if (!shard.has_sums()) return absl::OkStatus();
      counts["history.sources"] = 1;
      counts["history.commits_with_changes"] = shard.sums().commits_with_changes();
      counts["history.kernels"] = shard.sums().kernels();
      counts["history.lost_versions"] = shard.sums().lost_versions();
      return absl::OkStatus();
    };
    outputs.write_kernels = [&](const v1::KernelShard& shard) -> absl::Status {
      ASSIGN_OR_RETURN(const cas::Digest output, cas::PutMessage(store, shard));
      worker::AddOutput(result, "version_kernels", output, shard.kernels_size());
      counts["history.version_kernels"] += shard.kernels_size();
      return absl::OkStatus();
    };
    HistoryOptions options;
    options.compile = action.params().compile();
    RETURN_IF_ERROR(FindChanges(tree, inputs, parser_, outputs, options));
    for (const auto& [name, count] : counts) worker::AddCounter(result, name, count);
    return result;
  }

 private:
  StandardParser parser_;
};

}  // namespace

std::vector<std::unique_ptr<worker::Stage>> NewExtractorStages() {
  PrefillKernels();
  std::vector<std::unique_ptr<worker::Stage>> stages;
  stages.push_back(std::make_unique<ExtractStage>());
  stages.push_back(std::make_unique<LinkStage>());
  stages.push_back(std::make_unique<ReferenceStage>());
  stages.push_back(std::make_unique<HistoryStage>());
  return stages;
}

}  // namespace kernelmill::extractor
