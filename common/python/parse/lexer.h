#ifndef KERNELMILL_COMMON_PYTHON_PARSE_LEXER_H_
#define KERNELMILL_COMMON_PYTHON_PARSE_LEXER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

enum class Token : uint8_t {
  kUnknown,  // not for us: the text is left to another parser
  kEnd,
  kNewline,
  kName,
  kNumber,
  kString,  // prefix and opening quotes
  kEllipsis,
  // Punctuation.
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kComma,
  kColon,
  kSemicolon,
  kDot,
  kArrow,
  kWalrus,
  kAssign,
  kAugmentedAssign,
  kBang,
  kAt,
  kPlus,
  kMinus,
  kStar,
  kDoubleStar,
  kSlash,
  kDoubleSlash,
  kPercent,
  kPipe,
  kAmpersand,
  kCaret,
  kShiftLeft,
  kShiftRight,
  kTilde,
  kCompare,  // < <= == != >= >
  // Keywords. The last four are names as well.
  kAnd,
  kAs,
  kAssert,
  kAsync,
  kAwait,
  kBreak,
  kClass,
  kContinue,
  kDef,
  kDel,
  kElif,
  kElse,
  kExcept,
  kFalse,
  kFinally,
  kFor,
  kFrom,
  kGlobal,
  kIf,
  kImport,
  kIn,
  kIs,
  kLambda,
  kNone,
  kNonlocal,
  kNot,
  kOr,
  kPass,
  kRaise,
  kReturn,
  kTrue,
  kTry,
  kWhile,
  kWith,
  kYield,
  kExec,
  kMatch,
  kPrint,
  kType,
};

// A comment or a line continuation.
struct Extra {
  Kind kind;
  uint32_t start;
  uint32_t end;
  int indent;  // the indentation of a comment on a line of its own
};

// The tokens of a text, read one by one as the parser asks for them; the contents of an f-string's
// braces are tokens too. The parser also asks for each next line and its indentation. Owned by one
// parser; refers to the text.
class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  Token token() const { return token_; }
  uint32_t start() const { return start_; }
  uint32_t end() const { return end_; }
  // Comments and continuations before the token, since the parser last took them.
  std::vector<Extra>& extras() { return extras_; }

  // Reads the token at `at`. A newline is one outside brackets alone.
  void ReadAt(uint32_t at);
  void Next() { ReadAt(end_); }
  // Reads the first token of the next line that has one, and its indentation.
  void NextLine();
  int indent() const { return indent_; }

  // So many brackets are open; and, in them, whether newlines are not understood.
  void Open() { ++open_; }
  void Shut() { --open_; }
  void set_one_line(bool one_line) { one_line_ = one_line; }
  bool one_line() const { return one_line_; }
  // The indentation of the block: lines in brackets that begin left of it are not understood.
  void set_block_indent(int indent) { block_indent_ = indent; }

 private:
  char At(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  bool SkipBlanks(uint32_t& at);
  bool ReadContinuation(uint32_t& at);
  bool SkipLines(uint32_t& at);
  uint32_t AddComment(uint32_t at, int indent);
  void DropContinuations();
  void ReadWord(uint32_t at);
  void ReadNumber(uint32_t at);
  void ReadPunctuation(uint32_t at);
  void Set(Token token, uint32_t start, uint32_t end) {
    token_ = token;
    start_ = start;
    end_ = end;
  }

  const absl::string_view text_;
  Token token_ = Token::kUnknown;
  uint32_t start_ = 0;
  uint32_t end_ = 0;
  std::vector<Extra> extras_;
  int indent_ = 0;
  int block_indent_ = 0;
  int open_ = 0;
  bool one_line_ = false;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_PARSE_LEXER_H_
