#include "services/extractor/core/history/kinds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"
#include "common/text/commit_message.h"

namespace kernelmill::extractor {
namespace {

constexpr char kFix[] = "fix", kSpeed[] = "speed", kTuning[] = "tuning",
               kRefactoring[] = "refactoring", kFeature[] = "feature", kRevert[] = "revert",
               kUnknown[] = "unknown";
// If several kinds have equally many words, the first one counts.
constexpr std::array<const char*, 5> kKinds = {kFix, kTuning, kSpeed, kRefactoring, kFeature};

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
    {"fault", kFix},
    {"fail", kFix},
    {"guard", kFix},
    {"problem", kFix},
    {"mismatch", kFix},
    {"handle", kFix, true},
    {"regression", kFix},
    {"typo", kRefactoring},
    {"workaround", kFix},
    {"war", kFix, true},
    {"barrier", kFix},
    {"resolve", kFix},
    {"compat", kFix},
    {"accura", kFix},
    {"precision", kFix},
    {"disallow", kFix},
    {"correctly", kFix},
    {"correctness", kFix},
    {"stability", kFix},
    {"instability", kFix},
    {"int64", kFix, true},
    {"ima", kFix, true},
    {"perf", kSpeed, true},
    {"performance", kSpeed},
    {"optim", kSpeed},
    {"speed", kSpeed},
    {"faster", kSpeed},
    {"fast", kSpeed, true},
    {"accelerate", kSpeed},
    {"accelerating", kSpeed},
    {"acceleration", kSpeed},
    {"throughput", kSpeed},
    {"latency", kSpeed},
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
    {"autotun", kTuning},
    {"tune", kTuning},
    {"tuning", kTuning},
    {"num_warps", kTuning},
    {"num_stages", kTuning},
    {"pretun", kTuning},
    {"hyparam", kTuning},
    {"hyperparam", kTuning},
    {"block size", kTuning},
    {"blocksize", kTuning},
    {"block_size", kTuning},
    {"refact", kRefactoring},
    {"cleanup", kRefactoring},
    {"clean", kRefactoring, true},
    {"rename", kRefactoring},
    {"renaming", kRefactoring},
    {"migrat", kRefactoring},
    {"move", kRefactoring, true},
    {"moved", kRefactoring, true},
    {"moving", kRefactoring, true},
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
    {"deprecat", kRefactoring},
    {"unify", kRefactoring},
    {"tidy", kRefactoring},
    {"docstring", kRefactoring},
    {"comment", kRefactoring},
    {"remove", kRefactoring},
    {"removing", kRefactoring},
    {"delete", kRefactoring},
    {"drop", kRefactoring, true},
    {"discard", kRefactoring},
    {"unused", kRefactoring},
    {"redundant", kRefactoring},
    {"extract", kRefactoring, true},
    {"readab", kRefactoring},
    {"quality", kRefactoring},
    {"clarity", kRefactoring},
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
    {"integrat", kFeature},
    {"adapt", kFeature},
    {"adopt", kFeature},
    {"expand", kFeature},
    {"generaliz", kFeature},
    {"determinis", kFeature},
    {"optional", kFeature},
    {"option", kFeature},
    {"init", kFeature, true},
    {"addition", kFeature, true},
    {"promotion", kFeature},
};

// Words that speak for a kind only if neither the subject nor the first paragraph has one of
// kWords.
constexpr Word kWeakWords[] = {
    {"opt", kSpeed, true},    {"improv", kSpeed},        {"enhanc", kSpeed},
    {"better", kSpeed, true}, {"config", kTuning, true}, {"configs", kTuning, true},
    {"heuristic", kTuning},   {"backend", kFeature},     {"release", kFeature},
    {"rewrit", kRefactoring}, {"replac", kRefactoring},  {"separat", kRefactoring},
    {"switch", kRefactoring},
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

Votes CountWords(absl::string_view text, absl::Span<const Word> words = kWords) {
  const std::string held = absl::AsciiStrToLower(text);
  const absl::string_view lower = held;
  Votes votes;
  for (const Word& word : words) {
    for (size_t at = lower.find(word.text); at != absl::string_view::npos;
         at = lower.find(word.text, at + 1)) {
      size_t end = at + word.text.size();
      if (at > 0 && IsWordByte(lower[at - 1])) continue;
      if (word.exact && end < lower.size() && IsWordByte(lower[end])) continue;
      while (end < lower.size() && IsWordByte(lower[end])) ++end;
      // A name of code says nothing: "separate_store" separates nothing.
      const bool name = absl::StrContains(lower.substr(at, end - at), '_');
      if (name && !absl::StrContains(word.text, '_')) continue;
      votes[KindNumber(word.kind)].emplace_back(text.substr(at, end - at));
      break;
    }
  }
  return votes;
}

// Returns the kind with the most words; those of `again` count once more.
ChangeKind Decide(Votes votes, const Votes& again = {}) {
  const auto count = [&](size_t kind) { return votes[kind].size() + again[kind].size(); };
  size_t best = 0;
  for (size_t i = 1; i < votes.size(); ++i) {
    if (count(i) > count(best)) best = i;
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

// The tokens of a kernel without comments; `name` stands for the kernel's own name.
std::vector<code::Token> ReadTokens(const v1::Kernel& kernel) {
  std::vector<code::Token> tokens = code::Lex(kernel.source(), dsl::GetSyntax(kernel.dsl()));
  tokens.erase(
      std::remove_if(tokens.begin(), tokens.end(),
                     [](const code::Token& token) { return token.kind == code::Token::kComment; }),
      tokens.end());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool attribute = i > 0 && tokens[i - 1].text == ".";
    const bool own = tokens[i].kind == code::Token::kName && tokens[i].text == kernel.name();
    if (own && !attribute) tokens[i].text = "name";
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

// Says whether two tokens are one number, as 0. and 0.0 are.
bool IsSameNumber(const code::Token& a, const code::Token& b) {
  double x = 0, y = 0;
  return a.kind == code::Token::kNumber && b.kind == code::Token::kNumber &&
         absl::SimpleAtod(a.text, &x) && absl::SimpleAtod(b.text, &y) && x == y &&
         absl::StrContains(a.text, '.') == absl::StrContains(b.text, '.');
}

bool SameTokens(const std::vector<code::Token>& a, const std::vector<code::Token>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const code::Token& x, const code::Token& y) {
                      return x.text == y.text || IsSameNumber(x, y);
                    });
}

// Returns the tokens from the function itself on, without the lines above it.
std::vector<code::Token> FromFunction(const std::vector<code::Token>& tokens) {
  const auto def = std::find_if(tokens.begin(), tokens.end(), [](const code::Token& token) {
    return token.begins_statement && (token.text == "def" || token.text == "async");
  });
  return {def, tokens.end()};
}

// Returns by how much a token changes the depth of brackets.
int GetNesting(absl::string_view text) {
  if (text == "(" || text == "[" || text == "{") return 1;
  return text == ")" || text == "]" || text == "}" ? -1 : 0;
}

// Returns the tokens of the bracket that begins at `at`, to its end.
std::vector<code::Token> ReadBracket(const std::vector<code::Token>& tokens, size_t at) {
  std::vector<code::Token> inside;
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    depth += GetNesting(tokens[at].text);
    inside.push_back(tokens[at]);
    if (depth == 0) break;
  }
  return inside;
}

// Appends the loops of a comprehension, from its first "for" at `at` to the bracket that ends it.
void AppendLoops(const std::vector<code::Token>& tokens, size_t at,
                 std::vector<code::Token>& found) {
  if (at >= tokens.size() || tokens[at].text != "for") return;
  for (int depth = 0; at < tokens.size(); ++at) {
    depth += GetNesting(tokens[at].text);
    if (depth < 0) break;
    found.push_back(tokens[at]);
  }
}

// Returns the configurations among the lines above a function: each Config(...) with the loops over
// it, or else the names that they come from.
std::vector<code::Token> ReadConfigurations(const std::vector<code::Token>& tokens, bool calls) {
  std::vector<code::Token> found;
  for (size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (tokens[at].text == "def") break;
    if (calls && tokens[at].text == "Config" && tokens[at + 1].text == "(") {
      const std::vector<code::Token> inside = ReadBracket(tokens, at + 1);
      found.insert(found.end(), inside.begin(), inside.end());
      AppendLoops(tokens, at + 1 + inside.size(), found);
    }
    if (!calls && absl::StrContains(absl::AsciiStrToLower(tokens[at].text), "config")) {
      found.push_back(tokens[at]);
    }
  }
  return found;
}

// Says whether the configurations of two versions differ, and not only what surrounds them.
bool HaveOtherConfigurations(const std::vector<code::Token>& a, const std::vector<code::Token>& b) {
  const std::vector<code::Token> calls_a = ReadConfigurations(a, true);
  const std::vector<code::Token> calls_b = ReadConfigurations(b, true);
  if (!SameTokens(calls_a, calls_b)) return true;
  return calls_a.empty() && !SameTokens(ReadConfigurations(a, false), ReadConfigurations(b, false));
}

// Returns the names of the parameters of a Python function.
std::vector<absl::string_view> ReadParameters(const std::vector<code::Token>& function) {
  std::vector<absl::string_view> names;
  const auto open = std::find_if(function.begin(), function.end(),
                                 [](const code::Token& token) { return token.text == "("; });
  const std::vector<code::Token> inside =
      ReadBracket(function, static_cast<size_t>(open - function.begin()));
  int depth = 0;
  for (size_t at = 0; at + 1 < inside.size(); ++at) {
    depth += GetNesting(inside[at].text);
    const bool begins = at == 0 || (depth == 1 && inside[at].text == ",");
    if (begins && inside[at + 1].kind == code::Token::kName) names.push_back(inside[at + 1].text);
  }
  return names;
}

bool HasAll(const std::vector<absl::string_view>& names,
            const std::vector<absl::string_view>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](absl::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

// Returns the name that a token has, or that a string has within its quotes; empty if it has none.
absl::string_view ReadName(const code::Token& token) {
  if (token.kind == code::Token::kName) return token.text;
  const absl::string_view text = token.text;
  if (token.kind != code::Token::kString || text.size() < 3) return "";
  const absl::string_view inside = text.substr(1, text.size() - 2);
  return std::all_of(inside.begin(), inside.end(), IsWordByte) ? inside : "";
}

// Says whether a token is a name that a function may choose: no attribute and nothing that is
// called.
bool IsOwnName(const std::vector<code::Token>& tokens, size_t at) {
  if (ReadName(tokens[at]).empty() || (at > 0 && tokens[at - 1].text == ".")) return false;
  return at + 1 == tokens.size() || tokens[at + 1].text != "(";
}

// Says whether the name at the head of a statement is assigned to.
bool IsTarget(const std::vector<code::Token>& tokens, size_t at) {
  if (at + 1 == tokens.size()) return false;
  const absl::string_view next = tokens[at + 1].text;
  const bool compares = next == "==" || next == "<=" || next == ">=" || next == "!=";
  return next == "," || (absl::EndsWith(next, "=") && !compares);
}

// Returns the names that a Python function gives to its parameters and variables.
absl::flat_hash_set<absl::string_view> ReadBoundNames(const std::vector<code::Token>& function) {
  const std::vector<absl::string_view> parameters = ReadParameters(function);
  absl::flat_hash_set<absl::string_view> names(parameters.begin(), parameters.end());
  for (size_t at = 0; at < function.size(); ++at) {
    const bool loop = at > 0 && function[at - 1].text == "for";
    const bool target = function[at].begins_statement && IsTarget(function, at);
    if (target || loop) names.insert(function[at].text);
  }
  return names;
}

// Says whether two texts differ only in the names of parameters and variables. A name must have the
// same counterpart everywhere.
bool DifferInNames(const std::vector<code::Token>& a, const std::vector<code::Token>& b) {
  if (a.size() != b.size()) return false;
  const absl::flat_hash_set<absl::string_view> bound = ReadBoundNames(FromFunction(a));
  std::map<absl::string_view, absl::string_view> there, back;
  for (size_t at = 0; at < a.size(); ++at) {
    const bool names = IsOwnName(a, at) && IsOwnName(b, at) && a[at].kind == b[at].kind;
    if (!names) {
      if (a[at].text != b[at].text && !IsSameNumber(a[at], b[at])) return false;
      continue;
    }
    const absl::string_view x = ReadName(a[at]), y = ReadName(b[at]);
    if (!bound.contains(x) && !absl::EqualsIgnoreCase(x, y)) return false;
    if (there.try_emplace(x, y).first->second != y) return false;
    if (back.try_emplace(y, x).first->second != x) return false;
  }
  return true;
}

// The code of a change without comments and layout: all of it, and the functions alone, which are
// empty in C.
struct Code {
  explicit Code(const v1::Kernel& kernel)
      : all(WithoutLayout(ReadTokens(kernel))),
        function(dsl::IsC(kernel.dsl()) ? std::vector<code::Token>() : FromFunction(all)) {}

  std::vector<code::Token> all;
  std::vector<code::Token> function;
};

// Judges by the texts what no message can change: nothing is done by them, or only configurations.
ChangeKind JudgeForm(const v1::Kernel& before, const Code& a, const Code& b) {
  if (SameTokens(a.all, b.all)) return {kRefactoring, {"rule: only comments, layout or the name"}};
  if (dsl::IsC(before.dsl())) return {kUnknown, {}};
  if (DifferInNames(a.all, b.all)) return {kRefactoring, {"rule: only names"}};
  if (!a.function.empty() && SameTokens(a.function, b.function) &&
      HaveOtherConfigurations(a.all, b.all)) {
    return {kTuning, {"rule: only the configurations above the function"}};
  }
  return {kUnknown, {}};
}

// How often each text is in one version and not in the other.
using TextCounts = std::map<absl::string_view, int>;

TextCounts CountMore(const std::vector<code::Token>& tokens, const std::vector<code::Token>& than) {
  TextCounts counts;
  for (const code::Token& token : tokens) ++counts[token.text];
  for (const code::Token& token : than) --counts[token.text];
  for (auto at = counts.begin(); at != counts.end();) {
    at = at->second > 0 ? std::next(at) : counts.erase(at);
  }
  return counts;
}

int GetTotal(const TextCounts& counts) {
  int total = 0;
  for (const auto& [text, count] : counts) total += count;
  return total;
}

bool HasAny(const TextCounts& counts, absl::Span<const absl::string_view> texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](absl::string_view text) { return counts.count(text) > 0; });
}

// Says whether `part` is `whole` without some of its tokens.
bool IsPart(const std::vector<code::Token>& part, const std::vector<code::Token>& whole) {
  size_t found = 0;
  for (const code::Token& token : whole) {
    if (found < part.size() && part[found].text == token.text) ++found;
  }
  return found == part.size();
}

// Says whether a change is a small one of masks, casts and bounds: it adds or removes such a word
// or sign, and no name that the version before does not have.
bool IsGuard(const Code& before, const TextCounts& more, const TextCounts& less) {
  constexpr int kMost = 24;  // tokens
  constexpr absl::string_view kGuards[] = {
      "mask", "other",   "to",    "cast",    "int64",   "float32", "and",   "or",        "&",
      "|",    "minimum", "where", "maximum", "float64", "clamp",   "dtype", "element_ty"};
  if (!HasAny(more, kGuards) && !HasAny(less, kGuards)) return false;
  if (GetTotal(more) + GetTotal(less) > kMost) return false;
  absl::flat_hash_set<absl::string_view> known(std::begin(kGuards), std::end(kGuards));
  known.insert({"tl", "gl", "dtype", "element_ty"});
  for (const code::Token& token : before.all) known.insert(token.text);
  return std::all_of(more.begin(), more.end(), [&](const auto& each) {
    return known.contains(each.first) || !absl::ascii_isalpha(each.first[0]);
  });
}

// Judges by what the texts differ in, if the message says nothing.
ChangeKind JudgeDifference(const Code& a, const Code& b, bool is_new) {
  if (is_new) return {kFeature, {"rule: a kernel made from another one"}};
  const TextCounts more = CountMore(b.all, a.all), less = CountMore(a.all, b.all);
  const std::vector<absl::string_view> old = ReadParameters(a.function),
                                       now = ReadParameters(b.function);
  if (now.size() > old.size()) return {kFeature, {"rule: more parameters"}};
  if (IsPart(b.all, a.all)) {
    const bool specialized = less.size() > 1 && less.count("constexpr") > 0 && old == now;
    if (specialized) return {kSpeed, {"rule: fewer compile-time parameters"}};
    return {kRefactoring, {"rule: only less"}};
  }
  if (HasAny(more, {"if", "elif"})) return {kFeature, {"rule: a new branch"}};
  if (IsGuard(a, more, less)) return {kFix, {"rule: only masks, casts or bounds"}};
  if (IsPart(a.all, b.all)) return {kFeature, {"rule: only more"}};
  return {kUnknown, {}};
}

// Says whether a function gets parameters and loses none.
bool HasNewParameters(const v1::Kernel& before, const v1::Kernel& after, const Code& a,
                      const Code& b) {
  const std::vector<absl::string_view> old = ReadParameters(a.function),
                                       now = ReadParameters(b.function);
  return before.name() == after.name() && HasAll(now, old) && !HasAll(old, now);
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

// Judges by the subject alone: a label of it, and then its words. The first word says what the
// commit does, and the others what to, or what for: it counts twice, except one such as "Add".
ChangeKind JudgeSubject(absl::string_view subject) {
  ChangeKind label = ReadLabel(subject);
  if (label.kind != kUnknown && label.kind != kRefactoring) return label;
  const absl::string_view text = WithoutLabels(subject);
  Votes first = CountWords(text.substr(0, text.find(' ')));
  constexpr absl::string_view kWeakFirst[] = {"add", "adds", "added", "adding", "new"};
  for (const absl::string_view weak : kWeakFirst) {
    if (absl::EqualsIgnoreCase(text.substr(0, text.find(' ')), weak)) first = {};
  }
  ChangeKind words = Decide(CountWords(text), first);
  return words.kind != kUnknown ? words : label;
}

// Judges by the message's first paragraph. It also names additions and cleanups on the way, so
// those words do not count.
ChangeKind JudgeBody(absl::string_view details) {
  Votes votes = CountWords(FindFirstParagraph(details));
  votes[KindNumber(kRefactoring)].clear();
  votes[KindNumber(kFeature)].clear();
  return Decide(std::move(votes));
}

}  // namespace

ChangeKind JudgeKind(absl::string_view message, const v1::Kernel& before, const v1::Kernel& after,
                     bool is_new) {
  const auto [subject, details] = ReadCommitMessage(message);
  ChangeKind revert = {kRevert, {subject.substr(0, 80)}};
  if (SaysRevert(subject)) return revert;
  const Code a(before), b(after);
  ChangeKind form = JudgeForm(before, a, b);
  if (form.kind == kRefactoring) return form;
  ChangeKind said = JudgeSubject(subject);
  if (form.kind == kTuning && said.kind != kFix && said.kind != kRefactoring) return form;
  if (said.kind != kUnknown) return said;
  if (absl::StrContains(FindFirstParagraph(details), "This reverts commit")) return revert;
  if (form.kind != kUnknown) return form;
  if (HasNewParameters(before, after, a, b)) return {kFeature, {"rule: new parameters"}};
  ChangeKind body = JudgeBody(details);
  if (body.kind != kUnknown) return body;
  ChangeKind weak = Decide(CountWords(subject, kWeakWords));
  if (weak.kind != kUnknown || dsl::IsC(before.dsl())) return weak;
  return JudgeDifference(a, b, is_new);
}

}  // namespace kernelmill::extractor
