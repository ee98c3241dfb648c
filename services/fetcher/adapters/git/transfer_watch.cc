#include "services/fetcher/adapters/git/transfer_watch.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"

namespace kernelmill::fetcher {
namespace {

// A second of the processor counts as so many seconds of the lowest rate: a program that gets a
// twentieth of a processor is at work, also on a machine that is busy.
constexpr double kWorkFactor = 20;
constexpr size_t kMaxProcFile = 64 << 10;

// Parts of git that read nothing from the server except the pack, or nothing at all.
constexpr absl::string_view kComputing[] = {"index-pack", "rev-list", "unpack-objects"};

std::string ReadProc(pid_t pid, const char* file) {
  const absl::StatusOr<std::string> text =
      ReadFile(absl::StrCat("/proc/", pid, "/", file), kMaxProcFile);
  return text.ok() ? *text : "";
}

// A process as /proc/PID/stat has it.
struct Process {
  pid_t group = 0;
  double seconds = 0;  // processor time
};

// Reads the fields after the program's name, which is in parentheses and may hold anything.
std::optional<Process> ReadProcess(pid_t pid) {
  constexpr size_t kGroup = 2, kUser = 11, kSystem = 12;
  const std::string stat = ReadProc(pid, "stat");
  const size_t name = stat.rfind(") ");
  if (name == std::string::npos) return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(stat).substr(name + 2), ' ');
  int64_t user = 0, system = 0;
  Process process;
  if (fields.size() <= kSystem || !absl::SimpleAtoi(fields[kGroup], &process.group) ||
      !absl::SimpleAtoi(fields[kUser], &user) || !absl::SimpleAtoi(fields[kSystem], &system)) {
    return std::nullopt;
  }
  process.seconds =
      static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return process;
}

// Returns the bytes that the process has read, from files, pipes and sockets.
int64_t BytesRead(pid_t pid) {
  constexpr absl::string_view kRead = "rchar: ";
  const std::string io = ReadProc(pid, "io");
  for (absl::string_view line : absl::StrSplit(io, '\n')) {
    int64_t bytes = 0;
    if (absl::StartsWith(line, kRead) && absl::SimpleAtoi(line.substr(kRead.size()), &bytes)) {
      return bytes;
    }
  }
  return 0;
}

// Returns whether the command line, whose words end in NUL, is of a program that only computes.
bool OnlyComputes(pid_t pid) {
  const std::string command = ReadProc(pid, "cmdline");
  const std::vector<absl::string_view> words = absl::StrSplit(command, '\0');
  return std::any_of(words.begin(), words.end(), [](absl::string_view word) {
    return std::find(std::begin(kComputing), std::end(kComputing), word) != std::end(kComputing);
  });
}

std::vector<pid_t> ListProcesses() {
  std::vector<pid_t> pids;
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc", error);
  while (!error && entries != std::filesystem::directory_iterator()) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entries->path().filename().string(), &pid)) pids.push_back(pid);
    entries.increment(error);
  }
  return pids;
}

}  // namespace

TransferWatch::TransferWatch(std::string pack_folder, Prelude prelude, const LowestRate& rate,
                             absl::Time now)
    : pack_folder_(std::move(pack_folder)),
      prelude_(prelude),
      rate_(rate),
      floor_(rate, now),
      before_(CountPacks()) {}

// Counts the files of whole and of growing packs.
TransferWatch::Packs TransferWatch::CountPacks() const {
  Packs packs;
  std::error_code error;
  std::filesystem::directory_iterator files(pack_folder_, error);
  while (!error && files != std::filesystem::directory_iterator()) {
    const std::string name = files->path().filename().string();
    if (absl::StartsWith(name, "tmp_pack") || absl::EndsWith(name, ".pack")) {
      std::error_code gone;
      const uintmax_t size = files->file_size(gone);
      ++packs.files;
      if (!gone) packs.bytes += static_cast<int64_t>(size);
    }
    files.increment(error);
  }
  return packs;
}

// A process reads what another one passes on, so the largest count of the group is what the server
// sent.
int64_t TransferWatch::CountReceived(pid_t group) {
  int64_t received = 0;
  for (const pid_t pid : ListProcesses()) {
    const std::optional<Process> process = ReadProcess(pid);
    if (!process.has_value() || process->group != group) continue;
    if (OnlyComputes(pid)) {
      worked_[pid] = process->seconds;
    } else {
      received = std::max(received, BytesRead(pid));
    }
  }
  return received;
}

absl::Status TransferWatch::Look(pid_t group, absl::Time now) {
  const int64_t received = CountReceived(group);
  const Packs packs = CountPacks();
  const int64_t pack = std::max<int64_t>(0, packs.bytes - before_.bytes);
  talk_ = std::max(talk_, received - pack);
  if (talk_ > kMaxTalk) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server must send at most ", kMaxTalk, " bytes beside the pack"));
  }
  packing_ = packing_ || packs.files > before_.files;
  if (!packing_) prelude_bytes_ = talk_;
  if (!packing_ && prelude_ == Prelude::kUnseen) {
    floor_ = RateFloor(rate_, now);
    return absl::OkStatus();
  }
  double seconds = 0;
  for (const auto& [pid, worked] : worked_) seconds += worked;
  const double work = seconds * kWorkFactor * static_cast<double>(rate_.bytes_per_second);
  return floor_.Check(prelude_bytes_ + pack + static_cast<int64_t>(work), now);
}

}  // namespace kernelmill::fetcher
