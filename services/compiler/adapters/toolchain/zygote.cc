// The worker's side of the harness. Two channels carry lines of JSON: jobs to the zygote, reports
// back. The report is parsed with suspicion: the process that wrote it ran next to untrusted code.
// A report with a missing field, a wrong type or too long a text is refused as a whole. Control
// characters and the like are spelled out here, before anything has the texts.
//
// Three limits nest: the harness bounds processor time and wall time of each child, the watcher
// bounds sleep and the totals of the process, and the waits here, which are the longest, catch a
// harness that hangs.

#include "services/compiler/adapters/toolchain/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/text/safe_text.h"
#include "nlohmann/json.hpp"

namespace kernelmill::compiler {
namespace {

using Json = nlohmann::json;

constexpr size_t kMessageBytes = 1000;
constexpr size_t kImportBytes = 400;

// Serializes a message as one line. Bytes that are not UTF-8 become U+FFFD.
std::string Line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Makes the object of a try, for tries.py and frontend.py.
Json TryJson(const Try& attempt) {
  Json types = Json::array(), constexprs = Json::array(), options = Json::array();
  for (const v1::ArgumentType& type : attempt.signature.arguments()) {
    types.push_back({type.name(), type.type(), type.divisible_by_16()});
  }
  for (const v1::ConstexprValue& value : attempt.signature.constexprs()) {
    constexprs.push_back({value.name(), value.value()});
  }
  for (const v1::CompileOption& option : attempt.signature.options()) {
    options.push_back({option.name(), option.value()});
  }
  return {
      {"types", types}, {"constexprs", constexprs}, {"options", options}, {"small", attempt.small}};
}

// A reader of the fields of a row. If a field is missing or has the wrong type, ok() is false, and
// the whole report is refused: parts of it may come from untrusted code.
class Row {
 public:
  explicit Row(const Json& value) : value_(value) {}

  std::string Text(const char* name, size_t max_bytes) {
    const Json* field = Field(name);
    if (field == nullptr || !field->is_string()) return Bad("");
    const std::string& text = field->get_ref<const std::string&>();
    return text.size() <= max_bytes ? text : Bad("");
  }

  int32_t Number(const char* name) {
    const Json* field = Field(name);
    if (field == nullptr || !field->is_number_integer()) return Bad(0);
    const int64_t number = field->get<int64_t>();
    return number >= 0 && number <= INT32_MAX ? static_cast<int32_t>(number) : Bad(0);
  }

  bool Flag(const char* name) {
    const Json* field = Field(name);
    return field != nullptr && field->is_boolean() ? field->get<bool>() : Bad(false);
  }

  const Json& List(const char* name) {
    static Json empty = Json::array();
    const Json* field = Field(name);
    if (field != nullptr && field->is_array()) return *field;
    ok_ = false;
    return empty;
  }

  bool ok() const { return ok_; }

 private:
  const Json* Field(const char* name) const {
    if (!value_.is_object()) return nullptr;
    const auto found = value_.find(name);
    return found == value_.end() ? nullptr : &*found;
  }

  template <typename T>
  T Bad(T value) {
    ok_ = false;
    return value;
  }

  const Json& value_;
  bool ok_ = true;
};

// Reads the rows [form, size, SHA-256].
bool ReadForms(const Json& rows, v1::CompileResult& result) {
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != 3 || !row[0].is_string() || !row[1].is_number_integer() ||
        !row[2].is_string()) {
      return false;
    }
    v1::IrForm& form = *result.add_forms();
    form.set_form(row[0].get<std::string>());
    form.set_size_bytes(row[1].get<int64_t>());
    form.set_sha256(row[2].get<std::string>());
  }
  return true;
}

bool IsPair(const Json& row) {
  return row.is_array() && row.size() == 2 && row[0].is_string() && row[1].is_string();
}

// Reads the fields that only a compiled target has.
bool ReadCompiled(const Json& value, const KernelJob& job, TargetReport& report) {
  Row row(value);
  v1::CompileResult& result = report.result;
  result.set_registers(row.Number("registers"));
  result.set_shared_bytes(row.Number("shared_bytes"));
  result.set_spill_bytes(row.Number("spill_bytes"));
  result.set_instructions(row.Number("instructions"));
  result.set_limited(row.Flag("limited"));
  if (!ReadForms(row.List("forms"), result)) return false;
  for (const Json& kept : row.List("kept")) {
    if (!IsPair(kept)) return false;
    v1::IrText& text = report.kept.emplace_back();
    text.set_toolchain(job.toolchain);
    text.set_target(report.target);
    text.set_form(kept[0].get<std::string>());
    text.set_text(kept[1].get<std::string>());
  }
  const Json& values = row.List("constexprs");
  auto& constexprs = *report.signature.mutable_constexprs();
  if (static_cast<int>(values.size()) != constexprs.size()) return false;
  for (int i = 0; i < constexprs.size(); ++i) {
    if (!IsPair(values[i]) || values[i][0] != constexprs[i].name()) return false;
    constexprs[i].set_value(SafeText(values[i][1].get<std::string>()));
  }
  return row.ok();
}

// Reads the report for one target, which must come in the job's order.
bool ReadTarget(const Json& value, const KernelJob& job, const std::string& target,
                TargetReport& report) {
  Row row(value);
  report.target = target;
  if (row.Text("target", target.size()) != target) return false;
  report.attempt = row.Number("attempt");
  if (!row.ok() || report.attempt >= static_cast<int>(job.tries.size())) return false;
  report.signature = job.tries[report.attempt].signature;
  report.result.set_toolchain(job.toolchain);
  report.result.set_target(target);
  const std::string status = row.Text("status", 16);
  if (status == "ok") {
    report.result.set_status(v1::COMPILE_STATUS_OK);
    return ReadCompiled(value, job, report);
  }
  report.result.set_status(v1::COMPILE_STATUS_ERROR);
  report.result.set_stage(row.Text("stage", 16));
  report.result.set_message(SafeText(row.Text("message", kMessageBytes)));
  report.result.set_line(row.Number("line"));
  report.reached = row.Number("reached");
  return row.ok() && status == "error";
}

// Reads the whole report. Returns false if it is malformed.
bool ReadReport(const Json& value, const KernelJob& job, KernelReport& report) {
  Row all(value);
  if (!value.is_object() || !value.contains("import")) return false;
  Row imported(value["import"]);
  report.module_import.set_toolchain(job.toolchain);
  report.module_import.set_ok(imported.Flag("ok"));
  report.module_import.set_error(SafeText(imported.Text("error", kImportBytes)));
  report.module_import.set_line(imported.Number("line"));
  const Json& targets = all.List("targets");
  if (!all.ok() || !imported.ok()) return false;
  if (!report.module_import.ok() || job.tries.empty()) return targets.empty();
  if (targets.size() != job.targets.size()) return false;
  report.targets.resize(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!ReadTarget(targets[i], job, job.targets[i], report.targets[i])) return false;
  }
  return true;
}

// Returns the modules of the harness, and which of them is the compiler's driver. boot.py reads it
// first.
std::string HarnessLine(absl::string_view compiler) {
  Json modules = Json::object();
  for (const HarnessSource& source : HarnessModules()) {
    modules[std::string(source.name)] = std::string(source.text);
  }
  return Line({{"driver", absl::StrCat(compiler, "_driver")}, {"modules", std::move(modules)}});
}

// Returns a kernel's job, without its toolchain.
std::string JobLine(const KernelJob& job) {
  Json tries = Json::array();
  for (const Try& attempt : job.tries) tries.push_back(TryJson(attempt));
  return Line({{"module", job.module},
               {"function", job.function},
               {"source", job.source},
               {"launcher", job.launcher},
               {"gluon", job.gluon},
               {"targets", job.targets},
               {"tries", tries},
               {"keep", job.keep},
               {"max_seconds", job.max_seconds}});
}

// Parses the answer of python/zygote.py to `job`. Errors: INTERNAL if it is not a report of this
// job; UNAVAILABLE or ABORTED if the machine could not compile it.
absl::StatusOr<KernelReport> ParseReport(absl::string_view line, const KernelJob& job) {
  const Json value = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
  KernelReport report;
  if (!value.is_discarded() && ReadReport(value, job, report)) return report;
  if (value.is_object() && value.contains("machine") && value["machine"].is_string()) {
    const std::string what = absl::StrCat("could not be compiled on this machine: ",
                                          value["machine"].get<std::string>());
    if (value.value("killed", Json()) == Json(true)) return absl::AbortedError(what);
    return absl::UnavailableError(what);
  }
  return absl::InternalError("the compiler's process sent a malformed report");
}

constexpr size_t kMaxReport = 128 << 20;
constexpr absl::Duration kStartTime = absl::Minutes(5);  // to import Triton, on a busy machine
// More than the harness allows each of its children. The harness kills those itself.
constexpr int kWallFactor = 250;

// Returns the environment, to which ConfinedProcess adds a few variables.
std::vector<std::string> ZygoteEnvironment() {
  return {
      "PATH=/usr/bin:/bin",
      "LC_ALL=C.UTF-8",
      "PYTHONHASHSEED=0",
      "OMP_NUM_THREADS=1",
      "OPENBLAS_NUM_THREADS=1",
      // Forms must depend on the kernel only, not on its module's path or on a default that differs
      // between versions.
      "TRITON_DISABLE_LINE_INFO=1",
      "TRITON_DEFAULT_FP_FUSION=1",
  };
}

// Makes a pair of connected descriptors: ours and the child's.
absl::StatusOr<std::pair<FileDescriptor, FileDescriptor>> Channel() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoStatus(errno, "socketpair");
  }
  return std::make_pair(FileDescriptor(fds[0]), FileDescriptor(fds[1]));
}

// Waits until the descriptor is ready. Returns ABORTED if that takes too long.
absl::Status Wait(int fd, short events, absl::Time until) {
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(until - absl::Now());
    if (left <= 0) return absl::AbortedError("the compiler's process does not answer in time");
    pollfd poll_fd = {fd, events, 0};
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
  }
}

// Makes the report of a kernel for which the watcher killed the whole zygote.
KernelReport MakeLimitReport(const KernelJob& job, const Ending& ending) {
  KernelReport report;
  report.module_import.set_toolchain(job.toolchain);
  // Others may keep the disk busy.
  const bool machine = ending.reason == EndReason::kDisk;
  report.module_import.set_error(
      absl::StrCat(machine ? "clock: " : "limit: ", "too much of ", GetName(ending.reason)));
  return report;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Zygote>> Zygote::Start(const std::string& environment,
                                                      absl::string_view compiler, Policy policy) {
  auto zygote = std::unique_ptr<Zygote>(new Zygote(SandboxUser::Take(), compiler));
  policy.uid = zygote->user_.uid();
  ASSIGN_OR_RETURN(auto jobs, Channel());
  ASSIGN_OR_RETURN(auto reports, Channel());
  const FileDescriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open()) return ErrnoStatus(errno, "/dev/null");
  ConfinedCommand command;
  // These are the parts of -I without -E, which would ignore PYTHONHASHSEED: sets of strings must
  // have a fixed order.
  command.argv = {environment + "/bin/python3", "-P", "-s", "-B", "-c", std::string(HarnessBoot())};
  command.env = ZygoteEnvironment();
  // If the harness itself fails, Python's error goes to the worker's log. Its children get another
  // descriptor 2.
  command.fds = {null.get(), null.get(), STDERR_FILENO, jobs.second.get(), reports.second.get()};
  ASSIGN_OR_RETURN(zygote->process_, ConfinedProcess::Start(command, policy));
  zygote->jobs_ = std::move(jobs.first);
  zygote->reports_ = std::move(reports.first);
  return zygote;
}

// Any error leaves the zygote unusable (alive() is false), because an answer that comes late must
// not be taken for the next job's. If a bound of the process ended it, the kernel is to blame and
// gets a report; if something else did, the error goes to the caller. CANCELLED: the job was
// stopped.
absl::StatusOr<KernelReport> Zygote::Compile(const KernelJob& job) {
  absl::StatusOr<KernelReport> report = absl::CancelledError("");
  {
    const std::stop_callback kill(job.stop, [this] { process_->Kill(); });
    report = Exchange(job);
  }
  const bool stopped = job.stop.stop_requested();
  if (report.ok() && !stopped) return report;
  alive_ = false;
  process_->Kill();
  const Ending ending = process_->Wait();
  if (stopped) return absl::CancelledError("no longer wanted");
  if (ending.reason == EndReason::kScratchGone) {
    return absl::UnavailableError(
        "something has removed the compiler's folder under --temp-dir while it worked");
  }
  if (ready_ && ending.limit()) return MakeLimitReport(job, ending);
  return report;
}

// Sends a job and reads its report. The first call sends the harness first.
absl::StatusOr<KernelReport> Zygote::Exchange(const KernelJob& job) {
  if (!ready_) {
    const absl::Time until = absl::Now() + kStartTime;
    RETURN_IF_ERROR(Write(HarnessLine(compiler_), until));
    RETURN_IF_ERROR(ReadLine(until).status());
    ready_ = true;
  }
  const absl::Time until = absl::Now() + absl::Seconds(60 + int64_t{kWallFactor} * job.max_seconds *
                                                                (1 + job.targets.size()));
  process_->BeginWork(absl::Seconds(job.max_seconds));
  RETURN_IF_ERROR(Write(JobLine(job), until));
  ASSIGN_OR_RETURN(const std::string line, ReadLine(until));
  process_->EndWork();
  return ParseReport(line, job);
}

// Writes a line before `until`, without blocking beyond that and without SIGPIPE.
absl::Status Zygote::Write(absl::string_view line, absl::Time until) {
  while (!line.empty()) {
    RETURN_IF_ERROR(Wait(jobs_.get(), POLLOUT, until));
    const ssize_t n = ::send(jobs_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      return absl::AbortedError("the compiler's process is gone");
    }
    if (n > 0) line.remove_prefix(n);
  }
  return absl::OkStatus();
}

// Reads a line before `until`. Keeps bytes that follow it for the next call.
absl::StatusOr<std::string> Zygote::ReadLine(absl::Time until) {
  size_t searched = 0;
  while (true) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    if (searched > kMaxReport)
      return absl::InternalError("the compiler's process sent too large a report");
    RETURN_IF_ERROR(Wait(reports_.get(), POLLIN, until));
    buffer_.resize(searched + (1 << 16));
    const ssize_t n = ::recv(reports_.get(), buffer_.data() + searched, 1 << 16, MSG_DONTWAIT);
    const int error = errno;
    buffer_.resize(searched + std::max<ssize_t>(n, 0));
    if (n == 0 || (n < 0 && error != EAGAIN && error != EINTR)) {
      return absl::AbortedError("the compiler's process is gone");
    }
  }
}

}  // namespace kernelmill::compiler
