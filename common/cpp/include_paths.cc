#include "common/cpp/include_paths.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/cpp/headers.h"

namespace kernelmill::cpp {
namespace {

using absl::string_view;

constexpr size_t kMaxPath = 512;         // of an #include
constexpr size_t kMaxCandidates = 1024;  // files of one name

string_view LastPart(string_view path) { return path.substr(path.rfind('/') + 1); }

// a/b/../c is a/c; empty where it leads out of the tree.
std::string Normalized(string_view path) {
  std::vector<string_view> parts;
  for (const string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return "";
    } else {
      parts.pop_back();
    }
  }
  return absl::StrJoin(parts, "/");
}

// How many folders two paths share from the root on.
size_t SharedFolders(string_view a, string_view b) {
  size_t shared = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) shared += a[i] == '/';
  return shared;
}

// `line` after its '#'.
std::optional<IncludeName> NameOn(string_view line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "include")) return std::nullopt;
  line = absl::StripLeadingAsciiWhitespace(line);
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  const bool angled = line[0] == '<';
  const size_t end = line.substr(0, kMaxPath).find(angled ? '>' : '"', 1);
  if (end == string_view::npos) return std::nullopt;
  return IncludeName{std::string(line.substr(1, end - 1)), angled};
}

}  // namespace

std::vector<IncludeName> FindIncludeLines(absl::string_view text, size_t most) {
  std::vector<IncludeName> found;
  for (const string_view line : absl::StrSplit(text, absl::ByAnyChar("\r\n"))) {
    if (found.size() >= most) break;
    string_view directive = absl::StripLeadingAsciiWhitespace(line.substr(0, 2 * kMaxPath));
    if (!absl::ConsumePrefix(&directive, "#")) continue;
    std::optional<IncludeName> name = NameOn(directive);
    if (name) found.push_back(*std::move(name));
  }
  return found;
}

IncludePaths::IncludePaths(const std::vector<std::string>& paths) : paths_(paths) {
  for (uint32_t i = 0; i < paths_.size(); ++i) {
    if (!by_path_.try_emplace(paths_[i], i).second) continue;
    by_name_[std::string(LastPart(paths_[i]))].push_back(i);
  }
}

std::optional<uint32_t> IncludePaths::Find(absl::string_view includer, absl::string_view path,
                                           bool angled) const {
  if (!angled) {
    const auto found = by_path_.find(Normalized(absl::StrCat(ParentFolder(includer), "/", path)));
    if (found != by_path_.end()) return found->second;
  }
  return IsKnownHeader(path) ? std::nullopt : FindBySuffix(includer, path);
}

std::optional<uint32_t> IncludePaths::FindBySuffix(absl::string_view includer,
                                                   absl::string_view path) const {
  while (absl::ConsumePrefix(&path, "../") || absl::ConsumePrefix(&path, "./")) {
  }
  const std::string wanted = Normalized(path);
  const auto candidates = by_name_.find(LastPart(wanted));
  if (wanted.empty() || candidates == by_name_.end()) return std::nullopt;
  const std::string suffix = absl::StrCat("/", wanted);
  std::optional<uint32_t> best;
  size_t best_shared = 0;
  bool alone = false;
  for (size_t i = 0; i < std::min(kMaxCandidates, candidates->second.size()); ++i) {
    const uint32_t file = candidates->second[i];
    if (paths_[file] != wanted && !absl::EndsWith(paths_[file], suffix)) continue;
    const size_t shared = SharedFolders(paths_[file], includer);
    alone = !best || shared > best_shared ? true : alone && shared < best_shared;
    if (best && shared <= best_shared) continue;
    best = file;
    best_shared = shared;
  }
  return alone ? best : std::nullopt;
}

}  // namespace kernelmill::cpp
