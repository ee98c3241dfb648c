#include "services/validator/core/quality/code_facts.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/code/brackets.h"
#include "common/code/lexer.h"

namespace kernelmill::validator {
namespace {

using code::Token;

constexpr int kMaxDottedParts = 16;

bool IsOperator(const std::vector<Token>& tokens, size_t i, absl::string_view text) {
  return i < tokens.size() && tokens[i].kind == Token::kOperator && tokens[i].text == text;
}

bool IsName(const std::vector<Token>& tokens, size_t i) {
  return i < tokens.size() && tokens[i].kind == Token::kName;
}

// The dotted name that ends before token `open`, a parenthesis; empty if none does or if it is
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

// Whether a call of this name is given the shape of a tile.
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

// The name that `constexpr` at token `i` is said of: "N: tl.constexpr", "N = tl.constexpr(4)".
absl::string_view SaidConstexpr(const std::vector<Token>& tokens, size_t i) {
  for (int parts = 1; parts < kMaxDottedParts; ++parts) {
    if (i < 2 || !IsOperator(tokens, i - 1, ".") || !IsName(tokens, i - 2)) break;
    i -= 2;
  }
  if (i < 2 || !IsName(tokens, i - 2)) return "";
  const bool said = IsOperator(tokens, i - 1, ":") || IsOperator(tokens, i - 1, "=");
  return said ? tokens[i - 2].text : "";
}

// An open bracket and what was seen in it so far.
struct Frame {
  Call call;              // callee empty: not a call
  bool tile = false;      // a call that shapes a tile, or within one
  bool argument = false;  // something stands in the argument that is being read
  bool keyword = false;   // and it has a keyword

  void EndArgument() {
    if (argument && !keyword) ++call.positional;
    argument = keyword = false;
  }
};

class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  CodeFacts Read() {
    for (size_t i = 0; i < tokens_.size(); ++i) ReadToken(i);
    while (!frames_.empty()) Close();
    facts_.names.assign(names_.begin(), names_.end());
    facts_.tile_names.assign(tile_names_.begin(), tile_names_.end());
    facts_.constexpr_names.assign(constexpr_names_.begin(), constexpr_names_.end());
    return std::move(facts_);
  }

 private:
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
    names_.emplace(name);
    if (!frames_.empty() && frames_.back().tile) tile_names_.emplace(name);
    if (name != "constexpr") return;
    const absl::string_view said = SaidConstexpr(tokens_, i);
    if (!said.empty()) constexpr_names_.emplace(said);
  }

  // "name =" at the beginning of an argument is a keyword.
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
  std::set<std::string> names_;
  std::set<std::string> tile_names_;
  std::set<std::string> constexpr_names_;
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
