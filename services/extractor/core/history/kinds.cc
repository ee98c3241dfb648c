#include "services/extractor/core/history/kinds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/code/lexer.h"

namespace kernelmill::extractor {
namespace {

constexpr char kFix[] = "fix", kSpeed[] = "speed", kTuning[] = "tuning",
               kRefactoring[] = "refactoring", kFeature[] = "feature", kRevert[] = "revert",
               kUnknown[] = "unknown";
constexpr std::array<const char*, 5> kKinds = {kFix, kSpeed, kTuning, kRefactoring, kFeature};

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
    {"regression", kFix},
    {"typo", kRefactoring},
    {"workaround", kFix},
    {"resolve", kFix},
    {"perf", kSpeed, true},
    {"performance", kSpeed},
    {"optimiz", kSpeed},
    {"optimis", kSpeed},
    {"speed", kSpeed},
    {"faster", kSpeed},
    {"fast", kSpeed, true},
    {"accelerat", kSpeed},
    {"throughput", kSpeed},
    {"latency", kSpeed},
    {"efficient", kSpeed},
    {"bandwidth", kSpeed},
    {"autotun", kTuning},
    {"tune", kTuning},
    {"tuning", kTuning},
    {"num_warps", kTuning},
    {"num_stages", kTuning},
    {"refact", kRefactoring},
    {"cleanup", kRefactoring},
    {"clean", kRefactoring, true},
    {"rename", kRefactoring},
    {"renaming", kRefactoring},
    {"move", kRefactoring, true},
    {"moved", kRefactoring, true},
    {"moving", kRefactoring, true},
    {"simplif", kRefactoring},
    {"lint", kRefactoring},
    {"style", kRefactoring, true},
    {"format", kRefactoring, true},
    {"formatting", kRefactoring, true},
    {"pre-commit", kRefactoring},
    {"yapf", kRefactoring},
    {"isort", kRefactoring},
    {"reorganiz", kRefactoring},
    {"restructur", kRefactoring},
    {"deprecat", kRefactoring},
    {"unify", kRefactoring},
    {"tidy", kRefactoring},
    {"docstring", kRefactoring},
    {"comment", kRefactoring},
    {"add", kFeature, true},
    {"adds", kFeature, true},
    {"added", kFeature, true},
    {"adding", kFeature, true},
    {"support", kFeature},
    {"implement", kFeature},
    {"introduc", kFeature},
    {"enable", kFeature},
    {"allow", kFeature},
    {"new", kFeature, true},
    {"feature", kFeature},
    {"feat", kFeature, true},
    {"port", kFeature, true},
    {"extend", kFeature},
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
    {"add", kFeature, true},
};

bool IsWordByte(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// Adds each of the words that the text has, once, to those of its kind.
using Votes = std::array<std::vector<std::string>, kKinds.size()>;

size_t KindNumber(const char* kind) {
  return static_cast<size_t>(
      std::find_if(kKinds.begin(), kKinds.end(),
                   [&](const char* one) { return absl::string_view(one) == kind; }) -
      kKinds.begin());
}

Votes CountWords(absl::string_view text) {
  const std::string held = absl::AsciiStrToLower(text);
  const absl::string_view lower = held;
  Votes votes;
  for (const Word& word : kWords) {
    for (size_t at = lower.find(word.text); at != absl::string_view::npos;
         at = lower.find(word.text, at + 1)) {
      size_t end = at + word.text.size();
      if (at > 0 && IsWordByte(lower[at - 1])) continue;
      if (word.exact && end < lower.size() && IsWordByte(lower[end])) continue;
      while (end < lower.size() && IsWordByte(lower[end])) ++end;
      votes[KindNumber(word.kind)].emplace_back(text.substr(at, end - at));
      break;
    }
  }
  return votes;
}

ChangeKind Decide(Votes votes) {
  size_t best = 0;
  for (size_t i = 1; i < votes.size(); ++i) {
    if (votes[i].size() > votes[best].size()) best = i;
  }
  if (votes[best].empty()) return {kUnknown, {}};
  return {kKinds[best], std::move(votes[best])};
}

// Says whether a word of a label is one of kLabels.
bool IsLabel(absl::string_view text, const Word& word) {
  if (!absl::StartsWith(text, word.text)) return false;
  const absl::string_view rest = text.substr(word.text.size());
  return rest.empty() || !IsWordByte(rest[0]) || (!word.exact && absl::StartsWith(text, "opti"));
}

// Reads the labels at the head of a subject: "[A][B] ...", "[A, B] ...", "a(b): ...", "[A] b: ...".
ChangeKind ReadLabel(absl::string_view subject) {
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
      if (IsLabel(lower, word)) return {word.kind, {std::string(label)}};
    }
  }
  return {kUnknown, {}};
}

// Returns the subject of a message: its first line. A merge that GitHub makes names a branch there,
// and has the title of the request further down.
absl::string_view FindSubject(absl::string_view message) {
  const absl::string_view first = message.substr(0, message.find('\n'));
  if (!absl::StartsWith(first, "Merge pull request ")) return first;
  for (const absl::string_view line : absl::StrSplit(message.substr(first.size()), '\n')) {
    if (!absl::StripAsciiWhitespace(line).empty()) return line;
  }
  return first.substr(first.rfind('/') + 1);
}

// Returns the message without the boxes of a form to tick, which say the same in every commit.
std::string WithoutForms(absl::string_view message) {
  std::string kept;
  for (const absl::string_view line : absl::StrSplit(message, '\n')) {
    const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
    const bool box = absl::StartsWith(text, "- [") || absl::StartsWith(text, "* [");
    if (!box) absl::StrAppend(&kept, line, "\n");
  }
  return kept;
}

// The tokens of a kernel without comments; `name` stands for the kernel's own name.
std::vector<code::Token> ReadTokens(const v1::Kernel& kernel) {
  std::vector<code::Token> tokens = code::Lex(kernel.source(), code::ToLanguage(kernel.dsl()));
  tokens.erase(
      std::remove_if(tokens.begin(), tokens.end(),
                     [](const code::Token& token) { return token.kind == code::Token::kComment; }),
      tokens.end());
  for (code::Token& token : tokens) {
    if (token.kind == code::Token::kName && token.text == kernel.name()) token.text = "name";
  }
  return tokens;
}

// A token that a change of layout or of a docstring may change: a string that is a statement, and
// commas, which formatters add.
bool IsLayout(const std::vector<code::Token>& tokens, size_t at) {
  if (tokens[at].kind == code::Token::kString && tokens[at].begins_statement) return true;
  if (tokens[at].text != "," || at + 1 == tokens.size()) return false;
  const absl::string_view next = tokens[at + 1].text;
  return next == ")" || next == "]" || next == "}";
}

std::vector<code::Token> WithoutLayout(const std::vector<code::Token>& tokens) {
  std::vector<code::Token> kept;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!IsLayout(tokens, i)) kept.push_back(tokens[i]);
  }
  return kept;
}

bool SameTokens(const std::vector<code::Token>& a, const std::vector<code::Token>& b,
                bool without_numbers) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [&](const code::Token& x, const code::Token& y) {
        const bool numbers = x.kind == code::Token::kNumber && y.kind == code::Token::kNumber;
        return x.text == y.text || (without_numbers && numbers);
      });
}

// Returns the tokens from the function itself on, without the lines above it.
std::vector<code::Token> FromFunction(const std::vector<code::Token>& tokens) {
  const auto def = std::find_if(tokens.begin(), tokens.end(), [](const code::Token& token) {
    return token.begins_statement && (token.text == "def" || token.text == "async");
  });
  return {def, tokens.end()};
}

// Judges by the texts alone.
ChangeKind JudgeTexts(const v1::Kernel& before, const v1::Kernel& after) {
  const std::vector<code::Token> a = WithoutLayout(ReadTokens(before));
  const std::vector<code::Token> b = WithoutLayout(ReadTokens(after));
  if (SameTokens(a, b, false)) return {kRefactoring, {"rule: only comments, layout or the name"}};
  if (before.dsl() == v1::DSL_CUDA) return {kUnknown, {}};
  const std::vector<code::Token> body_a = FromFunction(a), body_b = FromFunction(b);
  const bool configured =
      absl::StrContains(before.source(), "Config(") || absl::StrContains(after.source(), "Config(");
  if (configured && !body_a.empty() && SameTokens(body_a, body_b, false)) {
    return {kTuning, {"rule: only the configurations above the function"}};
  }
  return {kUnknown, {}};
}

}  // namespace

ChangeKind JudgeKind(absl::string_view message, const v1::Kernel& before, const v1::Kernel& after) {
  const absl::string_view subject = FindSubject(message);
  const std::string lower = absl::AsciiStrToLower(subject);
  if (absl::StartsWith(lower, "revert ") || absl::StartsWith(lower, "revert:") ||
      absl::StartsWith(lower, "[revert]") || absl::StrContains(message, "This reverts commit")) {
    return {kRevert, {std::string(subject.substr(0, 80))}};
  }
  ChangeKind texts = JudgeTexts(before, after);
  if (texts.kind == kRefactoring) return texts;
  ChangeKind label = ReadLabel(subject);
  ChangeKind words = Decide(CountWords(subject));
  const bool overrides = label.kind == kFix || label.kind == kRefactoring || words.kind == kFix;
  if (texts.kind == kTuning && !overrides) return texts;
  if (label.kind != kUnknown && label.kind != kRefactoring) return label;
  if (words.kind != kUnknown) return words;
  if (label.kind != kUnknown) return label;
  return Decide(CountWords(WithoutForms(message)));
}

}  // namespace kernelmill::extractor
