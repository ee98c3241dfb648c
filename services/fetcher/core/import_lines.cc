#include "services/fetcher/core/import_lines.h"

#include <string.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace kernelmill::fetcher {
namespace {

constexpr absl::string_view kImport = "import";
// How far before "import" the line may begin.
constexpr size_t kMaxHead = 512;

// What stands on the line before `at`; nothing if the line begins too far before it.
std::optional<absl::string_view> HeadOfLine(absl::string_view text, size_t at) {
  const size_t window = std::min(at, kMaxHead);
  const absl::string_view before = text.substr(at - window, window);
  const size_t end_of_last = before.find_last_of("\r\n");
  if (end_of_last != absl::string_view::npos) return before.substr(end_of_last + 1);
  if (window < at) return std::nullopt;
  return before;
}

bool IsDotted(absl::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || (c & 0x80) != 0;
  });
}

// "from ..a.b " is level 2 of a.b; nothing if the words are others.
std::optional<ImportedModule> ModuleOf(absl::string_view head) {
  head = absl::StripAsciiWhitespace(head);
  if (!absl::ConsumePrefix(&head, "from")) return std::nullopt;
  const absl::string_view rest = absl::StripLeadingAsciiWhitespace(head);
  const size_t dots = std::min(rest.find_first_not_of('.'), rest.size());
  if (rest.size() == head.size() && dots == 0) return std::nullopt;  // one word: "fromx"
  const absl::string_view module = absl::StripLeadingAsciiWhitespace(rest.substr(dots));
  if ((module.empty() && dots == 0) || !IsDotted(module)) return std::nullopt;
  return ImportedModule{static_cast<int>(dots), std::string(module)};
}

}  // namespace

std::vector<ImportedModule> FindImportLines(absl::string_view text, size_t most) {
  std::vector<ImportedModule> found;
  std::set<std::pair<int, std::string>> seen;
  size_t at = 0;
  while (found.size() < most) {
    const void* next = ::memmem(text.data() + at, text.size() - at, kImport.data(), kImport.size());
    if (next == nullptr) break;
    at = static_cast<const char*>(next) - text.data();
    const std::optional<absl::string_view> head = HeadOfLine(text, at);
    std::optional<ImportedModule> module = head ? ModuleOf(*head) : std::nullopt;
    if (module && seen.emplace(module->level, module->module).second) {
      found.push_back(*std::move(module));
    }
    at += kImport.size();
  }
  return found;
}

}  // namespace kernelmill::fetcher
