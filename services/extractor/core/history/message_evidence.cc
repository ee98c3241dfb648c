#include "services/extractor/core/history/message_evidence.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/code/bytes.h"
#include "common/text/commit_message.h"

namespace kernelmill::extractor {
namespace {

// The beginning of a word, or a whole one (exact), that speaks for a kind; lower case.
struct Word {
  absl::string_view text;
  const char* kind;
  bool exact = false;
};

constexpr Word kWords[] = {
    {"fix", kFix},
    {"bug", kFix},
    {"hotfix", kFix},
    {"incorrect", kFix},
    {"wrong", kFix},
    {"nan", kFix, true},
    {"nans", kFix, true},
    {"inf", kFix, true},
    {"overflow", kFix},
    {"underflow", kFix},
    {"illegal", kFix},
    {"out-of-bound", kFix},
    {"oob", kFix, true},
    {"race", kFix, true},
    {"crash", kFix},
    {"deadlock", kFix},
    {"hang", kFix, true},
    {"typo", kRefactoring},
    {"workaround", kFix},
    {"correctness", kFix},
    {"ima", kFix, true},
    {"perf", kSpeed, true},
    {"performance", kSpeed},
    {"optim", kSpeed},
    {"speed", kSpeed},
    {"faster", kSpeed},
    {"accelerate", kSpeed},
    {"accelerating", kSpeed},
    {"acceleration", kSpeed},
    {"throughput", kSpeed},
    {"latency", kSpeed},
    {"autotun", kTuning},
    {"tune", kTuning},
    {"tuning", kTuning},
    {"num_warps", kTuning},
    {"num_stages", kTuning},
    {"pretun", kTuning},
    {"hyparam", kTuning},
    {"hyperparam", kTuning},
    {"refact", kRefactoring},
    {"cleanup", kRefactoring},
    {"clean", kRefactoring, true},
    {"rename", kRefactoring},
    {"renaming", kRefactoring},
    {"migrat", kRefactoring},
    {"simplif", kRefactoring},
    {"lint", kRefactoring},
    {"style", kRefactoring, true},
    {"formatting", kRefactoring, true},
    {"reformat", kRefactoring},
    {"pre-commit", kRefactoring},
    {"yapf", kRefactoring},
    {"isort", kRefactoring},
    {"ruff", kRefactoring, true},
    {"flake8", kRefactoring, true},
    {"pyupgrade", kRefactoring, true},
    {"clang-format", kRefactoring, true},
    {"black", kRefactoring, true},
    {"reorganiz", kRefactoring},
    {"restructur", kRefactoring},
    {"tidy", kRefactoring},
    {"docstring", kRefactoring},
    {"readab", kRefactoring},
    {"clarity", kRefactoring},
    {"support", kFeature},
    {"implement", kFeature},
    {"introduc", kFeature},
    {"enable", kFeature},
    {"feature", kFeature},
    {"feat", kFeature, true},
    {"extend", kFeature},
    {"generaliz", kFeature},
};

// Words that speak for a kind less clearly.
constexpr Word kVagueWords[] = {
    {"fault", kFix},
    {"fail", kFix},
    {"guard", kFix},
    {"problem", kFix},
    {"mismatch", kFix},
    {"regression", kFix},
    {"war", kFix, true},
    {"resolve", kFix},
    {"compat", kFix},
    {"accura", kFix},
    {"precision", kFix},
    {"disallow", kFix},
    {"correctly", kFix},
    {"stability", kFix},
    {"instability", kFix},
    {"int64", kFix, true},
    {"fast", kSpeed, true},
    {"efficien", kSpeed},
    {"bandwidth", kSpeed},
    {"fuse", kSpeed, true},
    {"fuses", kSpeed, true},
    {"fusing", kSpeed, true},
    {"fusion", kSpeed, true},
    {"parallelism", kSpeed},
    {"overlap", kSpeed},
    {"tiling", kSpeed},
    {"unroll", kSpeed},
    {"compress", kSpeed, true},
    {"compression", kSpeed},
    {"recompil", kSpeed},
    {"block size", kTuning},
    {"blocksize", kTuning},
    {"block_size", kTuning},
    {"move", kRefactoring, true},
    {"moved", kRefactoring, true},
    {"moving", kRefactoring, true},
    {"deprecat", kRefactoring},
    {"unify", kRefactoring},
    {"comment", kRefactoring},
    {"remove", kRefactoring},
    {"rm", kRefactoring, true},
    {"removing", kRefactoring},
    {"delete", kRefactoring},
    {"drop", kRefactoring, true},
    {"discard", kRefactoring},
    {"unused", kRefactoring},
    {"redundant", kRefactoring},
    {"extract", kRefactoring, true},
    {"quality", kRefactoring},
    {"allow", kFeature},
    {"new", kFeature, true},
    {"port", kFeature, true},
    {"integrat", kFeature},
    {"adapt", kFeature},
    {"adopt", kFeature},
    {"expand", kFeature},
    {"determinis", kFeature},
    {"optional", kFeature},
    {"option", kFeature},
    {"init", kFeature, true},
    {"addition", kFeature, true},
    {"promotion", kFeature},
    {"opt", kSpeed, true},
    {"improv", kSpeed},
    {"enhanc", kSpeed},
    {"better", kSpeed, true},
    {"config", kTuning, true},
    {"configs", kTuning, true},
    {"heuristic", kTuning},
    {"backend", kFeature},
    {"release", kFeature},
    {"rewrit", kRefactoring},
    {"replac", kRefactoring},
    {"separat", kRefactoring},
    {"switch", kRefactoring},
};

// Words of any addition: a kernel, a check or a test.
constexpr Word kAdditions[] = {
    {"add", kFeature, true},
    {"adds", kFeature, true},
    {"added", kFeature, true},
    {"adding", kFeature, true},
};

// Labels at the head of a subject.
constexpr Word kLabels[] = {
    {"fix", kFix},
    {"bugfix", kFix},
    {"bug fix", kFix},
    {"bug", kFix},
    {"hotfix", kFix},
    {"perf", kSpeed},
    {"performance", kSpeed},
    {"optim", kSpeed},
    {"opt", kSpeed, true},
    {"tune", kTuning},
    {"tuning", kTuning},
    {"autotune", kTuning},
    {"refactor", kRefactoring},
    {"refact", kRefactoring},
    {"style", kRefactoring},
    {"format", kRefactoring},
    {"lint", kRefactoring},
    {"cleanup", kRefactoring},
    {"clean up", kRefactoring},
    {"chore", kRefactoring},
    {"nfc", kRefactoring},
    {"misc", kRefactoring},
    {"docs", kRefactoring},
    {"doc", kRefactoring, true},
    {"rename", kRefactoring},
    {"feat", kFeature},
    {"feature", kFeature},
    {"new", kFeature, true},
};

// Adds each of the words that the text has, once, to those of its kind.
using Votes = std::array<std::vector<std::string>, kKinds.size()>;

size_t KindNumber(const char* kind) {
  return static_cast<size_t>(
      std::find_if(kKinds.begin(), kKinds.end(),
                   [&](const char* one) { return absl::string_view(one) == kind; }) -
      kKinds.begin());
}

Votes CountWords(absl::string_view text, absl::Span<const Word> words) {
  const std::string held = absl::AsciiStrToLower(text);
  const absl::string_view lower = held;
  Votes votes;
  for (const Word& word : words) {
    for (size_t at = lower.find(word.text); at != absl::string_view::npos;
         at = lower.find(word.text, at + 1)) {
      size_t end = at + word.text.size();
      if (at > 0 && code::IsNameByte(lower[at - 1])) continue;
      if (word.exact && end < lower.size() && code::IsNameByte(lower[end])) continue;
      while (end < lower.size() && code::IsNameByte(lower[end])) ++end;
      // A name of code says nothing: "separate_store" separates nothing.
      const bool name = absl::StrContains(lower.substr(at, end - at), '_');
      if (name && !absl::StrContains(word.text, '_')) continue;
      votes[KindNumber(word.kind)].emplace_back(text.substr(at, end - at));
      break;
    }
  }
  return votes;
}

// Says whether a word of a label is one of kLabels.
bool IsLabel(absl::string_view text, const Word& word) {
  if (!absl::StartsWith(text, word.text)) return false;
  const absl::string_view rest = text.substr(word.text.size());
  return rest.empty() || !code::IsNameByte(rest[0]) ||
         (!word.exact && absl::StartsWith(text, "opti"));
}

// Reads the labels at the head of a subject: "[A][B] ...", "[A, B] ...", "a(b): ...", "[A] b: ...".
std::optional<Said> ReadLabel(absl::string_view subject) {
  std::vector<absl::string_view> labels;
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(subject);
  while (!rest.empty() && rest[0] == '[') {
    const size_t end = rest.find(']');
    if (end > 40) break;
    for (const absl::string_view label : absl::StrSplit(rest.substr(1, end - 1), ',')) {
      labels.push_back(label);
    }
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(end + 1));
  }
  const size_t colon = rest.find(':');
  if (colon <= 30) labels.push_back(rest.substr(0, colon));
  for (const absl::string_view label : labels) {
    const std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(label));
    for (const Word& word : kLabels) {
      if (IsLabel(lower, word)) return Said{"label", KindNumber(word.kind), {std::string(label)}};
    }
  }
  return std::nullopt;
}

// Returns the first paragraph of a message's details. Lists name what else a commit has.
std::string FindFirstParagraph(absl::string_view details) {
  std::string paragraph;
  for (const absl::string_view line : absl::StrSplit(details, '\n')) {
    const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
    const bool prose =
        !text.empty() && !absl::StartsWith(text, "*") && !absl::StartsWith(text, "-");
    if (!prose && !paragraph.empty()) break;
    if (prose) absl::StrAppend(&paragraph, line, "\n");
  }
  return paragraph;
}

// Returns a subject without the labels in brackets at its head.
absl::string_view WithoutLabels(absl::string_view subject) {
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(subject);
  while (!rest.empty() && rest[0] == '[' && absl::StrContains(rest, ']')) {
    rest = rest.substr(rest.find(']') + 1);
    absl::ConsumePrefix(&rest, ":");
    rest = absl::StripLeadingAsciiWhitespace(rest);
  }
  return rest;
}

// Says whether a subject's first word undoes something.
bool SaysRevert(absl::string_view subject) {
  if (absl::StrContains(absl::AsciiStrToLower(subject), "[revert]")) return true;
  const absl::string_view rest = WithoutLabels(subject);
  for (const absl::string_view word : {"revert ", "reverts ", "revert:", "undo ", "back out ",
                                       "backout ", "roll back ", "rollback "}) {
    if (absl::StartsWithIgnoreCase(rest, word)) return true;
  }
  return false;
}
// Adds what the words say of each kind.
void AddWords(absl::string_view place, Votes votes, std::vector<Said>& out) {
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (!votes[kind].empty()) out.push_back({place, kind, std::move(votes[kind])});
  }
}

}  // namespace

MessageEvidence ReadMessage(absl::string_view message) {
  const auto [subject, details] = ReadCommitMessage(message);
  MessageEvidence out;
  if (SaysRevert(subject)) out.revert = subject.substr(0, 80);
  if (std::optional<Said> label = ReadLabel(subject)) out.said.push_back(*std::move(label));
  const absl::string_view rest = WithoutLabels(subject);
  const absl::string_view first = rest.substr(0, rest.find(' '));
  AddWords("first", CountWords(first, kWords), out.said);
  AddWords("vague first", CountWords(first, kVagueWords), out.said);
  AddWords("subject", CountWords(rest, kWords), out.said);
  AddWords("vague subject", CountWords(rest, kVagueWords), out.said);
  AddWords("addition", CountWords(rest, kAdditions), out.said);
  const std::string paragraph = FindFirstParagraph(details);
  const bool alone = out.said.empty();
  AddWords(alone ? "body alone" : "body", CountWords(paragraph, kWords), out.said);
  if (alone && absl::StrContains(paragraph, "This reverts commit")) {
    out.revert = subject.substr(0, 80);
  }
  return out;
}

}  // namespace kernelmill::extractor
