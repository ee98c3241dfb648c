#include "client/evaluate/evaluation.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/types/span.h"
#include "client/evaluate/compile_check.h"
#include "client/evaluate/generation_text.h"
#include "client/evaluate/static_checks.h"
#include "client/evaluate/text_overlap.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

// Compilers take seconds for each: so that progress is told, and an interrupt heard.
constexpr size_t kCompiledSamples = 64;

// Kernels that are looked for in the dataset, each once, however often a model wrote it.
class Queries {
 public:
  size_t Add(const v1::Kernel& kernel) {
    const auto [at, is_new] =
        places_.try_emplace({kernel.source(), kernel.name(), kernel.dsl()}, kernels_.size());
    if (is_new) {
      v1::Kernel& added = kernels_.emplace_back();
      added.set_source(kernel.source());
      added.set_name(kernel.name());
      added.set_dsl(kernel.dsl());
    }
    return at->second;
  }

  const std::vector<v1::Kernel>& kernels() const { return kernels_; }

 private:
  std::map<std::tuple<std::string, std::string, int>, size_t> places_;
  std::vector<v1::Kernel> kernels_;
};

// What is looked for on behalf of a sample, or of a reference.
using Wanted = std::vector<size_t>;

class Evaluator {
 public:
  Evaluator(Generations generations, const EvaluationOptions& options, KernelServices& services)
      : options_(options), services_(services) {
    model_.generations = std::move(generations);
    for (const Task& task : model_.generations.tasks) {
      model_.results.emplace_back(task.samples.size());
    }
    model_.references.resize(model_.generations.tasks.size());
  }

  absl::StatusOr<EvaluatedModel> Run() && {
    RETURN_IF_ERROR(CheckAll());
    RETURN_IF_ERROR(CompareWithReferences());
    if (options_.dataset) {
      RETURN_IF_ERROR(AskForReferences());
      RETURN_IF_ERROR(FindMemorised());
    }
    return std::move(model_);
  }

 private:
  struct Batch {
    std::vector<std::string> texts;
    std::vector<SampleResult*> results;
    size_t bytes = 0;

    bool Takes(const std::string& text) const {
      return texts.empty() ||
             (texts.size() < kBatchSamples && bytes + text.size() <= kBatchSampleBytes);
    }
    void Add(const std::string& text, SampleResult* result) {
      texts.push_back(text);
      results.push_back(result);
      bytes += text.size();
    }
  };

  // The static checks of all samples, and what compilers say.
  absl::Status CheckAll() {
    Batch batch;
    for (size_t t = 0; t < model_.results.size(); ++t) {
      const Task& task = model_.generations.tasks[t];
      for (size_t s = 0; s < task.samples.size(); ++s) {
        if (!batch.Takes(task.samples[s].text)) RETURN_IF_ERROR(RunBatch(&batch));
        batch.Add(task.samples[s].text, &model_.results[t][s]);
      }
    }
    return RunBatch(&batch);
  }

  absl::Status RunBatch(Batch* batch) {
    ASSIGN_OR_RETURN(const std::vector<v1::KernelShard> kernels,
                     CheckSamples(batch->texts, services_, batch->results));
    RETURN_IF_ERROR(Compile(kernels, batch->results));
    if (options_.dataset) {
      for (size_t i = 0; i < kernels.size(); ++i) Want(kernels[i], batch->texts[i], &wanted_);
    }
    *batch = Batch();
    return absl::OkStatus();
  }

  absl::Status Compile(absl::Span<const v1::KernelShard> kernels,
                       absl::Span<SampleResult* const> results) {
    if (!options_.compile.has_value()) return Done(kernels.size());
    for (size_t at = 0; at < kernels.size(); at += kCompiledSamples) {
      const auto some = kernels.subspan(at, kCompiledSamples);
      RETURN_IF_ERROR(CompileSamples(some, *options_.compile, services_,
                                     results.subspan(at, kCompiledSamples)));
      RETURN_IF_ERROR(Done(some.size()));
    }
    return absl::OkStatus();
  }

  absl::Status Done(size_t samples) {
    done_ += samples;
    options_.progress(done_, model_.generations.samples());
    return options_.interrupted() ? absl::CancelledError("interrupted") : absl::OkStatus();
  }

  // The kernels of a text; without any, the text.
  void Want(const v1::KernelShard& kernels, const std::string& text, std::vector<Wanted>* wanted) {
    Wanted& queries = wanted->emplace_back();
    for (const v1::Kernel& kernel : kernels.kernels()) queries.push_back(queries_.Add(kernel));
    if (!queries.empty() || absl::StripAsciiWhitespace(text).empty()) return;
    v1::Kernel whole;
    whole.set_source(text);
    queries.push_back(queries_.Add(whole));
  }

  absl::Status CompareWithReferences() {
    for (size_t t = 0; t < model_.results.size(); ++t) {
      const Task& task = model_.generations.tasks[t];
      if (!task.reference.has_value()) continue;
      for (size_t s = 0; s < task.samples.size(); ++s) {
        RETURN_IF_ERROR(Compare(task, task.samples[s], &model_.results[t][s]));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Compare(const Task& task, const Sample& sample, SampleResult* result) {
    // Of one that is whole and one that continues the prompt both are taken whole.
    const bool mixed = HasDefinition(sample.code) != HasDefinition(*task.reference);
    const std::string& text = mixed ? sample.text : sample.code;
    const std::string reference = mixed ? WholeText(task.prompt, *task.reference) : *task.reference;
    ASSIGN_OR_RETURN(const ShingleOverlap shingles, services_.Compare(text, reference));
    const bool exact = absl::StripAsciiWhitespace(text) == absl::StripAsciiWhitespace(reference);
    result->values[{kOverlap, "exact_match"}] = exact ? 1 : 0;
    result->values[{kOverlap, "word_overlap"}] = WordOverlap(text, reference);
    result->values[{kOverlap, "token_overlap"}] = shingles.near;
    result->values[{kOverlap, "structural_overlap"}] = shingles.structural;
    result->values[{kOverlap, "edit_similarity"}] = EditSimilarity(text, reference);
    return absl::OkStatus();
  }

  absl::Status AskForReferences() {
    Batch batch;
    std::vector<SampleResult> unused(model_.results.size());
    const auto run = [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::vector<v1::KernelShard> kernels,
                       CheckSamples(batch.texts, services_, batch.results));
      for (size_t i = 0; i < kernels.size(); ++i) Want(kernels[i], batch.texts[i], &references_);
      batch = Batch();
      return absl::OkStatus();
    };
    for (size_t t = 0; t < model_.results.size(); ++t) {
      const Task& task = model_.generations.tasks[t];
      const std::string text =
          task.reference.has_value() ? WholeText(task.prompt, *task.reference) : "";
      if (!batch.Takes(text)) RETURN_IF_ERROR(run());
      batch.Add(text, &unused[t]);
    }
    return run();
  }

  absl::Status FindMemorised() {
    ASSIGN_OR_RETURN(const std::vector<std::optional<DatasetMatch>> found,
                     services_.FindInDataset(queries_.kernels()));
    if (found.size() != queries_.kernels().size()) {
      return absl::InternalError("the search answered for other kernels");
    }
    size_t next = 0;
    for (size_t t = 0; t < model_.results.size(); ++t) {
      model_.references[t] = Best(found, references_[t]);
      for (SampleResult& result : model_.results[t]) {
        result.match = Best(found, wanted_[next++]);
        SetMemorised(&result);
      }
    }
    return absl::OkStatus();
  }

  static std::optional<DatasetMatch> Best(const std::vector<std::optional<DatasetMatch>>& found,
                                          const Wanted& wanted) {
    const auto rank = [](const DatasetMatch& match) {
      return match.kind == "exact" ? 2 : match.kind == "near" ? 1 : 0;
    };
    const std::optional<DatasetMatch>* best = nullptr;
    for (const size_t query : wanted) {
      if (!found[query].has_value()) continue;
      const bool better =
          best == nullptr || rank(*found[query]) > rank(**best) ||
          (rank(*found[query]) == rank(**best) && found[query]->similarity > (*best)->similarity);
      if (better) best = &found[query];
    }
    return best == nullptr ? std::nullopt : *best;
  }

  static void SetMemorised(SampleResult* result) {
    const std::string kind = result->match.has_value() ? result->match->kind : "";
    for (const char* name : {"exact", "near", "structural"}) {
      result->values[{kMemorised, name}] = kind == name ? 1 : 0;
    }
    result->values[{kMemorised, "any"}] = result->match.has_value() ? 1 : 0;
    result->values[{kMemorised, "similarity"}] =
        result->match.has_value() ? result->match->similarity : 0;
  }

  const EvaluationOptions& options_;
  KernelServices& services_;
  EvaluatedModel model_;
  size_t done_ = 0;
  Queries queries_;
  std::vector<Wanted> wanted_;      // by sample, over all tasks
  std::vector<Wanted> references_;  // by task
};

}  // namespace

absl::StatusOr<EvaluatedModel> Evaluate(Generations generations, const EvaluationOptions& options,
                                        KernelServices& services) {
  return Evaluator(std::move(generations), options, services).Run();
}

}  // namespace kernelmill::client
