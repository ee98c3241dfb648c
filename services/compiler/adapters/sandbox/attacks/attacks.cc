#include "services/compiler/adapters/sandbox/attacks/attacks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "services/compiler/adapters/sandbox/policy.h"

namespace kernelmill::compiler {
namespace {

// The names of the functions in the Python files begin with the fate that the sandbox must give
// them.
struct Prefix {
  absl::string_view name;
  Fate fate;
};
constexpr Prefix kPrefixes[] = {{"refused_", Fate::kRefused},     {"silenced_", Fate::kSilenced},
                                {"ended_", Fate::kEnded},         {"overrun_", Fate::kOverrun},
                                {"contained_", Fate::kContained}, {"forged_", Fate::kForged}};

std::string Read(absl::string_view file) {
  absl::StatusOr<std::string> text = ReadFile(absl::StrCat(KM_ATTACKS, "/", file, ".py"), 1 << 20);
  if (!text.ok()) std::abort();  // a test without its data
  return *std::move(text);
}

}  // namespace

// Each attack is the whole file and a call of one function, so that the helpers above it are there.
std::vector<Attack> ListAttacks(absl::string_view file, const std::string& victim) {
  const std::string text = absl::StrCat(victim, Read("ways"), "\n", Read(file));
  std::vector<Attack> attacks;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, "def ")) continue;
    const std::string name(line.substr(0, line.find('(')));
    for (const Prefix& prefix : kPrefixes) {
      if (!absl::StartsWith(name, prefix.name)) continue;
      attacks.push_back({name,
                         prefix.fate == Fate::kForged ? absl::StrCat(text, "\n\n")
                                                      : absl::StrCat(text, "\n\n", name, "()\n"),
                         prefix.fate});
    }
  }
  return attacks;
}

std::vector<std::string> AttackFiles() {
  return {"channel", "files", "limits", "machine", "network", "next_kernel", "watcher"};
}

namespace {

constexpr absl::string_view kText = "as it was";

// Opens a socket on a free port of loopback. Nothing accepts connections: a waiting one is what
// Heard() looks for.
absl::StatusOr<FileDescriptor> Inet(int kind, int& port) {
  FileDescriptor fd(::socket(AF_INET, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (!fd.is_open() || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      (kind == SOCK_STREAM && ::listen(fd.get(), 1) != 0)) {
    return ErrnoStatus(errno, "a socket");
  }
  port = ntohs(address.sin_port);
  return fd;
}

absl::StatusOr<FileDescriptor> Unix(absl::string_view name) {
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError("a long socket name");
  }
  std::copy(name.begin(), name.end(), address.sun_path);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (!fd.is_open() || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(fd.get(), 1) != 0) {
    return ErrnoStatus(errno, "a Unix socket");
  }
  return fd;
}

bool Heard(const FileDescriptor& fd) {
  pollfd poll_fd = {fd.get(), POLLIN, 0};
  return ::poll(&poll_fd, 1, 0) != 0;
}

std::string Abstract() { return absl::StrCat("kernelmill-victim-", ::getpid()); }

}  // namespace

// Everything of the victim's is open to all users, so that only the sandbox can protect it.
absl::StatusOr<std::unique_ptr<Victim>> Victim::Create() {
  ASSIGN_OR_RETURN(TempDir folder, TempDir::Create());
  auto victim = std::unique_ptr<Victim>(new Victim(std::move(folder)));
  const std::string& path = victim->folder_.path();
  const std::string open = path + "/open", file = open + "/file";
  std::error_code error;
  std::filesystem::create_directory(open, error);
  std::ofstream(file) << kText;
  if (::chmod(path.c_str(), 0755) != 0 || ::chmod(open.c_str(), 0777) != 0 ||
      ::chmod(file.c_str(), 0666) != 0) {
    return ErrnoStatus(errno, file);
  }
  RETURN_IF_ERROR(victim->Listen());
  RETURN_IF_ERROR(victim->StartProcess());
  return victim;
}

absl::Status Victim::Listen() {
  ASSIGN_OR_RETURN(tcp_, Inet(SOCK_STREAM, tcp_port_));
  ASSIGN_OR_RETURN(udp_, Inet(SOCK_DGRAM, udp_port_));
  const std::string path = folder_.path() + "/socket";
  ASSIGN_OR_RETURN(unix_, Unix(path));
  ASSIGN_OR_RETURN(abstract_, Unix(std::string(1, '\0') + Abstract()));
  if (::chmod(path.c_str(), 0777) != 0) return ErrnoStatus(errno, path);
  return absl::OkStatus();
}

// Starts a process of the sandbox's user, which that user could kill or trace.
absl::Status Victim::StartProcess() {
  const auto uid = static_cast<unsigned long>(Policy().uid);
  process_ = ::fork();
  if (process_ < 0) return ErrnoStatus(errno, "fork");
  if (process_ == 0) {
    if (::geteuid() == 0) ::syscall(SYS_setresuid, uid, uid, uid);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) ::pause();
  }
  return absl::OkStatus();
}

Victim::~Victim() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::string Victim::Description() const {
  return absl::StrCat("VICTIM = {'tcp': ", tcp_port_, ", 'udp': ", udp_port_, ", 'unix': '",
                      folder_.path(), "/socket', 'abstract': '", Abstract(), "', 'folder': '",
                      folder_.path(), "/open', 'file': '", folder_.path(),
                      "/open/file', 'process': ", process_, "}\n\n");
}

absl::Status Victim::Unharmed() const {
  if (Heard(tcp_) || Heard(udp_)) return absl::InternalError("somebody spoke to its ports");
  if (Heard(unix_) || Heard(abstract_)) return absl::InternalError("somebody spoke to its sockets");
  const absl::StatusOr<std::string> text = ReadFile(folder_.path() + "/open/file", 1024);
  if (!text.ok() || *text != kText) return absl::InternalError("its file has changed");
  std::error_code error;
  const std::filesystem::directory_iterator files(folder_.path() + "/open", error);
  if (std::distance(begin(files), end(files)) != 1) {
    return absl::InternalError("its folder has other files");
  }
  if (::waitpid(process_, nullptr, WNOHANG) != 0) return absl::InternalError("its process ended");
  return absl::OkStatus();
}

}  // namespace kernelmill::compiler
