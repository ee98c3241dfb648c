#ifndef KERNELMILL_COMMON_PYTHON_PARSE_PLAIN_PARSER_H_
#define KERNELMILL_COMMON_PYTHON_PARSE_PLAIN_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/parse/lexer.h"
#include "common/python/parse/tree_builder.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

// Returns the nodes of a text's tree, exactly as tree-sitter's Python has them, if the text is
// plain Python; nothing if it is not, or if this parser is not sure. Linear in the text.
//
// The basic idea: tree-sitter keeps all readings of a text alive until one of them fails, allocates
// each node, and so reads about 5 MB a second. Nearly all files are correct, and where Python is
// ambiguous a word or two ahead decide: this is a parser by recursive descent for those files.
// tree-sitter reads the rest: wrong text, `match` and `print` as statements, names that are not
// ASCII, and everything that would need a rule for the sake of a few files.
//
// Comments: tree-sitter has a comment below the smallest node that holds the token before it and
// the token after it. Nodes here are closed as soon as their last token is read, and comments
// before the next token are added only when that token begins a node.
std::optional<std::vector<SyntaxNode>> ParsePlain(absl::string_view text, size_t max_nodes);

// The recursive descent of ParsePlain, used for one text. Each function begins at the first token
// of the construct that it is named for and ends after the last. False: the text is not understood,
// and the parser cannot be used any more. plain_statements.cc and plain_expressions.cc have the
// rules.
class PlainParser {
 public:
  explicit PlainParser(absl::string_view text) : text_(text), lexer_(text), tree_(text.size()) {}

  bool Module();
  const TreeBuilder& tree() const { return tree_; }

 private:
  using Place = TreeBuilder::Place;

  // The beginning of a node: its place in the tree, and its first byte.
  struct Begin {
    Place place;
    uint32_t start;
  };

  // Bounds the recursion of one function; `ok` is false beyond.
  class Depth {
   public:
    explicit Depth(PlainParser& parser) : parser_(parser), ok(++parser.depth_ < kMaxDepth) {}
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    static constexpr int kMaxDepth = 200;
    PlainParser& parser_;

   public:
    const bool ok;
  };

  // Every function asks for these.
  Token token() const { return lexer_.token(); }
  bool Is(Token token) const { return lexer_.token() == token; }
  absl::string_view Word() const {
    return text_.substr(lexer_.start(), lexer_.end() - lexer_.start());
  }
  bool IsName() const { return Is(Token::kName) || lexer_.token() >= Token::kExec; }
  // Returns the beginning of a node whose first token is the next one.
  Begin Here() {
    if (!lexer_.extras().empty()) AddExtras();
    return {tree_.here(), lexer_.start()};
  }
  void Take(Kind kind = Kind::kToken, Field field = Field::kNone) {
    if (!lexer_.extras().empty()) AddExtras();
    tree_.AddLeaf(kind, lexer_.start(), lexer_.end(), field);
    end_ = lexer_.end();
    lexer_.Next();
  }
  void Close(Kind kind, Begin begin, Field field = Field::kNone) {
    tree_.Close(kind, begin.place, begin.start, end_, field);
  }

  // Tokens.
  void AddExtras();
  bool Expect(Token token);
  bool TakeName(Field field = Field::kNone);
  bool Opening();
  bool Closing(Token token);

  // Simple statements.
  bool Statement();
  bool CompoundStatement();
  bool SimpleStatements();
  bool SimpleStatement();
  bool EndOfLine();
  bool AtIndent() const { return lexer_.indent() == indents_.back(); }
  bool Keyword(Kind kind, bool (PlainParser::*operands)());
  bool Assert();
  bool Names();
  bool Raise();
  bool Yield();
  bool ExpressionStatement();
  bool Assignment(Begin begin);
  bool RightHandSide();
  bool ImportStatement();
  bool FromImport();
  bool RelativeModule();
  bool ImportList();
  bool ImportedName();
  bool DottedName(Field field);

  // Statements with blocks.
  bool Suite(Field field);
  void Dedent(int indent);
  bool If();
  bool Else();
  bool For();
  bool While();
  bool Try();
  bool Except();
  bool With();
  bool As(Begin begin);

  // Definitions and annotations.
  bool Decorated();
  bool Class();
  bool Function();
  bool Parameter(bool typed);
  bool SplatParameter(bool typed);
  bool ParameterList(Token end, bool typed);
  bool TypeElement() { return Type(Field::kNone); }
  bool Type(Field field);
  bool IsTypeName() const { return Is(Token::kName) || Is(Token::kType); }
  bool IsGeneric() const;
  bool IsGenericBeyondLine() const;
  bool GenericType();

  // Operators and lists.
  bool ExpressionList();
  bool ExpressionOrSplat() { return Is(Token::kStar) ? SplatName() : Expression(); }
  bool TargetList();
  bool Target();
  bool Expression();
  bool Condition();
  bool MoreOr(Begin begin);
  bool And();
  bool MoreAnd(Begin begin);
  bool Not();
  bool MoreComparison(Begin begin);
  bool ComparisonOperator();
  bool Binary(int least);
  bool MoreBinary(Begin begin, int least);
  bool Unary();
  bool AtOperandEnd() const;
  bool Splat();
  bool SplatName();
  bool SplatOfName() { return SplatName() && tree_.last_kind() == Kind::kListSplat; }
  bool FirstElement();

  // Operands.
  bool Postfix();
  bool Trailers(Begin begin);
  bool Atom();
  bool Lambda();
  bool Arguments(Begin call);
  bool Argument();
  bool Subscripts();
  bool Slice();
  bool InParentheses();
  bool InBrackets();
  bool InBraces();
  bool Pair();
  bool Comprehension();
  bool Elements(Token end, bool (PlainParser::*element)());
  bool Element() { return Is(Token::kStar) ? Splat() : Expression(); }
  bool DictionaryElement();

  // String literals.
  bool Strings();
  bool String();
  bool Interpolation(uint32_t at, Kind kind, char quote);
  bool FormatSpecifier(char quote);

  const absl::string_view text_;
  Lexer lexer_;
  TreeBuilder tree_;
  std::vector<int> indents_ = {0};
  uint32_t end_ = 0;  // the end of the last token taken, or of the extra after it
  int depth_ = 0;
  bool listed_ = false;    // the logical line has a list without brackets
  bool printing_ = false;  // the arguments are those of a name that begins with print
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_PARSE_PLAIN_PARSER_H_
