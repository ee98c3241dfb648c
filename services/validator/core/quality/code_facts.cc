// Reads Python by tokens with a stack of open brackets. When a bracket closes, its call is
// complete: the name before it, the number of positional arguments and the keywords. A real parser
// would refuse broken code, and kernels with a syntax error get a verdict too.
#include "services/validator/core/quality/code_facts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/code/brackets.h"
#include "common/code/lexer.h"

namespace kernelmill::validator {
namespace {

// Returns whether a call belongs to Triton's or Gluon's language, by its usual names in imports.
bool IsLanguage(absl::string_view callee) {
  const absl::string_view first = FirstPart(callee);
  return first == "tl" || first == "gl" || first == "ttgl" || first == "triton" ||
         first == "language";
}

bool HasKeyword(const Call& call, absl::string_view keyword) {
  return std::find(call.keywords.begin(), call.keywords.end(), keyword) != call.keywords.end();
}

// Returns whether the mask is given by position: load(pointer, mask), store(pointer, value, mask),
// atomic_add(pointer, value, mask).
bool HasPositionalMask(const Call& call) {
  if (!IsLanguage(call.callee)) return false;
  const absl::string_view last = LastPart(call.callee);
  if (last == "load") return call.positional >= 2;
  if (last == "store") return call.positional >= 3;
  return absl::StartsWith(last, "atomic_") && last != "atomic_cas" && call.positional >= 3;
}

}  // namespace

bool IsDescriptorAccess(absl::string_view dotted) {
  return absl::StrContains(dotted, "tensor_descriptor") ||
         absl::StrContains(dotted, "descriptor_load") ||
         absl::StrContains(dotted, "descriptor_store") || absl::StrContains(dotted, ".tma.") ||
         absl::StartsWith(dotted, "tma.");
}

bool IsMasked(const Call& call) {
  return HasKeyword(call, "mask") || HasKeyword(call, "boundary_check") || HasPositionalMask(call);
}

// Counts loads and stores of Triton's and Gluon's language, and how many of them have a mask or go
// through a descriptor, whose bounds the hardware checks. An atomic counts as a store.
v1::MaskCoverage CoverMasks(const CodeFacts& code) {
  v1::MaskCoverage coverage;
  for (const Call& call : code.calls) {
    if (!IsLanguage(call.callee)) continue;
    const absl::string_view last = LastPart(call.callee);
    const bool masked = IsDescriptorAccess(call.callee) || IsMasked(call);
    if (last == "load" || last == "buffer_load" || absl::EndsWith(last, "descriptor_load")) {
      coverage.set_loads(coverage.loads() + 1);
      coverage.set_masked_loads(coverage.masked_loads() + (masked ? 1 : 0));
    }
    if (last == "store" || last == "buffer_store" || absl::EndsWith(last, "descriptor_store") ||
        absl::StartsWith(last, "atomic_")) {
      coverage.set_stores(coverage.stores() + 1);
      coverage.set_masked_stores(coverage.masked_stores() + (masked ? 1 : 0));
    }
  }
  return coverage;
}

// Returns whether an if, for or while compares the order of two values in its parentheses. Such a
// comparison is how CUDA code stays within bounds.
bool IsGuarded(absl::string_view c_code) {
  bool branches = false;  // within the parentheses of an if, a for or a while
  int depth = 0;
  for (const code::Token& token : code::Lex(c_code, code::Language::kC)) {
    const absl::string_view text = token.text;
    if (token.kind == code::Token::kName && depth == 0) {
      branches = text == "if" || text == "for" || text == "while";
    } else if (token.kind == code::Token::kOperator && branches) {
      if (text == "(") ++depth;
      if (text == ")" && --depth <= 0) branches = false;
      if (depth < 0) depth = 0;
      if (text == "<" || text == ">" || text == "<=" || text == ">=") return true;
    }
  }
  return false;
}

namespace {

using code::Token;

// Longer dotted names are cut. Nothing that is looked for has as many parts.
constexpr int kMaxDottedParts = 16;

bool IsOperator(const std::vector<Token>& tokens, size_t i, absl::string_view text) {
  return i < tokens.size() && tokens[i].kind == Token::kOperator && tokens[i].text == text;
}

bool IsName(const std::vector<Token>& tokens, size_t i) {
  return i < tokens.size() && tokens[i].kind == Token::kName;
}

// Returns the dotted name before token `open`, a parenthesis; empty if there is no name or if it is
// being defined there.
std::string CalleeBefore(const std::vector<Token>& tokens, size_t open) {
  if (open == 0 || !IsName(tokens, open - 1)) return "";
  size_t first = open - 1;
  for (int parts = 1; parts < kMaxDottedParts; ++parts) {
    if (first < 2 || !IsOperator(tokens, first - 1, ".") || !IsName(tokens, first - 2)) break;
    first -= 2;
  }
  if (first > 0 && (tokens[first - 1].text == "def" || tokens[first - 1].text == "class"))
    return "";
  std::string callee;
  for (size_t i = first; i < open; ++i) absl::StrAppend(&callee, tokens[i].text);
  return callee;
}

// Returns whether a call of this name is given the shape of a tile.
bool ShapesTile(absl::string_view callee) {
  static constexpr const char* kNames[] = {"arange",
                                           "zeros",
                                           "ones",
                                           "full",
                                           "empty",
                                           "make_block_ptr",
                                           "make_tensor_descriptor",
                                           "make_tensor_ptr",
                                           "reshape",
                                           "view",
                                           "broadcast_to",
                                           "allocate_shared_memory",
                                           "local_alloc"};
  return absl::c_linear_search(kNames, LastPart(callee));
}

// Returns the name that `constexpr` at token `i` is about: "N: tl.constexpr", "N =
// tl.constexpr(4)".
absl::string_view SaidConstexpr(const std::vector<Token>& tokens, size_t i) {
  for (int parts = 1; parts < kMaxDottedParts; ++parts) {
    if (i < 2 || !IsOperator(tokens, i - 1, ".") || !IsName(tokens, i - 2)) break;
    i -= 2;
  }
  if (i < 2 || !IsName(tokens, i - 2)) return "";
  const bool said = IsOperator(tokens, i - 1, ":") || IsOperator(tokens, i - 1, "=");
  return said ? tokens[i - 2].text : "";
}

// An open bracket and its content so far.
struct Frame {
  Call call;              // callee empty: not a call
  bool tile = false;      // a call that shapes a tile, or within one
  bool argument = false;  // the current argument is not empty
  bool keyword = false;   // the current argument has a keyword

  void EndArgument() {
    if (argument && !keyword) ++call.positional;
    argument = keyword = false;
  }
};

std::vector<std::string> SortedOnce(std::vector<absl::string_view> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return {names.begin(), names.end()};
}

class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  CodeFacts Read() {
    for (size_t i = 0; i < tokens_.size(); ++i) ReadToken(i);
    while (!frames_.empty()) Close();
    facts_.names = SortedOnce(std::move(names_));
    facts_.tile_names = SortedOnce(std::move(tile_names_));
    facts_.constexpr_names = SortedOnce(std::move(constexpr_names_));
    return std::move(facts_);
  }

 private:
  // Opens or closes a bracket, or adds the token to the current argument.
  void ReadToken(size_t i) {
    const Token& token = tokens_[i];
    if (token.kind == Token::kName) ReadName(i);
    const char c = token.kind == Token::kOperator && token.text.size() == 1 ? token.text[0] : '\0';
    if (code::IsClosingBracket(c)) {
      if (!frames_.empty()) Close();
      return;
    }
    if (c == ',' && !frames_.empty()) {
      frames_.back().EndArgument();
      return;
    }
    if (!frames_.empty()) NoteArgument(i);
    if (code::IsOpeningBracket(c)) {
      const bool inside = !frames_.empty() && frames_.back().tile;
      frames_.emplace_back();
      if (c == '(') frames_.back().call.callee = CalleeBefore(tokens_, i);
      frames_.back().tile = inside || ShapesTile(frames_.back().call.callee);
    }
  }

  void ReadName(size_t i) {
    const absl::string_view name = tokens_[i].text;
    names_.push_back(name);
    if (!frames_.empty() && frames_.back().tile) tile_names_.push_back(name);
    if (name != "constexpr") return;
    const absl::string_view said = SaidConstexpr(tokens_, i);
    if (!said.empty()) constexpr_names_.push_back(said);
  }

  // Notes that the current argument has a token; "name =" at its beginning is a keyword.
  void NoteArgument(size_t i) {
    Frame& frame = frames_.back();
    if (!frame.argument && IsName(tokens_, i) && IsOperator(tokens_, i + 1, "=")) {
      frame.keyword = true;
      if (!frame.call.callee.empty()) frame.call.keywords.emplace_back(tokens_[i].text);
    }
    frame.argument = true;
  }

  void Close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    frame.EndArgument();
    if (!frame.call.callee.empty()) facts_.calls.push_back(std::move(frame.call));
  }

  const std::vector<Token> tokens_;
  // Parts of the code, as often as it has them.
  std::vector<absl::string_view> names_;
  std::vector<absl::string_view> tile_names_;
  std::vector<absl::string_view> constexpr_names_;
  std::vector<Frame> frames_;
  CodeFacts facts_;
};

}  // namespace

CodeFacts ReadCode(absl::string_view code) {
  std::vector<Token> tokens = code::Lex(code, code::Language::kPython);
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(),
                              [](const Token& token) { return token.kind == Token::kComment; }),
               tokens.end());
  return Reader(std::move(tokens)).Read();
}

}  // namespace kernelmill::validator
