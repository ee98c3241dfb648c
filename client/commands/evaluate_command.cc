// The command `evaluate`: connects client/evaluate with real services. The extractor, the validator
// and the compilers run in this process (or a compiler elsewhere is called). The search for
// memorised text either reads an export (FindInExport) or asks the deduplicator about a
// job's dataset in the cluster's store.

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/commands/python_command.h"
#include "client/console/exit_code.h"
#include "client/embedded/embedded_cluster.h"
#include "client/evaluate/evaluation_report.h"
#include "client/evaluate/generations.h"
#include "client/evaluate/kernel_services.h"
#include "client/evaluate/terminal_page.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/job/job_spec.h"
#include "common/rpc/status.h"
#include "common/toolchains/toolchains.h"
#include "common/words/counted.h"
#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/deduplicator/server/similar_search.h"
#include "services/extractor/server/extractor_service.h"

namespace kernelmill::client {
namespace {

using deduplicator::KernelComparison;
using Matches = std::vector<std::optional<DatasetMatch>>;

// The deduplicator's limits on one call, with kTop results for each kernel.
constexpr size_t kMaxQueries = 1024;
constexpr size_t kMaxQueryBytes = 8 << 20;
constexpr int kTop = 16;

// A threshold so low that one common shingle is enough.
constexpr double kAnyOverlap = 1e-9;

DatasetMatch ToMatch(const v1::SimilarKernel& kernel) {
  const v1::KernelPlace& place = kernel.place();
  return {kernel.kind(), kernel.similarity(), place.repository(),
          place.path(),  place.first_line(),  place.qualname()};
}

// Returns whether the kernel, or one with the same text, is in the dataset.
bool IsTrainedOn(const v1::SimilarKernel& kernel) {
  return kernel.fate() == v1::FATE_KEPT || kernel.fate() == v1::FATE_DUPLICATE;
}

// The search for similar kernels in an export, without a store. It reads kernels.jsonl twice: first
// all texts, to compare them in batches, and then the places of the rows that match. A row's
// number, counted over the rows of the split train, connects the two passes; both use the same
// walk, so that the numbers agree.

// Rows that are in memory at once.
constexpr int kBatchRows = 256;

// Calls visit(row) for each row of the split train.
absl::Status ForEachTrainRow(const std::string& dataset, std::vector<std::string> fields,
                             const std::function<void(const v1::KernelRow&)>& visit) {
  fields.emplace_back("split");
  return dataset::ForEachRow<v1::KernelRow>(
      dataset, {.fields = std::move(fields), .require_rows = true},
      [&visit](const v1::KernelRow& row, const dataset::RowPlace&) {
        // A dataset without splits is used for training as a whole.
        if (row.split().empty() || row.split() == "train") visit(row);
        return absl::OkStatus();
      });
}

// Passes all rows to the comparison, in batches. The comparison numbers them in this order.
absl::Status CompareAll(const std::string& dataset, KernelComparison& comparison) {
  v1::KernelShard batch;
  RETURN_IF_ERROR(
      ForEachTrainRow(dataset, {"source", "name", "dsl"}, [&](const v1::KernelRow& row) {
        v1::Kernel* const kernel = batch.add_kernels();
        kernel->set_source(row.source());
        kernel->set_name(row.name());
        kernel->set_dsl(row.dsl());
        if (batch.kernels_size() == kBatchRows) comparison.Add(std::exchange(batch, {}));
      }));
  comparison.Add(batch);
  return absl::OkStatus();
}

// Fills in the places of the rows of these numbers, counted from 0 among those of train.
absl::Status ReadPlaces(const std::string& dataset, std::map<int64_t, DatasetMatch>* places) {
  int64_t number = 0;
  return ForEachTrainRow(dataset, {"repository", "path", "qualname", "first_line"},
                         [&](const v1::KernelRow& row) {
                           const auto place = places->find(number++);
                           if (place == places->end()) return;
                           place->second.repository = row.repository();
                           place->second.path = row.path();
                           place->second.qualname = row.qualname();
                           place->second.first_line = row.first_line();
                         });
}

// Finds, for each kernel, the most similar row of the split train in the kernels.jsonl of an
// export, if one is at least as similar as `threshold`. Reads `source`, `name` and `dsl` of the
// kernels. Compares every row, by what deduplication compares; reads the file twice, and holds some
// hundred rows at a time. INVALID_ARGUMENT: the folder holds no export, or a line is not a row.
absl::StatusOr<Matches> FindInExport(const std::string& folder,
                                     const std::vector<v1::Kernel>& kernels, double threshold) {
  v1::SimilarRequest request;
  request.set_top(1);
  request.set_threshold(threshold);
  for (const v1::Kernel& kernel : kernels) *request.add_kernels() = kernel;
  ASSIGN_OR_RETURN(const auto comparison, KernelComparison::Open(request));
  RETURN_IF_ERROR(CompareAll(folder, *comparison));
  const std::vector<std::vector<KernelComparison::Match>> found = comparison->Matches();
  std::map<int64_t, DatasetMatch> places;
  for (const auto& matches : found) {
    // Only the best match of a kernel is asked for; see set_top above.
    if (!matches.empty()) places[matches[0].number];
  }
  RETURN_IF_ERROR(ReadPlaces(folder, &places));
  Matches best;
  for (const auto& matches : found) {
    best.emplace_back();
    if (matches.empty()) continue;
    best.back() = places.at(matches[0].number);
    best.back()->kind = matches[0].kind;
    best.back()->similarity = matches[0].similarity;
  }
  return best;
}

// The dataset in which memorised text is searched for.
struct TrainedOn {
  std::string folder;                  // an export; its rows of the split train are searched
  std::optional<cas::Digest> dataset;  // or a dataset of the store: its kept kernels and duplicates
  double threshold = 0.7;              // the lowest similarity, over 0 to 1
};

// The stages that `kernelmill evaluate` calls, in this process. Not thread-safe.
class EvaluateServices final : public KernelServices {
 public:
  // `services`, `options` and `signal` must outlive it. `compiler` is a channel to a v1::Compiler;
  // null: compile nothing.
  EvaluateServices(EmbeddedServices& services, const std::shared_ptr<grpc::Channel>& compiler,
                   TrainedOn trained_on, const EvaluateOptions& options,
                   rpc::TerminationSignal& signal);

  absl::StatusOr<v1::KernelShard> Extract(const v1::ExtractRequest& request) override;
  absl::StatusOr<v1::VerdictShard> Validate(const v1::ValidateRequest& request) override;
  absl::StatusOr<v1::CompiledShard> Compile(const v1::CompileRequest& request) override;
  absl::StatusOr<int> FirstErrorLine(const std::string& text) override;
  absl::StatusOr<ShingleOverlap> Compare(const std::string& text,
                                         const std::string& reference) override;
  absl::StatusOr<Matches> FindInDataset(const std::vector<v1::Kernel>& kernels) override;
  absl::StatusOr<RunResults> RunAnswers(const std::vector<RunRequest>& requests) override;

 private:
  absl::StatusOr<Matches> FindInStore(const std::vector<v1::Kernel>& kernels);

  const std::unique_ptr<v1::Extractor::Stub> extractor_;
  const std::unique_ptr<v1::Validator::Stub> validator_;
  const std::unique_ptr<v1::Deduplicator::Stub> deduplicator_;
  const std::unique_ptr<v1::Compiler::Stub> compiler_;
  const TrainedOn trained_on_;
  const EvaluateOptions& options_;
  rpc::TerminationSignal& signal_;
};

EvaluateServices::EvaluateServices(EmbeddedServices& services,
                                   const std::shared_ptr<grpc::Channel>& compiler,
                                   TrainedOn trained_on, const EvaluateOptions& options,
                                   rpc::TerminationSignal& signal)
    : extractor_(v1::Extractor::NewStub(services.channel())),
      validator_(v1::Validator::NewStub(services.channel())),
      deduplicator_(v1::Deduplicator::NewStub(services.channel())),
      compiler_(compiler == nullptr ? nullptr : v1::Compiler::NewStub(compiler)),
      trained_on_(std::move(trained_on)),
      options_(options),
      signal_(signal) {}

// One call each to a service. A call that fails ends the evaluation.
absl::StatusOr<v1::KernelShard> EvaluateServices::Extract(const v1::ExtractRequest& request) {
  v1::ExtractResponse response;
  grpc::ClientContext context;
  RETURN_IF_ERROR(rpc::FromGrpcStatus(extractor_->Extract(&context, request, &response)));
  return std::move(*response.mutable_kernels());
}

absl::StatusOr<v1::VerdictShard> EvaluateServices::Validate(const v1::ValidateRequest& request) {
  v1::ValidateResponse response;
  grpc::ClientContext context;
  RETURN_IF_ERROR(rpc::FromGrpcStatus(validator_->Validate(&context, request, &response)));
  return std::move(*response.mutable_verdicts());
}

absl::StatusOr<v1::CompiledShard> EvaluateServices::Compile(const v1::CompileRequest& request) {
  // Evaluate only calls this with a policy, and then a compiler was opened.
  if (compiler_ == nullptr) return absl::FailedPreconditionError("no compiler was started");
  v1::CompileResponse response;
  grpc::ClientContext context;
  RETURN_IF_ERROR(rpc::FromGrpcStatus(compiler_->Compile(&context, request, &response)));
  return std::move(*response.mutable_compiled());
}

// The parser of the extractor, called directly: the service has no such method.
absl::StatusOr<int> EvaluateServices::FirstErrorLine(const std::string& text) {
  return extractor::FirstErrorLine(text);
}

// Compares the two texts as deduplication compares kernels: the reference is a dataset of one
// kernel.
absl::StatusOr<ShingleOverlap> EvaluateServices::Compare(const std::string& text,
                                                         const std::string& reference) {
  v1::SimilarRequest request;
  request.add_kernels()->set_source(text);
  request.set_top(1);
  request.set_threshold(kAnyOverlap);
  ASSIGN_OR_RETURN(const auto comparison, KernelComparison::Open(request));
  v1::KernelShard others;
  others.add_kernels()->set_source(reference);
  comparison->Add(others);
  const std::vector<KernelComparison::Match> matches = comparison->Matches()[0];
  if (matches.empty()) return ShingleOverlap{};
  return ShingleOverlap{matches[0].near, matches[0].structural};
}

absl::StatusOr<Matches> EvaluateServices::FindInDataset(const std::vector<v1::Kernel>& kernels) {
  if (trained_on_.dataset.has_value()) return FindInStore(kernels);
  return FindInExport(trained_on_.folder, kernels, trained_on_.threshold);
}

absl::StatusOr<Matches> EvaluateServices::FindInStore(const std::vector<v1::Kernel>& kernels) {
  Matches matches;
  while (matches.size() < kernels.size()) {
    v1::SimilarRequest request;
    *request.mutable_dataset() = *trained_on_.dataset;
    request.set_top(kTop);
    request.set_threshold(trained_on_.threshold);
    size_t bytes = 0;
    for (size_t i = matches.size(); i < kernels.size(); ++i) {
      // One call takes at least one kernel, and as many as the limits allow.
      bytes += kernels[i].source().size() + kernels[i].name().size();
      if (i - matches.size() == kMaxQueries || (i > matches.size() && bytes > kMaxQueryBytes))
        break;
      *request.add_kernels() = kernels[i];
    }
    v1::SimilarResponse response;
    grpc::ClientContext context;
    RETURN_IF_ERROR(rpc::FromGrpcStatus(deduplicator_->Similar(&context, request, &response)));
    if (response.results_size() != request.kernels_size()) {
      return absl::InternalError("the number of the deduplicator's results is wrong");
    }
    for (const v1::SimilarKernels& result : response.results()) {
      std::optional<DatasetMatch>& match = matches.emplace_back();
      // The answer also has kernels that the dataset rejected, on which no model was trained: take
      // the first of the kTop that was.
      for (const v1::SimilarKernel& kernel : result.kernels()) {
        if (match.has_value() || !IsTrainedOn(kernel)) continue;
        match = ToMatch(kernel);
      }
    }
  }
  return matches;
}

constexpr char kKeptFile[] = "runs.jsonl";

// Returns the file in which --run keeps the answers that it has finished, until the report is
// written; empty without a folder for the report.
std::string KeptPath(const EvaluateOptions& options) {
  return options.out_dir.empty() ? "" : absl::StrCat(options.out_dir, "/", kKeptFile);
}

// The file with results that the Python module writes: the packages, then a line for each request,
// which is null without a task; or {"error"}. The module runs no answer in its own process.

Correctness ReadCorrectness(absl::string_view word) {
  return word == "correct" ? Correctness::kCorrect
         : word == "wrong" ? Correctness::kWrong
         : word == "error" ? Correctness::kError
                           : Correctness::kUnknown;
}

std::optional<RunOutcome> ReadOutcome(const nlohmann::json& row) {
  if (row.is_null()) return std::nullopt;
  RunOutcome outcome;
  outcome.correctness = ReadCorrectness(row.at("outcome").get<std::string>());
  row.at("by").get_to(outcome.by);
  row.at("cases").get_to(outcome.cases);
  row.at("message").get_to(outcome.message);
  row.at("absolute").get_to(outcome.absolute);
  row.at("relative").get_to(outcome.relative);
  row.at("share").get_to(outcome.share);
  row.at("out_of_bounds").get_to(outcome.out_of_bounds);
  const nlohmann::json& speed = row.at("speed");
  if (speed.is_null()) return outcome;
  outcome.speed = RunSpeed{
      speed.at("case").get<std::string>(),           speed.at("median_us").get<double>(),
      speed.at("spread_us").get<double>(),           speed.at("reference_us").get<double>(),
      speed.at("reference_spread_us").get<double>(), speed.at("speedup").get<double>()};
  return outcome;
}

absl::StatusOr<RunResults> ReadRunResults(const std::string& path) {
  constexpr int64_t kMaxResultBytes = int64_t{1} << 30;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxResultBytes));
  RunResults results;
  bool first = true;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    try {
      const nlohmann::json row = nlohmann::json::parse(line);
      if (first && row.contains("error")) {
        return absl::FailedPreconditionError(
            absl::StrCat("--run: ", row.at("error").get<std::string>()));
      }
      if (first) {
        row.at("toolchain").get_to(results.toolchain);
      } else {
        results.outcomes.push_back(ReadOutcome(row));
      }
    } catch (const nlohmann::json::exception& error) {
      return absl::InternalError(absl::StrCat("results of --run: ", error.what()));
    }
    first = false;
  }
  return results;
}

absl::StatusOr<RunResults> EvaluateServices::RunAnswers(const std::vector<RunRequest>& requests) {
  ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create());
  const std::string answers = folder.path() + "/answers.jsonl";
  const std::string out = folder.path() + "/results.jsonl";
  std::string lines;
  for (const RunRequest& request : requests) {
    const nlohmann::json row = {
        {"task_id", request.task_id}, {"prompt", request.prompt}, {"code", request.code}};
    absl::StrAppend(&lines, row.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace),
                    "\n");
  }
  RETURN_IF_ERROR(WriteFile(answers, lines));
  const nlohmann::json options = {{"tasks", options_.tasks},
                                  {"evidence", options_.evidence},
                                  {"device", options_.device},
                                  {"workers", options_.workers},
                                  {"case_seconds", options_.case_seconds},
                                  {"unsafe_no_sandbox", options_.embedded.unsafe_no_sandbox},
                                  {"kept", KeptPath(options_)},
                                  {"answers", answers},
                                  {"out", out}};
  ASSIGN_OR_RETURN(
      const int code,
      RunPython("evaluate --run", "kernelmill.execution.answers", "module.command(sys.argv[1])",
                options.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace),
                [this] { return signal_.WaitFor(absl::ZeroDuration()); }));
  absl::StatusOr<RunResults> results = ReadRunResults(out);
  if (absl::IsNotFound(results.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat("--run: the Python module ended with ", code, "; its message is above"));
  }
  return results;
}

constexpr int kKs[] = {1, 5, 10, 25, 50, 100, 200};  // the k of pass@k
// The bootstrap's seed, fixed so that the same generations give the same interval.
constexpr uint64_t kSeed = 17;
constexpr char kDefaultTarget[] = "cuda:90";

constexpr char kReportFile[] = "evaluation.json";
constexpr char kPageFile[] = "EVALUATION.md";
constexpr char kSheetFile[] = "sheet.html";
constexpr char kSamplesFile[] = "samples.jsonl";

// Makes the folder. It may hold an earlier evaluation, also an unfinished one, and nothing else.
absl::Status PrepareOutput(const std::string& out_dir) {
  if (out_dir.empty()) return absl::OkStatus();
  const std::filesystem::path dir(out_dir);
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return ErrnoStatus(error.value(), out_dir);
  const bool empty = std::filesystem::is_empty(dir, error);
  if (error) return ErrnoStatus(error.value(), out_dir);
  for (const char* own : {kReportFile, kKeptFile}) {
    if (empty || std::filesystem::exists(dir / own)) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(out_dir, ": contains files but no ", kReportFile, "; choose an empty folder"));
}

// Gives answers that name a task by its id alone, as Python files do, the task's text as their
// prompt: it says whether a launcher is asked for. A file that is missing is said where it is run.
absl::Status AddPrompts(const std::string& tasks, Generations* generations) {
  std::filesystem::path folder = std::filesystem::absolute(tasks);
  const std::string name(dataset::GetSchema<v1::TaskRow>().file);
  if (folder.filename() == name) folder = folder.parent_path();
  if (!std::filesystem::exists(folder / name)) return absl::OkStatus();
  std::map<std::string, Task*> unasked;
  for (Task& task : generations->tasks) {
    if (task.prompt.empty()) unasked[task.id] = &task;
  }
  if (unasked.empty()) return absl::OkStatus();
  return dataset::ForEachRow<v1::TaskRow>(
      folder.string(), {.fields = {"id", "text"}},
      [&unasked](const v1::TaskRow& row, const dataset::RowPlace&) {
        const auto task = unasked.find(row.id());
        if (task != unasked.end()) task->second->prompt = row.text();
        return absl::OkStatus();
      });
}

absl::StatusOr<Generations> Read(const std::string& path, const EvaluateOptions& options) {
  ASSIGN_OR_RETURN(Generations generations, ReadGenerations(path));
  if (!options.reference.empty()) RETURN_IF_ERROR(AddReferences(options.reference, &generations));
  if (!options.tasks.empty()) RETURN_IF_ERROR(AddPrompts(options.tasks, &generations));
  return generations;
}

// Returns the compilers to start in this process; nullopt if a server compiles, or nothing does.
std::optional<EmbeddedCompilerOptions> GetEmbeddedCompiler(const EvaluateOptions& options) {
  if (options.no_compile || !options.compiler.empty()) return std::nullopt;
  return options.embedded;
}

// Returns the compilers and targets of the options; without them all pinned toolchains and one
// target.
v1::CompilePolicy MakePolicy(const EvaluateOptions& options) {
  v1::CompilePolicy policy;
  for (const std::string& toolchain : options.embedded.toolchains) policy.add_toolchains(toolchain);
  for (const std::string& target : options.targets) policy.add_targets(target);
  if (policy.toolchains().empty()) {
    for (const toolchains::PinnedToolchain& toolchain : toolchains::PinnedToolchains()) {
      policy.add_toolchains(std::string(toolchain.name));
    }
  }
  if (policy.targets().empty()) policy.add_targets(kDefaultTarget);
  policy.set_max_seconds(job::kDefaultCompileSeconds);
  return policy;
}

// Checks the names of the compilers and targets that this process is to use.
absl::Status CheckNames(const EvaluateOptions& options) {
  if (!GetEmbeddedCompiler(options).has_value()) return absl::OkStatus();
  absl::Status checked = job::CheckCompile(MakePolicy(options));
  if (checked.ok()) return checked;
  // The message begins with a job file's key, which the command line does not have.
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(checked.message(), absl::MaxSplits(": ", 1));
  return absl::Status(checked.code(), parts.second);
}

// One run of the command. Its members are what the run has open, in the order of their making.
class EvaluateRun {
 public:
  EvaluateRun(const ClusterAddress& address, const EvaluateOptions& options,
              rpc::TerminationSignal& signal, Console& console)
      : address_(address), options_(options), signal_(signal), console_(console) {}

  absl::StatusOr<EvaluationReport> Run() {
    RETURN_IF_ERROR(CheckNames(options_));
    ASSIGN_OR_RETURN(Generations generations, Read(options_.generations, options_));
    std::optional<Generations> baseline;
    if (!options_.baseline.empty()) {
      ASSIGN_OR_RETURN(baseline, Read(options_.baseline, options_));
    }
    // All inputs are checked before the work, which may take hours.
    RETURN_IF_ERROR(PrepareOutput(options_.out_dir));
    RETURN_IF_ERROR(Open());
    EvaluationReport report;
    report.dataset = options_.dataset.empty() ? options_.job : DatasetName();
    report.compile = evaluation_.compile;
    report.run_device = evaluation_.run_device;
    if (baseline.has_value()) {
      ASSIGN_OR_RETURN(report.baseline, Evaluated(*std::move(baseline), "baseline"));
      report.baseline_summary = Summarize(*report.baseline, kKs);
    }
    ASSIGN_OR_RETURN(report.model, Evaluated(std::move(generations), "generations"));
    report.summary = Summarize(report.model, kKs);
    if (report.baseline.has_value()) {
      report.comparison = CompareModels(*report.baseline, report.baseline_summary, report.model,
                                        report.summary, kSeed);
    }
    return report;
  }

 private:
  // Starts the services, with the dataset and the compilers that the options name.
  absl::Status Open() {
    TrainedOn trained_on{options_.dataset, std::nullopt, options_.threshold};
    if (!options_.job.empty()) {
      cluster_ = Connect(address_, kShortReconnectTimeout, signal_, console_);
      ASSIGN_OR_RETURN(const v1::JobStatus status, GetFinishedJob(cluster_->jobs(), options_.job));
      trained_on.dataset = status.dataset();
    }
    absl::StatusOr<std::unique_ptr<EmbeddedServices>> embedded = EmbeddedServices::Start(
        cluster_ == nullptr ? nullptr : &cluster_->store(), GetEmbeddedCompiler(options_));
    // A toolchain or the sandbox is missing: name the ways to do without.
    if (absl::IsFailedPrecondition(embedded.status())) {
      return absl::FailedPreconditionError(
          absl::StrCat(embedded.status().message(),
                       "; --compiler names a kernelmill-compiler elsewhere, --no-compile skips "
                       "compiling"));
    }
    RETURN_IF_ERROR(embedded.status());
    embedded_ = *std::move(embedded);
    std::shared_ptr<grpc::Channel> compiler;
    if (!options_.no_compile) {
      compiler = options_.compiler.empty() ? embedded_->channel() : rpc::Connect(options_.compiler);
      evaluation_.compile = MakePolicy(options_);
    }
    evaluation_.dataset = !options_.dataset.empty() || !options_.job.empty();
    if (!options_.tasks.empty()) evaluation_.run_device = options_.device;
    services_ = std::make_unique<EvaluateServices>(*embedded_, compiler, std::move(trained_on),
                                                   options_, signal_);
    return absl::OkStatus();
  }

  // Evaluates one model, with its progress on the console. `what` names the model there.
  absl::StatusOr<EvaluatedModel> Evaluated(Generations generations, const char* what) {
    evaluation_.progress = [&](size_t done, size_t all) {
      console_.Progress({{"what", "samples"}, {"done", done}, {"all", all}},
                        absl::StrCat(what, ": ", done, " of ", Counted(all, "sample")));
    };
    evaluation_.interrupted = [&] { return signal_.WaitFor(absl::ZeroDuration()); };
    absl::StatusOr<EvaluatedModel> model =
        Evaluate(std::move(generations), evaluation_, *services_);
    console_.EndProgress();
    if (model.ok()) return model;
    return WithRetryHint(model.status(), options_.job, ClusterFlags(address_));
  }

  // Returns the folder's own name: reports should not depend on where it is. A path that ends with
  // a slash has an empty last part.
  std::string DatasetName() const {
    std::filesystem::path path = std::filesystem::path(options_.dataset).lexically_normal();
    return path.has_filename() ? path.filename() : path.parent_path().filename();
  }

  const ClusterAddress& address_;
  const EvaluateOptions& options_;
  rpc::TerminationSignal& signal_;
  Console& console_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<EmbeddedServices> embedded_;
  std::unique_ptr<EvaluateServices> services_;
  EvaluationOptions evaluation_;
};

absl::Status WriteReport(const EvaluationReport& report, const EvaluateOptions& options) {
  const std::pair<const char*, std::string> files[] = {
      {kSamplesFile, SamplesJson(report)},
      {kSheetFile, ReadingSheet(report, options.sheet_tasks)},
      {kPageFile, ReportPage(report)},
      {kReportFile, ReportJson(report)}};
  for (const auto& [name, text] : files) {
    RETURN_IF_ERROR(WriteFile(absl::StrCat(options.out_dir, "/", name), text));
  }
  std::error_code ignored;
  std::filesystem::remove(KeptPath(options), ignored);  // the report has it all
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> EvaluateModel(const ClusterAddress& address, const EvaluateOptions& options,
                                  rpc::TerminationSignal& signal, Console& console) {
  const absl::StatusOr<EvaluationReport> ran = EvaluateRun(address, options, signal, console).Run();
  const std::string kept = KeptPath(options);
  if (absl::IsCancelled(ran.status()) && std::filesystem::exists(kept)) {
    return absl::CancelledError(
        absl::StrCat(ran.status().message(), "; ", kept,
                     " has the answers that were run: the same command goes on with the others"));
  }
  RETURN_IF_ERROR(ran.status());
  const EvaluationReport& report = *ran;
  if (!options.out_dir.empty()) RETURN_IF_ERROR(WriteReport(report, options));
  console.Result(console.json() ? ReportJson(report)
                                : TerminalPage(ReportPage(report), console.result_width()));
  if (!options.out_dir.empty()) {
    console.Note(absl::StrCat(options.out_dir, " has ", kReportFile, ", ", kPageFile, ", ",
                              kSheetFile, " (samples to read) and ", kSamplesFile));
  }
  return kDone;
}

}  // namespace kernelmill::client
