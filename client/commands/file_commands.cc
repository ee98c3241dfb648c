// The commands extract, validate and toolchains. The first two start the services in this process
// and send them the files in batches, within the services' limits. An unreadable file is reported
// and changes the exit code, but the others are still done. The services link the files of one
// call, so a name that one file imports from another file is only found if both are in the same
// batch.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/commands/commands.h"
#include "client/commands/local_files.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "client/embedded/embedded_cluster.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/job_spec.h"
#include "common/rpc/status.h"
#include "common/toolchains/toolchains.h"
#include "common/words/counted.h"
#include "common/words/enum_words.h"
#include "dataset/export/fill_rows.h"
#include "dataset/export/place.h"
#include "dataset/output/json.h"
#include "dataset/rows/row_json.h"
#include "kernelmill/v1/rows.pb.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/compiler/server/local_compiler.h"

namespace kernelmill::client {
namespace {

namespace fs = std::filesystem;

using dataset::Json;

// The extractor's limits on one call.
constexpr size_t kBatchFiles = 256;
constexpr int64_t kBatchBytes = 8 << 20;
constexpr int64_t kMaxLicenseBytes = 1 << 20;
constexpr size_t kMostPlaces = 3;  // named as evidence on a line

// Extracts files in batches, and prints the kernels of each.
class FileCommand {
 public:
  // Runs the command on all files. The exit code says if a file or a kernel failed; errors are
  // those of the services.
  static absl::StatusOr<int> Run(const std::vector<std::string>& paths, bool validate,
                                 Console& console) {
    ASSIGN_OR_RETURN(const std::vector<LocalFile> files, FindPythonFiles(paths));
    ASSIGN_OR_RETURN(const std::unique_ptr<EmbeddedServices> services, EmbeddedServices::Start());
    FileCommand command(validate, *services, console);
    for (const LocalFile& file : files) RETURN_IF_ERROR(command.Add(file));
    RETURN_IF_ERROR(command.RunBatch());
    if (files.empty()) {
      console.Note("no Python files found; name files of other kinds to read them");
    } else if (command.kernels_ == 0) {
      console.Note(absl::StrCat("no kernels in ", Counted(files.size(), "file")));
    }
    return command.exit_code_;
  }

 private:
  FileCommand(bool validate, EmbeddedServices& services, Console& console)
      : validate_(validate),
        extractor_(v1::Extractor::NewStub(services.channel())),
        validator_(v1::Validator::NewStub(services.channel())),
        console_(console) {}

  // Adds a file to the batch, and runs the batch first if it is full.
  absl::Status Add(const LocalFile& file) {
    absl::StatusOr<std::string> content = ReadFile("/" + file.absolute, kBatchBytes);
    if (!content.ok()) {
      console_.Fail(content.status());
      exit_code_ = kInputsFailed;
      return absl::OkStatus();
    }
    const int64_t size = static_cast<int64_t>(content->size());
    // The file does not fit: run the batch without it.
    if (batch_.size() == kBatchFiles || batch_bytes_ + size > kBatchBytes) {
      RETURN_IF_ERROR(RunBatch());
    }
    batch_bytes_ += size;
    v1::SourceFile* added = request_.add_files();
    added->set_path(file.absolute);
    *added->mutable_content() = *std::move(content);
    batch_.push_back(file);
    return absl::OkStatus();
  }

  absl::Status RunBatch() {
    if (batch_.empty()) return absl::OkStatus();
    // The services answer with absolute paths; messages have the paths that the user wrote.
    for (const LocalFile& file : batch_) shown_[file.absolute] = file.shown;
    v1::ExtractResponse extracted;
    grpc::ClientContext context;
    RETURN_IF_ERROR(rpc::FromGrpcStatus(extractor_->Extract(&context, request_, &extracted)));
    for (const v1::ExtractedFile& file : extracted.kernels().files()) {
      if (file.failed().empty()) continue;
      console_.Fail(absl::DataLossError(absl::StrCat(shown_[file.path()], ": ", file.failed())));
      exit_code_ = kInputsFailed;
    }
    v1::ValidateResponse validated;
    if (validate_) {
      ASSIGN_OR_RETURN(validated, Validate(extracted.kernels()));
    }
    kernels_ += extracted.kernels().kernels_size();
    for (int i = 0; i < extracted.kernels().kernels_size(); ++i) {
      const v1::Kernel& kernel = extracted.kernels().kernels(i);
      if (validate_) {
        ShowVerdict(shown_[kernel.path()], kernel,
                    WithShownPaths(validated.verdicts().verdicts(i)));
      } else {
        ShowKernel(shown_[kernel.path()], kernel);
      }
    }
    request_.Clear();
    batch_.clear();
    shown_.clear();
    batch_bytes_ = 0;
    return absl::OkStatus();
  }

  absl::StatusOr<v1::ValidateResponse> Validate(const v1::KernelShard& kernels) {
    v1::ValidateRequest request;
    *request.mutable_kernels() = kernels;
    *request.mutable_files() = request_.files();
    *request.mutable_licenses() = job::WithDefaults({}).licenses();
    for (const LocalFile& license : FindLicenseFiles(batch_)) {
      shown_.emplace(license.absolute, license.shown);
      absl::StatusOr<std::string> content = ReadFile("/" + license.absolute, kMaxLicenseBytes);
      // A licence file that cannot be read is not evidence.
      if (!content.ok()) continue;
      v1::SourceFile* added = request.add_license_files();
      added->set_path(license.absolute);
      *added->mutable_content() = *std::move(content);
    }
    v1::ValidateResponse response;
    grpc::ClientContext context;
    RETURN_IF_ERROR(rpc::FromGrpcStatus(validator_->Validate(&context, request, &response)));
    if (response.verdicts().verdicts_size() != kernels.kernels_size()) {
      return absl::InternalError("the number of the validator's results is wrong");
    }
    return response;
  }

  // Returns what both commands print about a kernel with --json.
  static Json KernelJson(const char* type, const std::string& path, const v1::Kernel& kernel) {
    Json json = {{"type", type},
                 {"dsl", kernel.dsl()},
                 {"role", ToWord(kernel.role())},
                 {"first_line", kernel.first_line()},
                 {"last_line", kernel.last_line()},
                 {"sha256", kernel.sha256()},
                 {"lexical_tokens", kernel.tokens()},
                 {"json_pointer", nullptr}};
    dataset::SetText(json, "/path", path);
    if (kernel.has_json_pointer()) {
      dataset::SetText(json, "/json_pointer", kernel.json_pointer());
    }
    dataset::SetText(json, "/qualname", kernel.qualname());
    return json;
  }

  static void SetTextOrNull(Json& json, const std::string& pointer, const std::string& text) {
    dataset::SetText(json, pointer, text);
    if (text.empty()) json[Json::json_pointer(pointer)] = nullptr;
  }

  void Show(const Json& json) { console_.Result(dataset::Canonical(json) + "\n"); }

  void ShowKernel(const std::string& path, const v1::Kernel& kernel) {
    if (!console_.json()) {
      console_.Result(absl::StrCat(PathText(path, kernel), ":", kernel.first_line(), "-",
                                   kernel.last_line(), "  ", ToUtf8(kernel.qualname()), "  ",
                                   kernel.dsl(), " ", ToWord(kernel.role()), ", ",
                                   Counted(kernel.tokens(), "token"), "\n"));
      return;
    }
    Json json = KernelJson("kernel", path, kernel);
    dataset::SetText(json, "/signature", kernel.signature());
    SetTextOrNull(json, "/docstring", kernel.docstring());
    dataset::SetText(json, "/source", kernel.source());
    SetTextOrNull(json, "/module", kernel.module());
    Show(json);
  }

  std::string ShownPath(const std::string& absolute) const {
    const auto known = shown_.find(absolute);
    return known == shown_.end() ? absolute : known->second;
  }

  // Returns the verdict with the evidence's paths as the user can open them. The word for the place
  // has a path too: "file:pkg/LICENSE+header".
  v1::Verdict WithShownPaths(v1::Verdict verdict) const {
    v1::License& license = *verdict.mutable_license();
    for (v1::LicenseEvidence& found : *license.mutable_found()) {
      found.set_path(ShownPath(found.path()));
    }
    std::vector<std::string> places = absl::StrSplit(license.evidence(), '+');
    for (std::string& place : places) {
      const size_t path = place.find(':') + 1;
      if (path > 0) place.replace(path, std::string::npos, ShownPath(place.substr(path)));
    }
    license.set_evidence(absl::StrJoin(places, "+"));
    return verdict;
  }

  // Returns the licence, and in brackets the places that say so: "MIT (pkg/LICENSE:1-21)". Without
  // one it is the file that was not understood: "NOASSERTION (file:pkg/LICENSE)".
  static std::string LicenseText(const v1::License& license) {
    std::vector<std::string> places;
    for (const v1::LicenseEvidence& found : license.found()) {
      if (found.path().empty()) continue;
      std::string place = OneLine(found.path());
      if (found.first_line() > 0) absl::StrAppend(&place, ":", found.first_line());
      if (found.last_line() > found.first_line()) absl::StrAppend(&place, "-", found.last_line());
      if (absl::c_linear_search(places, place)) continue;
      if (places.size() == kMostPlaces) {
        places.emplace_back("...");
        break;
      }
      places.push_back(std::move(place));
    }
    if (places.empty() && !license.evidence().empty())
      places.push_back(OneLine(license.evidence()));
    return absl::StrCat(license.expression(), places.empty() ? "" : " (",
                        absl::StrJoin(places, ", "), places.empty() ? "" : ")");
  }

  // Prints if a job would keep the kernel, its licence with the evidence, and the checks that it
  // fails.
  void ShowVerdict(const std::string& path, const v1::Kernel& kernel, const v1::Verdict& verdict) {
    if (!verdict.accepted()) exit_code_ = kInputsFailed;
    if (console_.json()) {
      // A verdict is printed as it would be in kernels.jsonl.
      v1::KernelRow row;
      dataset::FillVerdict(verdict, v1::QualityPolicy(), &row);
      const Json fields = dataset::ToJson(row);
      Json json = KernelJson("verdict", path, kernel);
      json["accepted"] = verdict.accepted();
      json["reasons"] = dataset::TextList(verdict.reasons());
      for (const char* const name :
           {"license", "checks", "check_reasons", "quality", "tokens", "module_tokens", "kind",
            "kind_rule", "target", "target_rule"}) {
        json[name] = fields.at(name);
      }
      Show(json);
      return;
    }
    std::string line =
        absl::StrCat(PathText(path, kernel), ":", kernel.first_line(), "  ",
                     ToUtf8(kernel.qualname()), "  ", verdict.accepted() ? "accepted" : "rejected");
    if (!verdict.reasons().empty()) {
      absl::StrAppend(&line, " (", absl::StrJoin(verdict.reasons(), ", "), ")");
    }
    absl::StrAppend(&line, "  ", LicenseText(verdict.license()), "  score ",
                    verdict.quality().score());
    std::vector<absl::string_view> failed;
    for (const v1::RuleResult& result : verdict.rules()) {
      if (result.outcome() == v1::RuleResult::OUTCOME_FAIL) failed.emplace_back(result.rule());
    }
    if (!failed.empty()) absl::StrAppend(&line, "  lacks ", absl::StrJoin(failed, ", "));
    console_.Result(line + "\n");
  }

  const bool validate_;
  const std::unique_ptr<v1::Extractor::Stub> extractor_;
  const std::unique_ptr<v1::Validator::Stub> validator_;
  Console& console_;
  v1::ExtractRequest request_;
  std::vector<LocalFile> batch_;  // the files in request_
  // The paths of the batch as the user wrote them, and of its licence files, by absolute path.
  std::map<std::string, std::string> shown_;
  int64_t batch_bytes_ = 0;
  int64_t kernels_ = 0;  // found so far
  int exit_code_ = kDone;
};

}  // namespace

absl::StatusOr<int> ExtractFiles(const std::vector<std::string>& paths, Console& console) {
  return FileCommand::Run(paths, /*validate=*/false, console);
}

absl::StatusOr<int> ValidateFiles(const std::vector<std::string>& paths, Console& console) {
  return FileCommand::Run(paths, /*validate=*/true, console);
}

// A job can compile with a toolchain if its environment is installed and this machine can run the
// sandbox.
absl::StatusOr<int> ListToolchains(const std::string& folder, Console& console) {
  nlohmann::ordered_json object = {{"folder", folder},
                                   {"toolchains", nlohmann::ordered_json::array()}};
  std::string text;
  bool ready = true;
  for (const toolchains::PinnedToolchain& pinned : toolchains::PinnedToolchains()) {
    const auto environment = compiler::LocalToolchain(folder, pinned.name);
    ready &= environment.ok();
    object["toolchains"].push_back(
        {{"name", std::string(pinned.name)},
         {"compiler", std::string(pinned.compiler)},
         {"version", std::string(pinned.version)},
         {"python", std::string(pinned.python)},
         {"requirements_sha256", std::string(pinned.requirements_sha256)},
         {"installed", environment.ok()}});
    absl::StrAppend(&text, pinned.name, "  ",
                    environment.ok() ? *environment : std::string(environment.status().message()),
                    "\n");
  }
  const absl::Status sandbox = compiler::CheckLocalSandbox();
  ready &= sandbox.ok();
  object["sandbox"] = {{"ok", sandbox.ok()}, {"error", std::string(sandbox.message())}};
  absl::StrAppend(
      &text, "sandbox  ",
      sandbox.ok() ? "this machine can run compilers in the sandbox" : sandbox.message(), "\n");
  console.Result(console.json() ? JsonLine("toolchains", object) : text);
  return ready ? kDone : kInputsFailed;
}

// The installer is in share/kernelmill/ of a package, beside bin/ (/usr, the wheel's module), or in
// deploy/ of the clone that the program was built in.
absl::StatusOr<int> InstallToolchains(const std::string& folder) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return ErrnoStatus(error.value(), "/proc/self/exe");
  const fs::path bin = self.parent_path();
  for (const fs::path& script :
       {bin.parent_path() / "share/kernelmill/install_toolchains.sh",
        bin.parent_path().parent_path().parent_path() / "deploy/install_toolchains.sh"}) {
    if (!fs::exists(script, error)) continue;
    // This process waits for signals with all of them blocked, and a mask survives exec.
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execl(script.c_str(), script.c_str(), "--into", folder.c_str(), nullptr);
    return ErrnoStatus(errno, script.string());
  }
  return absl::NotFoundError(absl::StrCat("install_toolchains.sh is not beside ", self.string(),
                                          "; deploy/ of a clone has it"));
}

}  // namespace kernelmill::client
