#include "dataset/training/topic_words.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace kernelmill::dataset {
namespace {

using absl::string_view;

// Words that say nothing of a change; sorted.
// clang-format off
constexpr string_view kEmptyTopicWords[] = {
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

bool IsWordByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

}  // namespace

std::set<std::string> FindTopicWords(string_view text) {
  std::set<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsWordByte(text[end])) ++end;
    const std::string word = absl::AsciiStrToLower(text.substr(at, end - at));
    const bool number = std::all_of(word.begin(), word.end(), absl::ascii_isdigit);
    if (word.size() > 1 && !number &&
        !std::binary_search(std::begin(kEmptyTopicWords), std::end(kEmptyTopicWords),
                            string_view(word))) {
      words.insert(word);
    }
    at = end + 1;
  }
  return words;
}

}  // namespace kernelmill::dataset
