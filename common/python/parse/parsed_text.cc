#include "common/python/parse/parsed_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/code/bytes.h"
#include "common/code/python.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::python {

// clang-format off
// A file is read around its errors. tree-sitter recovers from many of them by itself. An unclosed
// bracket is the exception, because everything behind it is within the bracket:
//
//   x = f(a,
//   def g(): ...    would be lost; with a blank for the bracket g is read
// clang-format on

namespace {

bool BeginsDefinition(absl::string_view line) {
  line.remove_prefix(CountIndentation(line));
  if (absl::ConsumePrefix(&line, "async ")) line.remove_prefix(CountIndentation(line));
  return absl::StartsWith(line, "def ") || absl::StartsWith(line, "class ");
}

// Finds the brackets that are open at a line that begins a definition. Strings and comments are
// stepped over. The kinds of brackets are not compared: a closing one closes the last that is open.
class BracketScanner {
 public:
  explicit BracketScanner(absl::string_view text) : text_(text) {}

  // Offsets of the brackets to replace.
  std::vector<size_t> FindUnclosed() {
    size_t at = 0;
    while (at < text_.size()) {
      if ((at == 0 || text_[at - 1] == '\n') && BeginsDefinition(text_.substr(at, 256))) GiveUp();
      at = Step(at);
    }
    return unclosed_;
  }

 private:
  void GiveUp() {
    unclosed_.insert(unclosed_.end(), open_.begin(), open_.end());
    open_.clear();
  }

  // Takes one character, name, string or comment; returns the offset after it.
  size_t Step(size_t at) {
    if (code::IsNameByte(text_[at])) {
      const size_t end = code::EndOfName(text_, at);
      if (!code::IsQuote(code::ByteAt(text_, end))) return end;
      const auto prefix = code::ReadPythonPrefix(text_.substr(at, end - at));
      return prefix.has_value() ? code::EndOfPythonString(text_, end, *prefix) : end;
    }
    switch (text_[at]) {
      case '#':
        return std::min(text_.find('\n', at), text_.size());
      case '\'':
      case '"':
        return code::EndOfPythonString(text_, at, {});
      case '(':
      case '[':
      case '{':
        open_.push_back(at);
        return at + 1;
      case ')':
      case ']':
      case '}':
        if (!open_.empty()) open_.pop_back();
        return at + 1;
      default:
        return at + 1;
    }
  }

  absl::string_view text_;
  std::vector<size_t> open_;
  std::vector<size_t> unclosed_;
};

// Returns whether the last character of `before` that is not blank ends a value, so that no value
// has to follow; `otherwise` if all are blank.
bool EndsWithValue(absl::string_view before, bool otherwise) {
  const size_t last = before.find_last_not_of(" \t\r\n\\");
  if (last == absl::string_view::npos) return otherwise;
  const auto c = static_cast<unsigned char>(before[last]);
  return absl::ascii_isalnum(c) || c >= 0x80 ||
         absl::StrContains("_)]}'\"", before.substr(last, 1));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const ParsedText>> ParsedText::Parse(absl::string_view text,
                                                                    const PythonParser& parser,
                                                                    const Assumed& assumed) {
  std::unique_ptr<ParsedText> parsed(new ParsedText(text));
  ASSIGN_OR_RETURN(SyntaxTree tree, parsed->ParseTolerantly(parser));
  parsed->tree_.emplace(std::move(tree));
  parsed->imports_.emplace(*parsed->tree_);
  if (!assumed.empty()) parsed->Assume(assumed);
  parsed->calls_.emplace(*parsed->tree_, *parsed->imports_);
  return std::unique_ptr<const ParsedText>(std::move(parsed));
}

void ParsedText::Assume(const Assumed& assumed) {
  if (!imports_->wildcards().empty()) return;
  const Bindings bindings(*tree_);
  for (const auto& [name, origin] : assumed) {
    if (!bindings.BindsAnywhere(name)) imports_->Assume(name, origin);
  }
}

// Parses the text, and once more without unclosed brackets if it has errors. Both repairs replace
// bytes one for one, so that places in the tree are places in the text. The first parse tells
// whether there are errors and where: the second may hide them.
absl::StatusOr<SyntaxTree> ParsedText::ParseTolerantly(const PythonParser& parser) {
  copy_ = TextForParser(text_);
  ASSIGN_OR_RETURN(SyntaxTree tree, parser.Parse(copy_ ? absl::string_view(*copy_) : text_));
  has_errors_ = tree.has_errors();
  if (!has_errors_) return absl::StatusOr<SyntaxTree>(std::move(tree));
  for (NodeId node = 0; node < tree.size() && first_error_line_ == 0; ++node) {
    if (tree.GetKind(node) != Kind::kError && !tree[node].missing) continue;
    const size_t at = std::min<size_t>(tree[node].start, text_.size() - 1);
    first_error_line_ = lines_.LineAt(at);
  }
  std::optional<std::string> repaired = ReplaceUnclosedBrackets(tree.text());
  if (!repaired) return absl::StatusOr<SyntaxTree>(std::move(tree));
  copy_ = std::move(repaired);
  return parser.Parse(*copy_);
}

// A bracket after a value, as in `f(`, becomes a blank. After an operator it becomes a 0, so that
// the operator has its operand.
std::optional<std::string> ReplaceUnclosedBrackets(absl::string_view text) {
  const std::vector<size_t> unclosed = BracketScanner(text).FindUnclosed();
  if (unclosed.empty()) return std::nullopt;
  std::string copy(text);
  size_t begin = 0;
  for (const size_t at : unclosed) {
    // The bracket before this one was replaced, so that a value follows it in any case.
    copy[at] = EndsWithValue(text.substr(begin, at - begin), begin > 0) ? ' ' : '0';
    begin = at + 1;
  }
  return copy;
}

}  // namespace kernelmill::python
