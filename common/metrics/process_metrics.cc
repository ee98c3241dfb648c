#include "common/metrics/process_metrics.h"

#include <dirent.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/log.h"
#include "common/metrics/metrics.h"

namespace kernelmill::metrics {
namespace {

// Places in /proc/self/stat after the program's name (proc(5), less 3).
constexpr size_t kUserTime = 11, kSystemTime = 12, kThreads = 17, kStartTime = 19, kVirtual = 20,
                 kResident = 21;

constexpr std::pair<LogLevel, const char*> kLevels[] = {{LogLevel::kDebug, "debug"},
                                                        {LogLevel::kInfo, "info"},
                                                        {LogLevel::kWarning, "warning"},
                                                        {LogLevel::kError, "error"}};

std::string FirstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// When the machine started, in seconds since 1970; 0: not known.
double BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    double seconds = 0;
    if (words.size() == 2 && words[0] == "btime" && absl::SimpleAtod(words[1], &seconds)) {
      return seconds;
    }
  }
  return 0;
}

double OpenFiles() {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  int entries = 0;
  while (readdir(folder) != nullptr) ++entries;
  closedir(folder);
  return entries - 3;  // ".", ".." and the folder itself
}

}  // namespace

void MeasureProcess() {
  for (const auto& [level, name] : kLevels) {
    RaiseTo(static_cast<double>(LogLines(level)), Counter(kLogLines, {{"level", name}}));
  }
  const std::string stat = FirstLine("/proc/self/stat");
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return;
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(name_end + 2), ' ');
  if (fields.size() <= kResident) return;
  const auto number = [&fields](size_t at) {
    double value = 0;
    return absl::SimpleAtod(fields[at], &value) ? value : 0;
  };
  static const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const double boot = BootTime();
  RaiseTo((number(kUserTime) + number(kSystemTime)) / ticks, Counter(kProcessCpu));
  Gauge(kProcessThreads).Set(number(kThreads));
  Gauge(kProcessVirtual).Set(number(kVirtual));
  Gauge(kProcessMemory).Set(number(kResident) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  Gauge(kProcessStart).Set(boot + number(kStartTime) / ticks);
  Gauge(kProcessFiles).Set(OpenFiles());
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Gauge(kProcessMaxFiles).Set(static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace kernelmill::metrics
