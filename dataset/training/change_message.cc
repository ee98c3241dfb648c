#include "dataset/training/change_message.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"

namespace kernelmill::dataset {
namespace {

using absl::string_view;

// Words that say nothing of a change; sorted.
// clang-format off
constexpr string_view kEmptyWords[] = {
    "add", "added", "adding", "address", "adds", "after", "all", "allow", "also", "an", "and",
    "any", "are", "as", "at", "autotune", "be", "because", "been", "before", "better", "between",
    "both", "branch", "bug", "bugfix", "bugs", "but", "by", "can", "change", "changed", "changes",
    "chore", "ci", "clean", "cleanup", "code", "codes", "comment", "comments", "config", "configs",
    "could", "dev", "did", "do", "doc", "docs", "documentation", "does", "due", "during", "each",
    "enable", "enhance", "enhancement", "error", "errors", "failed", "failing", "fast", "faster",
    "feat", "feature", "few", "fix", "fixed", "fixes", "fixing", "for", "format", "formatting",
    "from", "had", "has", "have", "here", "hotfix", "how", "if", "impl", "implementation",
    "improve", "improved", "improvement", "improves", "in", "instead", "into", "is", "issue",
    "issues", "it", "its", "just", "kernel", "kernels", "least", "less", "let", "lint", "made",
    "main", "make", "makes", "may", "merge", "might", "minor", "misc", "more", "most", "must",
    "new", "nit", "no", "not", "now", "of", "on", "only", "op", "ops", "optimise", "optimization",
    "optimizations", "optimize", "optimized", "or", "other", "others", "per", "perf", "performance",
    "pr", "problem", "problems", "refactor", "refactored", "remove", "removed", "review", "same",
    "several", "should", "since", "small", "so", "some", "speed", "speedup", "still", "style",
    "such", "support", "supports", "test", "testing", "tests", "than", "that", "the", "then",
    "there", "they", "this", "to", "too", "triton", "tune", "tuned", "tuning", "typo", "typos",
    "unit", "update", "updated", "updates", "use", "used", "using", "various", "version",
    "versions", "very", "via", "was", "we", "were", "what", "when", "where", "which", "while",
    "why", "will", "wip", "with", "within", "without", "would", "you"};
// clang-format on

// Sections that do not say what the change is begin with one of these words.
constexpr string_view kOtherSections[] = {"test",   "bench",     "check",      "hardware",
                                          "review", "verif",     "validation", "todo",
                                          "result", "reproduce", "environment"};

bool IsWordByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

bool StartsWithAny(string_view text, absl::Span<const string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](string_view beginning) {
    return absl::StartsWithIgnoreCase(text, beginning);
  });
}

// Returns the text without "<!-- ... -->"; one that is not closed reaches to the end.
std::string WithoutComments(string_view text) {
  std::string kept;
  while (!text.empty()) {
    const size_t begin = text.find("<!--");
    absl::StrAppend(&kept, text.substr(0, begin));
    if (begin == string_view::npos) break;
    const size_t end = text.find("-->", begin);
    if (end == string_view::npos) break;
    text.remove_prefix(end + 3);
  }
  return kept;
}

// Says whether a line begins a section that is not about the change: "## Testing Done",
// "Test plan:", "**Benchmarks:**".
bool BeginsOtherSection(string_view line) {
  const bool heading = absl::StartsWith(line, "#");
  const string_view words = absl::StripLeadingAsciiWhitespace(
      line.substr(std::min(line.find_first_not_of("#*- "), line.size())));
  if (!StartsWithAny(words, kOtherSections)) return false;
  return heading || words.substr(0, 30).find(':') != string_view::npos;
}

// "Co-authored-by: ...", "Copilot-Session: ...".
bool IsTrailer(string_view line) {
  const string_view name = line.substr(0, line.find(": "));
  return name.size() < line.size() && absl::StrContains(name, "-") &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalpha(c) || c == '-'; });
}

// "Fixes #12", "Closes: #12.", "Related to #12", and a line that is a link.
bool IsReference(string_view line) {
  constexpr string_view kWords[] = {"fix", "close", "resolve", "related", "see ", "ref"};
  if (absl::StrContains(line, "://") && !absl::StrContains(line, " ")) return true;
  return line.size() < 40 && absl::StrContains(line, "#") && StartsWithAny(line, kWords);
}

bool IsAside(string_view line) {
  constexpr string_view kBeginnings[] = {"|", "![", "<", "- [", "* [", "---", "==="};
  const bool rest = absl::EndsWith(line, "|") || absl::EndsWith(line, "/>");  // a wrapped one's
  return rest || StartsWithAny(line, kBeginnings) || absl::StartsWith(line, "#") ||
         IsTrailer(line) || IsReference(line);
}

// Returns the subject without the numbers of requests: "Fix a (#12)".
std::string CleanSubject(string_view subject) {
  std::string text(absl::StripAsciiWhitespace(subject));
  while (absl::EndsWith(text, ")")) {
    const size_t open = text.rfind("(#");
    if (open == std::string::npos) break;
    const string_view number = string_view(text).substr(open + 2, text.size() - open - 3);
    if (!std::all_of(number.begin(), number.end(), absl::ascii_isdigit)) break;
    text.resize(open);
    text = std::string(absl::StripTrailingAsciiWhitespace(text));
  }
  return text;
}

}  // namespace

// A squash by GitHub lists the subjects of its commits, each behind "* ".
ChangeMessage ReadChangeMessage(string_view message) {
  ChangeMessage read;
  const size_t end = std::min(message.find('\n'), message.size());
  read.subject = CleanSubject(message.substr(0, end));
  std::vector<std::string> kept;
  bool gap = false, fenced = false;  // in a block of code
  for (const string_view whole : absl::StrSplit(WithoutComments(message.substr(end)), '\n')) {
    const string_view line = absl::StripAsciiWhitespace(whole);
    if (line.empty()) {
      gap = true;
      continue;
    }
    const bool fence = absl::StartsWith(line, "```");
    if (fenced || fence) {
      if (gap && !kept.empty()) kept.emplace_back();
      gap = false;
      fenced = fenced != fence;
      kept.emplace_back(absl::StripTrailingAsciiWhitespace(whole));
      continue;
    }
    if (BeginsOtherSection(line) || (kept.empty() && absl::StartsWith(line, "* "))) break;
    if (IsAside(line)) continue;
    if (gap && !kept.empty()) kept.emplace_back();
    gap = false;
    kept.emplace_back(absl::StripTrailingAsciiWhitespace(whole));
  }
  read.details = absl::StrJoin(kept, "\n");
  return read;
}

std::set<std::string> FindTopicWords(string_view text) {
  std::set<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsWordByte(text[end])) ++end;
    const std::string word = absl::AsciiStrToLower(text.substr(at, end - at));
    const bool number = std::all_of(word.begin(), word.end(), absl::ascii_isdigit);
    if (word.size() > 1 && !number &&
        !std::binary_search(std::begin(kEmptyWords), std::end(kEmptyWords), string_view(word))) {
      words.insert(word);
    }
    at = end + 1;
  }
  return words;
}

}  // namespace kernelmill::dataset
