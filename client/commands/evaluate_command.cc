#include "client/commands/evaluate_command.h"

#include <grpcpp/channel.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/commands/evaluate_services.h"
#include "client/commands/retry_hint.h"
#include "client/console/exit_code.h"
#include "client/evaluate/evaluation_report.h"
#include "client/evaluate/generations.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/job/job_spec.h"
#include "common/toolchains/toolchains.h"

namespace kernelmill::client {
namespace {

constexpr int kKs[] = {1, 5, 10, 25, 50, 100, 200};
constexpr uint64_t kSeed = 17;  // of the bootstrap: the same interval for the same generations
constexpr char kDefaultTarget[] = "cuda:90";

constexpr char kReportFile[] = "evaluation.json";
constexpr char kPageFile[] = "EVALUATION.md";
constexpr char kSheetFile[] = "sheet.html";
constexpr char kSamplesFile[] = "samples.jsonl";

// Makes the folder. What is there may be an earlier evaluation.
absl::Status PrepareOutput(const std::string& out_dir) {
  if (out_dir.empty()) return absl::OkStatus();
  const std::filesystem::path dir(out_dir);
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return ErrnoStatus(error.value(), out_dir);
  const bool empty = std::filesystem::is_empty(dir, error);
  if (error) return ErrnoStatus(error.value(), out_dir);
  if (empty || std::filesystem::exists(dir / kReportFile)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(out_dir, " holds something else than an evaluation"));
}

absl::StatusOr<Generations> Read(const std::string& path, const std::string& reference) {
  ASSIGN_OR_RETURN(Generations generations, ReadGenerations(path));
  if (!reference.empty()) RETURN_IF_ERROR(AddReferences(reference, &generations));
  return generations;
}

// The compilers of this process, unless there are others or none.
std::optional<EmbeddedCompilerOptions> EmbeddedCompilerOf(const EvaluateOptions& options) {
  if (options.no_compile || !options.compiler.empty()) return std::nullopt;
  return options.embedded;
}

v1::CompilePolicy PolicyOf(const EvaluateOptions& options) {
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

// Whether this process knows the compilers and targets that were asked for.
absl::Status CheckNames(const EvaluateOptions& options) {
  if (!EmbeddedCompilerOf(options).has_value()) return absl::OkStatus();
  const absl::Status checked = job::CheckCompile(PolicyOf(options));
  if (checked.ok()) return checked;
  // Without the name that a job file has for it.
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(checked.message(), absl::MaxSplits(": ", 1));
  return absl::Status(checked.code(), parts.second);
}

// One run of the command: what it has open, in the order in which it is needed.
class EvaluateRun {
 public:
  EvaluateRun(const ClusterAddress& address, const EvaluateOptions& options,
              rpc::TerminationSignal& signal, Console& console)
      : address_(address), options_(options), signal_(signal), console_(console) {}

  absl::StatusOr<EvaluationReport> Run() {
    RETURN_IF_ERROR(CheckNames(options_));
    ASSIGN_OR_RETURN(Generations generations, Read(options_.generations, options_.reference));
    std::optional<Generations> baseline;
    if (!options_.baseline.empty()) {
      ASSIGN_OR_RETURN(baseline, Read(options_.baseline, options_.reference));
    }
    RETURN_IF_ERROR(PrepareOutput(options_.out_dir));
    RETURN_IF_ERROR(Open());
    EvaluationReport report;
    report.dataset = options_.dataset.empty() ? options_.job : DatasetName();
    report.compile = evaluation_.compile;
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
  // The services, with the dataset and the compilers that were asked for.
  absl::Status Open() {
    TrainedOn trained_on{options_.dataset, std::nullopt, options_.threshold};
    if (!options_.job.empty()) {
      cluster_ = Connect(address_, kShortReconnectTimeout, signal_, console_);
      ASSIGN_OR_RETURN(const v1::JobStatus status, FinishedJob(cluster_->jobs(), options_.job));
      trained_on.dataset = status.dataset();
    }
    absl::StatusOr<std::unique_ptr<EmbeddedServices>> embedded = EmbeddedServices::Start(
        cluster_ == nullptr ? nullptr : &cluster_->store(), EmbeddedCompilerOf(options_));
    if (absl::IsFailedPrecondition(embedded.status())) {
      return absl::FailedPreconditionError(
          absl::StrCat(embedded.status().message(),
                       "; --compiler asks a kernelmill-compiler elsewhere, --no-compile leaves the "
                       "compilers out"));
    }
    RETURN_IF_ERROR(embedded.status());
    embedded_ = *std::move(embedded);
    std::shared_ptr<grpc::Channel> compiler;
    if (!options_.no_compile) {
      compiler = options_.compiler.empty() ? embedded_->channel() : rpc::Connect(options_.compiler);
      evaluation_.compile = PolicyOf(options_);
    }
    evaluation_.dataset = !options_.dataset.empty() || !options_.job.empty();
    services_ = std::make_unique<EvaluateServices>(*embedded_, compiler, std::move(trained_on));
    return absl::OkStatus();
  }

  absl::StatusOr<EvaluatedModel> Evaluated(Generations generations, const char* what) {
    evaluation_.progress = [&](size_t done, size_t all) {
      if (!console_.json())
        console_.Progress(absl::StrCat(what, ": ", done, " of ", all, " samples"));
    };
    evaluation_.interrupted = [&] { return signal_.WaitFor(absl::ZeroDuration()); };
    absl::StatusOr<EvaluatedModel> model =
        Evaluate(std::move(generations), evaluation_, *services_);
    console_.EndProgress();
    if (model.ok()) return model;
    return WithRetryHint(model.status(), options_.job);
  }

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
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> EvaluateModel(const ClusterAddress& address, const EvaluateOptions& options,
                                  rpc::TerminationSignal& signal, Console& console) {
  ASSIGN_OR_RETURN(const EvaluationReport report,
                   EvaluateRun(address, options, signal, console).Run());
  if (!options.out_dir.empty()) RETURN_IF_ERROR(WriteReport(report, options));
  console.Result(console.json() ? ReportJson(report) : ReportPage(report));
  if (!options.out_dir.empty()) {
    console.Note(absl::StrCat(options.out_dir, " has ", kReportFile, ", ", kPageFile, ", ",
                              kSheetFile, " (samples to read) and ", kSamplesFile));
  }
  return kDone;
}

}  // namespace kernelmill::client
