#include "services/extractor/core/history/text_evidence.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "common/code/bytes.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"

namespace kernelmill::extractor {
namespace {

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
  return std::all_of(inside.begin(), inside.end(), code::IsNameByte) ? inside : "";
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

// Says whether words are replaced one for one: names, numbers and attributes.
bool DifferInWords(const Code& a, const Code& b, const TextCounts& more, const TextCounts& less) {
  const auto word = [](const auto& each) {
    return code::IsNameByte(each.first[0]) || each.first == "." || each.first == "=";
  };
  return a.all.size() == b.all.size() && !more.empty() &&
         std::all_of(more.begin(), more.end(), word) && std::all_of(less.begin(), less.end(), word);
}

// Says what differs in the parameters of a Python function; empty if nothing counts.
absl::string_view CompareParameters(const Code& a, const Code& b) {
  const std::vector<absl::string_view> old = ReadParameters(a.function),
                                       now = ReadParameters(b.function);
  const bool keeps = HasAll(now, old), adds = !HasAll(old, now);
  if (adds && keeps) return "new parameters";
  if (adds && now.size() > old.size()) return "more and other parameters";
  return keeps || adds ? "" : "fewer parameters";
}

// A difference that words or signs show which only the version after has.
struct Marks {
  absl::string_view difference;
  std::vector<absl::string_view> texts;
};

const std::vector<Marks>& GetMarks() {
  static const auto& marks = *new std::vector<Marks>{
      {"a new branch", {"if", "elif", "else"}},
      {"a new barrier",
       {"debug_barrier", "fence", "syncthreads", "__syncthreads", "barrier", "fence_async_shared"}},
      {"a new mask", {"mask", "other", "boundary_check"}},
      {"a new cast", {"to", "cast", "astype"}},
      {"a new int64", {"int64", "uint64"}},
      {"a new condition", {"<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "&", "|"}},
      {"a new hint for speed",
       {"eviction_policy", "cache_modifier", "multiple_of", "max_contiguous", "num_stages",
        "num_warps", "exp2", "allow_tf32", "input_precision", "assume", "unroll", "static_range",
        "loop_unroll_factor", "warp_specialize", "pipeline", "disallow_acc_multi_buffer", "flatten",
        "approx"}},
      {"relaxed atomics", {"sem", "\"relaxed\"", "'relaxed'"}},
  };
  return marks;
}

// Returns what the tokens of two versions differ in.
std::vector<absl::string_view> FindDifferences(const Code& a, const Code& b, bool c) {
  const TextCounts more = CountMore(b.all, a.all), less = CountMore(a.all, b.all);
  std::vector<absl::string_view> out;
  if (!a.function.empty() && SameTokens(a.function, b.function)) {
    out.push_back("only above the function");
    if (HaveOtherConfigurations(a.all, b.all)) out.push_back("only configurations");
  }
  if (HaveOtherConfigurations(a.all, b.all)) out.push_back("other configurations");
  if (IsPart(b.all, a.all)) out.push_back("only less");
  if (DifferInWords(a, b, more, less)) out.push_back("words one for one");
  for (const Marks& marks : GetMarks()) {
    if (HasAny(more, marks.texts)) out.push_back(marks.difference);
  }
  if (c) return out;
  const absl::string_view parameters = CompareParameters(a, b);
  if (!parameters.empty()) out.push_back(parameters);
  const bool equally_many = ReadParameters(a.function).size() == ReadParameters(b.function).size();
  if (equally_many && less.count("constexpr") > 0) out.push_back("fewer compile-time parameters");
  return out;
}

}  // namespace

TextEvidence CompareTexts(const v1::Kernel& before, const v1::Kernel& after, bool is_new) {
  const Code a(before), b(after);
  const bool c = dsl::IsC(before.dsl());
  if (SameTokens(a.all, b.all)) return {"only comments, layout or the name", {}};
  if (!c && DifferInNames(a.all, b.all)) return {"only names", {}};
  TextEvidence out = {"", FindDifferences(a, b, c)};
  if (is_new) out.differences.push_back("a kernel made from another one");
  return out;
}

}  // namespace kernelmill::extractor
