// The evaluation of a model's generations: each sample gets its measures (evaluation.h lists them),
// in this order:
//
//   1. The extractor finds the kernels in a batch of samples, and the validator checks them.
//   2. The checks of honesty read each sample with its kernels.
//   3. The compilers compile the kernels of the batch.
//   4. The samples are run on the cases of their tasks.
//   5. Each sample of a task with a reference is compared with the reference.
//   6. All kernels are searched for in the dataset that the model was trained on.
//
// The services have limits on one call, so samples go in batches. The search comes last, with each
// query once, because it reads the whole dataset.

#include "client/evaluate/evaluation.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "client/evaluate/answer_code.h"
#include "client/evaluate/honesty/honesty.h"
#include "client/evaluate/text_overlap.h"
#include "common/base/status.h"
#include "common/dsl/languages.h"
#include "common/job/job_spec.h"

namespace kernelmill::client {
namespace {

// The compiler's limits on one call. The bytes leave room for the rest of the request.
constexpr int kMaxCallKernels = 256;
constexpr size_t kMaxCallBytes = 7 << 20;

// A kernel that is compiled, and its result.
struct Compiled {
  size_t sample = 0;
  v1::Kernel kernel;
  v1::CompiledKernel result;
};

// Returns whether the kernel is compiled: a device function has no launch of its own.
bool IsCompiled(const v1::Kernel& kernel) {
  return dsl::CompilesAsTriton(kernel.dsl()) && kernel.role() != v1::KERNEL_ROLE_DEVICE;
}

// Returns whether every unresolved name is one that no file defines; true also without unresolved
// names. Such a kernel is compiled anyway: a generation has no repository that could define the
// name.
bool LacksDefinitionsAlone(const v1::Kernel& kernel) {
  return absl::c_all_of(kernel.unresolved_names(), [](const v1::UnresolvedName& name) {
    return name.reason() == "undefined";
  });
}

bool Parses(const SampleResult& result) {
  const auto parses = result.values.find({kStatic, "parses"});
  return parses != result.values.end() && parses->second == 1;
}

// Returns the kernels to compile, with the sample of each. Samples that do not parse have an
// outcome already.
std::vector<Compiled> KernelsToCompile(absl::Span<const v1::KernelShard> samples,
                                       absl::Span<SampleResult* const> results) {
  std::vector<Compiled> kernels;
  for (size_t sample = 0; sample < samples.size(); ++sample) {
    if (!Parses(*results[sample])) continue;
    for (const v1::Kernel& kernel : samples[sample].kernels()) {
      if (!IsCompiled(kernel)) continue;
      Compiled& added = kernels.emplace_back();
      added.sample = sample;
      added.kernel = kernel;
      if (LacksDefinitionsAlone(kernel)) added.kernel.set_self_contained(true);
    }
  }
  return kernels;
}

// Compiles kernels in one call. The compiler answers in the order of the request.
absl::Status CompileSome(absl::Span<Compiled> kernels, const v1::CompilePolicy& policy,
                         KernelServices& services) {
  v1::CompileRequest request;
  *request.mutable_compile() = policy;
  for (const Compiled& compiled : kernels) {
    *request.mutable_kernels()->add_kernels() = compiled.kernel;
  }
  ASSIGN_OR_RETURN(v1::CompiledShard shard, services.Compile(request));
  if (static_cast<size_t>(shard.kernels_size()) != kernels.size()) {
    return absl::InternalError("the number of the compiler's results is wrong");
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].result = std::move(*shard.mutable_kernels(static_cast<int>(i)));
  }
  return absl::OkStatus();
}

// Compiles kernels in calls within the compiler's limits. A call takes at least one kernel,
// whatever its size.
absl::Status CompileAll(absl::Span<Compiled> kernels, const v1::CompilePolicy& policy,
                        KernelServices& services) {
  for (size_t begin = 0; begin < kernels.size();) {
    size_t end = begin;
    size_t bytes = 0;
    while (end < kernels.size() && end - begin < kMaxCallKernels) {
      bytes += kernels[end].kernel.ByteSizeLong();
      if (end > begin && bytes > kMaxCallBytes) break;
      ++end;
    }
    RETURN_IF_ERROR(CompileSome(kernels.subspan(begin, end - begin), policy, services));
    begin = end;
  }
  return absl::OkStatus();
}

// Returns whether the module imports a package that the toolchain's environment lacks.
bool LacksPackage(const v1::CompileResult& result) {
  return result.stage() == "import" && absl::StrContains(result.message(), "ModuleNotFoundError") &&
         !absl::StrContains(result.message(), "'triton");
}

// Returns the fact that is unknown, and the result of guessing it.
std::string WhyUnknown(const v1::CompileResult& result) {
  std::string came = result.message().empty()
                         ? result.missing()
                         : absl::StrCat(result.stage(), ": ", result.message());
  if (!absl::StartsWith(result.missing(), "type:") &&
      !absl::StartsWith(result.missing(), "constexpr:")) {
    return came;
  }
  const std::string missing = absl::StrCat(result.missing(), " is unknown");
  return result.message().empty() ? missing : absl::StrCat(missing, "; with a guess: ", came);
}

// Returns the outcome of one kernel with one toolchain for one target. A missing package of the
// environment says nothing about the kernel, so its error becomes unknown.
CompileOutcome MakeOutcome(const Compiled& compiled, const std::string& toolchain,
                           const std::string& target) {
  CompileOutcome outcome{toolchain, target, v1::COMPILE_STATUS_UNKNOWN, "nothing was tried"};
  const std::string kernel = absl::StrCat(compiled.kernel.name(), ": ");
  if (!compiled.result.not_attempted().empty()) {
    outcome.message = kernel + compiled.result.not_attempted();
    return outcome;
  }
  for (const v1::CompileResult& result : compiled.result.results()) {
    if (result.toolchain() != toolchain || result.target() != target) continue;
    outcome.status = LacksPackage(result) ? v1::COMPILE_STATUS_UNKNOWN : result.status();
    outcome.message = result.status() == v1::COMPILE_STATUS_OK ? ""
                      : result.status() == v1::COMPILE_STATUS_UNKNOWN
                          ? absl::StrCat(kernel, WhyUnknown(result))
                          : absl::StrCat(kernel, result.stage(), ": ", result.message());
  }
  return outcome;
}

// The order from good to bad: ok, unknown, error. One kernel that fails decides about its sample,
// whatever else is unknown.
bool IsWorse(v1::CompileStatus status, v1::CompileStatus than) {
  const auto rank = [](v1::CompileStatus of) {
    return of == v1::COMPILE_STATUS_OK ? 0 : of == v1::COMPILE_STATUS_ERROR ? 2 : 1;
  };
  return rank(status) > rank(than);
}

// Returns the outcome of a sample: the first of the worst outcomes of its kernels.
CompileOutcome SampleOutcome(absl::Span<const Compiled* const> kernels, const SampleResult& result,
                             const std::string& toolchain, const std::string& target) {
  CompileOutcome worst{toolchain, target, v1::COMPILE_STATUS_ERROR, ""};
  const bool has_kernel = result.values.at({kStatic, "has_kernel"}) == 1;
  if (!Parses(result)) {
    worst.message = absl::c_linear_search(result.problems, kNoCode) ? kNoCode : "it does not parse";
  } else if (!has_kernel) {
    worst.message = "no kernel in it";
  } else if (kernels.empty()) {
    worst.status = v1::COMPILE_STATUS_UNKNOWN;
    worst.message = "no kernel that Triton launches";
  } else {
    worst = MakeOutcome(*kernels[0], toolchain, target);
    for (const Compiled* kernel : kernels.subspan(1)) {
      CompileOutcome outcome = MakeOutcome(*kernel, toolchain, target);
      if (IsWorse(outcome.status, worst.status)) worst = std::move(outcome);
    }
  }
  return worst;
}

// In the group `compile` unknown counts as failed; in `decided` such a sample has no value.
void SetMeasure(const std::string& name, v1::CompileStatus status, SampleResult* result) {
  const double ok = status == v1::COMPILE_STATUS_OK ? 1 : 0;
  const bool decided = status != v1::COMPILE_STATUS_UNKNOWN;
  result->values[{kCompile, name}] = ok;
  if (decided) result->values[{kDecided, name}] = ok;
  const auto honest = result->values.find({kHonesty, "honest"});
  if (honest == result->values.end()) return;
  result->values[{kCompileHonest, name}] = ok * honest->second;
  // A sample that is not honest has failed, whatever the compiler says.
  if (decided || honest->second == 0) {
    result->values[{kDecidedHonest, name}] = ok * honest->second;
  }
}

void SetOutcomes(absl::Span<const Compiled* const> kernels, const v1::CompilePolicy& policy,
                 SampleResult* result) {
  // "any" is as good as the best outcome.
  v1::CompileStatus best = v1::COMPILE_STATUS_ERROR;
  for (const std::string& toolchain : policy.toolchains()) {
    for (const std::string& target : policy.targets()) {
      CompileOutcome outcome = SampleOutcome(kernels, *result, toolchain, target);
      SetMeasure(absl::StrCat(toolchain, " ", target), outcome.status, result);
      if (IsWorse(best, outcome.status)) best = outcome.status;
      result->compiles.push_back(std::move(outcome));
    }
  }
  if (result->compiles.size() > 1) SetMeasure("any", best, result);
}

constexpr size_t kMaxProblems = 50;

// Returns a path that no import statement can name, so that samples are not linked with each other.
std::string MakePath(size_t sample) { return absl::StrFormat("%06d-generation.py", sample); }

// Returns the number of the sample with this path; see MakePath.
absl::StatusOr<size_t> SampleAt(absl::string_view path, size_t samples) {
  size_t sample = 0;
  if (absl::SimpleAtoi(path.substr(0, path.find('-')), &sample) && sample < samples) return sample;
  return absl::InternalError(absl::StrCat("the extractor returned an unknown path: ", path));
}

// The kernels of one sample with the verdict on each.
struct Found {
  v1::KernelShard kernels;
  std::vector<v1::Verdict> verdicts;
};

void AddProblem(std::string problem, SampleResult* result) {
  if (result->problems.size() < kMaxProblems) result->problems.push_back(std::move(problem));
}

// Sets the measure `parses`, and the problem if the text does not parse. The extractor only parses
// texts that may hold a kernel, so the others are parsed here: a text without kernels can be valid
// Python.
absl::Status SetParses(const v1::ExtractedFile& file, const std::string& text,
                       KernelServices& services, SampleResult* result) {
  const bool empty = absl::StripAsciiWhitespace(text).empty();
  int error_line = file.parse_errors() ? file.first_error_line() : 0;
  if (!empty && file.kernels() == 0 && !file.parse_errors() && file.failed().empty()) {
    ASSIGN_OR_RETURN(error_line, services.FirstErrorLine(text));
  }
  const bool parses = !empty && error_line == 0 && !file.parse_errors() && file.failed().empty();
  result->values[{kStatic, "parses"}] = parses ? 1 : 0;
  if (parses) return absl::OkStatus();
  AddProblem(empty                    ? kNoCode
             : !file.failed().empty() ? absl::StrCat("cannot be read: ", file.failed())
                                      : absl::StrCat("a syntax error near line ", error_line),
             result);
  return absl::OkStatus();
}

// Returns the validator's checks for generated code, in the order of v1::Checks. Checks of
// licences, docstrings and compilers are left out.
absl::Span<const absl::string_view> StaticChecks() {
  static constexpr std::array<absl::string_view, 7> kChecks = {
      "has_triton_jit", "has_bounds_masking", "has_program_id", "has_block_size",
      "has_load_store", "readable",           "self_contained"};
  return kChecks;
}

// Sets the measure of a check: 1 if every kernel passes that it applies to. Sets nothing if it
// applies to none.
void SetCheck(const Found& found, absl::string_view check, SampleResult* result) {
  // A sample without a kernel fails every check.
  bool asked = found.verdicts.empty();
  bool passes = !found.verdicts.empty();
  for (size_t i = 0; i < found.verdicts.size(); ++i) {
    for (const v1::RuleResult& rule : found.verdicts[i].rules()) {
      if (rule.rule() != check || rule.outcome() == v1::RuleResult::OUTCOME_EXEMPT) continue;
      asked = true;
      if (rule.outcome() == v1::RuleResult::OUTCOME_PASS) continue;
      passes = false;
      AddProblem(absl::StrCat(found.kernels.kernels(static_cast<int>(i)).name(), ": ", check,
                              rule.reason().empty() ? "" : ": ", rule.reason()),
                 result);
    }
  }
  if (asked) result->values[{kStatic, std::string(check)}] = passes ? 1 : 0;
}

// Sets the share of masked loads and stores; nothing if the kernels have no access.
void SetMaskedAccesses(const Found& found, SampleResult* result) {
  int accesses = 0;
  int masked = 0;
  for (const v1::Verdict& verdict : found.verdicts) {
    const v1::MaskCoverage& masks = verdict.quality().masks();
    accesses += masks.loads() + masks.stores();
    masked += masks.masked_loads() + masks.masked_stores();
  }
  if (accesses == 0) return;
  result->values[{kStatic, "masked_accesses"}] = static_cast<double>(masked) / accesses;
}

void AddUndefinedNames(const Found& found, SampleResult* result) {
  for (const v1::Kernel& kernel : found.kernels.kernels()) {
    for (const v1::UnresolvedName& name : kernel.unresolved_names()) {
      AddProblem(absl::StrCat(kernel.name(), " needs ", name.name(), ": ", name.reason()), result);
    }
  }
}

// Sets the static measures other than `parses`, and their problems.
void Judge(const Found& found, SampleResult* result) {
  result->values[{kStatic, "has_kernel"}] = found.verdicts.empty() ? 0 : 1;
  if (found.verdicts.empty()) AddProblem("no kernel in it", result);
  for (const absl::string_view check : StaticChecks()) SetCheck(found, check, result);
  SetMaskedAccesses(found, result);
  AddUndefinedNames(found, result);
}

// Sorts the kernels of a batch and their verdicts, which have the same order, by sample.
absl::Status PutWithSamples(v1::KernelShard kernels, const v1::VerdictShard& verdicts,
                            std::vector<Found>* found) {
  if (verdicts.verdicts_size() != kernels.kernels_size()) {
    return absl::InternalError("the number of the validator's results is wrong");
  }
  for (int i = 0; i < kernels.kernels_size(); ++i) {
    v1::Kernel& kernel = *kernels.mutable_kernels(i);
    ASSIGN_OR_RETURN(const size_t sample, SampleAt(kernel.path(), found->size()));
    *(*found)[sample].kernels.add_kernels() = std::move(kernel);
    (*found)[sample].verdicts.push_back(verdicts.verdicts(i));
  }
  return absl::OkStatus();
}

// Samples between two progress reports and checks for an interrupt: a compiler takes seconds.
constexpr size_t kCompiledSamples = 64;

// The kernels to search for in the dataset, each once even if the model wrote it several times.
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
  std::map<std::tuple<std::string, std::string, std::string>, size_t> places_;
  std::vector<v1::Kernel> kernels_;
};

// The queries of one sample or one reference.
using Wanted = std::vector<size_t>;

// One evaluation. The basic idea: batches of samples are extracted, validated and compiled; their
// kernels, and those of the references, become queries without repetition; and one search for all
// queries gives each sample its best match.
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
    if (!options_.run_device.empty()) RETURN_IF_ERROR(RunAll());
    RETURN_IF_ERROR(CompareWithReferences());
    if (options_.dataset) {
      RETURN_IF_ERROR(AskForReferences());
      RETURN_IF_ERROR(FindMemorised());
    }
    return std::move(model_);
  }

 private:
  // The texts of one call, with the results to fill. The first text always fits, because
  // generations.cc bounds each text below the limit of a call.
  struct Batch {
    std::vector<std::string> texts;
    std::vector<SampleResult*> results;
    std::vector<std::pair<const Task*, const Sample*>> samples;  // none for references
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

  // Runs the static checks and the compilers on all samples.
  absl::Status CheckAll() {
    Batch batch;
    for (size_t t = 0; t < model_.results.size(); ++t) {
      const Task& task = model_.generations.tasks[t];
      for (size_t s = 0; s < task.samples.size(); ++s) {
        if (!batch.Takes(task.samples[s].text)) RETURN_IF_ERROR(RunBatch(&batch));
        batch.Add(task.samples[s].text, &model_.results[t][s]);
        batch.samples.emplace_back(&task, &task.samples[s]);
      }
    }
    return RunBatch(&batch);
  }

  absl::Status RunBatch(Batch* batch) {
    ASSIGN_OR_RETURN(const std::vector<v1::KernelShard> kernels,
                     CheckSamples(batch->texts, services_, batch->results));
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto& [task, sample] = batch->samples[i];
      SetHonesty(*task, *sample, kernels[i], batch->results[i]);
    }
    RETURN_IF_ERROR(Compile(kernels, batch->results));
    if (options_.dataset) {
      // Only a dataset makes the queries necessary.
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
    // Both callbacks come at the same moments: after each batch of samples.
    options_.progress(done_, model_.generations.samples());
    return options_.interrupted() ? absl::CancelledError("interrupted") : absl::OkStatus();
  }

  // Adds a query for each kernel of a text; for the whole text if it has no kernel.
  void Want(const v1::KernelShard& kernels, const std::string& text, std::vector<Wanted>* wanted) {
    Wanted& queries = wanted->emplace_back();
    for (const v1::Kernel& kernel : kernels.kernels()) queries.push_back(queries_.Add(kernel));
    // A text without kernels can repeat the dataset too, so it is searched for as a whole.
    if (!queries.empty() || absl::StripAsciiWhitespace(text).empty()) return;
    v1::Kernel whole;
    whole.set_source(text);
    queries.push_back(queries_.Add(whole));
  }

  // Runs all samples in one call, since each task's own kernel is run as well.
  absl::Status RunAll() {
    std::vector<RunRequest> requests;
    std::vector<SampleResult*> results;
    for (size_t t = 0; t < model_.results.size(); ++t) {
      const Task& task = model_.generations.tasks[t];
      for (size_t s = 0; s < task.samples.size(); ++s) {
        requests.push_back({task.id, task.prompt, task.samples[s].text});
        results.push_back(&model_.results[t][s]);
      }
    }
    ASSIGN_OR_RETURN(RunResults run, services_.RunAnswers(requests));
    if (run.outcomes.size() != results.size()) {
      return absl::InternalError("the number of the runner's results is wrong");
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (!run.outcomes[i].has_value()) continue;
      SetCorrectness(options_.run_device, *std::move(run.outcomes[i]), results[i]);
    }
    model_.run_toolchain = std::move(run.toolchain);
    return absl::OkStatus();
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
    // If only one of the two continues the prompt, compare both with their prompts.
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
    // References are only extracted: their own checks are of no interest. A task without a
    // reference takes part with an empty text, so that `references_` has an entry for each task.
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
      return absl::InternalError("the number of the search's results is wrong");
    }
    // wanted_ has the samples in the order of CheckAll, which is this one.
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

  // Returns the strongest match of the queries: exact before near before structural, then the most
  // similar.
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

// For kernels whose modules are much longer than their texts: an answer has a limit, too.
absl::StatusOr<std::vector<v1::KernelShard>> CheckHalves(absl::Span<const std::string> texts,
                                                         KernelServices& services,
                                                         absl::Span<SampleResult* const> results) {
  const size_t half = texts.size() / 2;
  ASSIGN_OR_RETURN(std::vector<v1::KernelShard> shards,
                   CheckSamples(texts.first(half), services, results.first(half)));
  ASSIGN_OR_RETURN(std::vector<v1::KernelShard> rest,
                   CheckSamples(texts.subspan(half), services, results.subspan(half)));
  std::move(rest.begin(), rest.end(), std::back_inserter(shards));
  return shards;
}

}  // namespace

absl::StatusOr<EvaluatedModel> Evaluate(Generations generations, const EvaluationOptions& options,
                                        KernelServices& services) {
  return Evaluator(std::move(generations), options, services).Run();
}

absl::StatusOr<std::vector<v1::KernelShard>> CheckSamples(absl::Span<const std::string> texts,
                                                          KernelServices& services,
                                                          absl::Span<SampleResult* const> results) {
  v1::ExtractRequest files;
  for (size_t i = 0; i < texts.size(); ++i) {
    v1::SourceFile* file = files.add_files();
    file->set_path(MakePath(i));
    file->set_content(texts[i]);
  }
  absl::StatusOr<v1::KernelShard> extracted = services.Extract(files);
  if (absl::IsResourceExhausted(extracted.status()) && texts.size() > 1) {
    return CheckHalves(texts, services, results);
  }
  RETURN_IF_ERROR(extracted.status());
  v1::KernelShard kernels = *std::move(extracted);
  for (const v1::ExtractedFile& file : kernels.files()) {
    ASSIGN_OR_RETURN(const size_t sample, SampleAt(file.path(), texts.size()));
    RETURN_IF_ERROR(SetParses(file, texts[sample], services, results[sample]));
  }
  v1::ValidateRequest judged;
  *judged.mutable_kernels() = kernels;
  *judged.mutable_files() = std::move(*files.mutable_files());
  *judged.mutable_licenses() = job::WithDefaults({}).licenses();
  ASSIGN_OR_RETURN(const v1::VerdictShard verdicts, services.Validate(judged));
  // Both services answer for the whole batch; sort the answers by sample.
  std::vector<Found> found(texts.size());
  RETURN_IF_ERROR(PutWithSamples(std::move(kernels), verdicts, &found));
  std::vector<v1::KernelShard> shards;
  for (size_t i = 0; i < texts.size(); ++i) {
    Judge(found[i], results[i]);
    shards.push_back(std::move(found[i].kernels));
  }
  return shards;
}

void SetHonesty(const Task& task, const Sample& sample, const v1::KernelShard& kernels,
                SampleResult* result) {
  Answer answer{sample.text, task.prompt, sample.text != sample.code, std::nullopt, kernels};
  if (task.reference.has_value()) answer.reference = WholeText(task.prompt, *task.reference);
  Honesty honesty;
  if (Parses(*result)) honesty = CheckHonesty(answer);
  bool honest = Parses(*result) && kernels.kernels_size() > 0;
  for (const auto& [check, passed] : honesty.passed) {
    result->values[{kHonesty, check}] = passed ? 1 : 0;
    honest &= passed;
  }
  result->values[{kHonesty, "honest"}] = honest ? 1 : 0;
  result->findings = std::move(honesty.findings);
}

// Triton's interpreter also runs what no GPU can: such an answer is no kernel, whatever it
// computes.
void RefuseInterpreterOnly(const std::string& device, const SampleResult& result,
                           RunOutcome* outcome) {
  if (device != "cpu" || outcome->correctness != Correctness::kCorrect) return;
  const auto found = absl::c_find_if(
      result.findings, [](const Finding& finding) { return finding.check == kInterpreterOnly; });
  if (found == result.findings.end()) return;
  outcome->correctness = Correctness::kError;
  outcome->message =
      absl::StrCat("only the interpreter runs it: line ", found->line, " ", found->reason);
}

// As SetMeasure: unknown counts as failed, and has no value among the decided.
void SetCorrectness(const std::string& device, RunOutcome outcome, SampleResult* result) {
  RefuseInterpreterOnly(device, *result, &outcome);
  const std::string name = absl::StrCat("on ", device);
  const bool decided = outcome.correctness != Correctness::kUnknown;
  const double correct = outcome.correctness == Correctness::kCorrect ? 1 : 0;
  const double honest = result->values[{kHonesty, "honest"}];
  result->values[{kCorrect, name}] = correct;
  result->values[{kCorrectHonest, name}] = correct * honest;
  if (decided) result->values[{kCorrectDecided, name}] = correct;
  if (decided || honest == 0) result->values[{kCorrectDecidedHonest, name}] = correct * honest;
  const bool timed = outcome.speed.has_value();
  if (device != "cpu" && (timed || correct == 0)) {
    for (const double p : kFastP) {
      const std::string fast = absl::StrCat("fast_", p, " ", name);
      const double value = timed && correct == 1 && outcome.speed->speedup > p ? 1 : 0;
      result->values[{kFast, fast}] = value;
      result->values[{kFastHonest, fast}] = value * honest;
    }
  }
  result->run = std::move(outcome);
}

absl::Status CompileSamples(absl::Span<const v1::KernelShard> samples,
                            const v1::CompilePolicy& policy, KernelServices& services,
                            absl::Span<SampleResult* const> results) {
  std::vector<Compiled> kernels = KernelsToCompile(samples, results);
  RETURN_IF_ERROR(CompileAll(absl::MakeSpan(kernels), policy, services));
  std::vector<std::vector<const Compiled*>> by_sample(samples.size());
  for (const Compiled& kernel : kernels) by_sample[kernel.sample].push_back(&kernel);
  for (size_t i = 0; i < samples.size(); ++i) SetOutcomes(by_sample[i], policy, results[i]);
  return absl::OkStatus();
}

}  // namespace kernelmill::client
