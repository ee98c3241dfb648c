#include "services/fetcher/adapters/wheel/index_setting.h"

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "services/fetcher/adapters/process/child_process.h"

namespace kernelmill::fetcher {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsHttpUrl(absl::string_view url) {
  return absl::StartsWithIgnoreCase(url, "https://") || absl::StartsWithIgnoreCase(url, "http://");
}

// In the order in which pip lets one override the other.
std::vector<std::string> PipConfigFiles() {
  std::vector<std::string> files;
  const auto add = [&](const std::string& folder, absl::string_view file) {
    if (!folder.empty()) files.push_back(absl::StrCat(folder, file));
  };
  add(Environment("PIP_CONFIG_FILE"), "");
  add(Environment("VIRTUAL_ENV"), "/pip.conf");
  add(Environment("XDG_CONFIG_HOME"), "/pip/pip.conf");
  add(Environment("HOME"), "/.config/pip/pip.conf");
  add(Environment("HOME"), "/.pip/pip.conf");
  files.push_back("/etc/pip.conf");
  return files;
}

// Where pip goes if nobody tells it: its own answer.
std::string AskPip() {
  ChildCommand command;
  command.argv = {"python3", "-c",
                  "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"};
  for (const char* name : {"PATH", "HOME", "VIRTUAL_ENV"}) {
    command.env.push_back(absl::StrCat(name, "=", Environment(name)));
  }
  command.timeout = absl::Seconds(30);
  command.max_output = 4096;
  const absl::StatusOr<ChildResult> result = RunChild(command);
  if (!result.ok() || !result->ok()) return "";
  return std::string(absl::StripAsciiWhitespace(result->output));
}

}  // namespace

std::string IndexInPipConfig(absl::string_view text) {
  std::string section, url;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(line, "[")) section = std::string(line);
    const size_t sign = line.find_first_of("=:");
    const bool applies = section == "[global]" || section == "[install]" || section == "[download]";
    if (!applies || sign == absl::string_view::npos || line[0] == '#' || line[0] == ';') continue;
    const std::string key = absl::StrReplaceAll(
        absl::AsciiStrToLower(absl::StripAsciiWhitespace(line.substr(0, sign))), {{"_", "-"}});
    if (key == "index-url") url = std::string(absl::StripAsciiWhitespace(line.substr(sign + 1)));
  }
  return url;
}

absl::StatusOr<std::string> ResolvePackageIndex(const std::string& option) {
  std::string url = option.empty() ? Environment("PIP_INDEX_URL") : option;
  for (const std::string& file : PipConfigFiles()) {
    if (!url.empty()) break;
    const absl::StatusOr<std::string> text = ReadFile(file, 1 << 20);
    if (text.ok()) url = IndexInPipConfig(*text);
  }
  if (url.empty()) url = AskPip();
  if (url.empty()) {
    return absl::FailedPreconditionError(
        "no package index is known: set the fetcher's --package-index or PIP_INDEX_URL, or install "
        "pip");
  }
  if (!IsHttpUrl(url)) {
    return absl::InvalidArgumentError("the package index is not an https:// or http:// URL");
  }
  return url;
}

}  // namespace kernelmill::fetcher
