// The kernel lists listening sockets by inode in /proc/net/tcp, and a process's open files as links
// with inodes in /proc/PID/fd.

#include "client/http/port_user.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

namespace fs = std::filesystem;

constexpr char kListens[] = "0A";  // the state of a listening socket in /proc/net/tcp

// Returns the links of open files, "socket:[12345]", of the sockets that listen on the port.
std::set<std::string> FindSockets(int port) {
  std::set<std::string> sockets;
  for (const char* const table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      // The number, local address, remote address, state, four more, and the inode.
      const std::vector<std::string> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (fields.size() < 10 || fields[3] != kListens) continue;
      uint32_t own = 0;
      const std::string hex = fields[1].substr(fields[1].find(':') + 1);
      if (absl::SimpleHexAtoi(hex, &own) && own == static_cast<uint32_t>(port)) {
        sockets.insert(absl::StrCat("socket:[", fields[9], "]"));
      }
    }
  }
  return sockets;
}

// Folders of other users cannot be read; they count as without such a file.
bool HasOpen(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (fs::directory_iterator at(process / "fd", error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    std::error_code unread;
    if (sockets.contains(fs::read_symlink(at->path(), unread).string())) return true;
  }
  return false;
}

// Returns the name of the program; `comm` has only its first 15 bytes.
std::string GetProgram(const fs::path& process) {
  std::string program;
  std::ifstream arguments(process / "cmdline", std::ios::binary);
  std::getline(arguments, program, '\0');
  return SafeLine(fs::path(program).filename().string());
}

}  // namespace

std::optional<std::string> FindPortUser(int port) {
  const std::set<std::string> sockets = FindSockets(port);
  if (sockets.empty()) return std::nullopt;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string id = at->path().filename().string();
    int32_t pid = 0;
    if (!absl::SimpleAtoi(id, &pid) || !HasOpen(at->path(), sockets)) continue;
    return absl::StrCat("process ", id, " (", GetProgram(at->path()), ")");
  }
  return "another process";
}

}  // namespace kernelmill::client
