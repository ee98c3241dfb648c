#include "common/python/parse/python_parser.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/python/parse/plain_parser.h"
#include "tree_sitter/parser.h"

extern "C" const TSLanguage* tree_sitter_python(void);

namespace kernelmill::python {

// How work is counted: tree-sitter has no hook for its steps, but its grammar is a table with two
// functions that it calls for the tokens that it tries, the lexer and the scanner of indentation
// and strings. Our copy of the table has functions that count and then call the grammar's own. They
// are plain functions without an argument for the budget, so that the budget of the running parse
// is a variable of the thread. Once it is spent, it sets the flag that tree-sitter looks at to be
// cancelled.

namespace {

class ParseBudget;
thread_local ParseBudget* current_budget = nullptr;

// How much work a parse may do, in calls of the lexer. A clock would end the same parse at another
// point on every machine; this count does not. While it lives, it is the budget of the parses of
// its thread; one at a time.
class ParseBudget {
 public:
  explicit ParseBudget(uint64_t work) : left_(work) { current_budget = this; }
  ~ParseBudget() { current_budget = nullptr; }
  ParseBudget(const ParseBudget&) = delete;
  ParseBudget& operator=(const ParseBudget&) = delete;

  void Spend(uint64_t work) {
    if (work < left_) {
      left_ -= work;
    } else {
      left_ = 0;
      stop_ = 1;
    }
  }
  bool spent() const { return stop_ != 0; }
  // For ts_parser_set_cancellation_flag: not zero once the budget is spent.
  const size_t* stop_flag() const { return &stop_; }

 private:
  uint64_t left_;
  size_t stop_ = 0;
};

void SpendOne() {
  if (current_budget != nullptr) current_budget->Spend(1);
}

bool CountedLex(TSLexer* lexer, TSStateId state) {
  SpendOne();
  return tree_sitter_python()->lex_fn(lexer, state);
}

bool CountedScan(void* scanner, TSLexer* lexer, const bool* valid_symbols) {
  SpendOne();
  return tree_sitter_python()->external_scanner.scan(scanner, lexer, valid_symbols);
}

// tree-sitter's Python, with every call of its lexer and scanner counted against the thread's
// budget. All threads share the copy, which is never freed.
const TSLanguage* CountedPython() {
  static const TSLanguage* counted = [] {
    auto* language = new TSLanguage(*tree_sitter_python());
    language->lex_fn = CountedLex;
    language->external_scanner.scan = CountedScan;
    return language;
  }();
  return counted;
}

struct ParserDeleter {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
struct TreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using ParserPtr = std::unique_ptr<TSParser, ParserDeleter>;
using TreePtr = std::unique_ptr<TSTree, TreeDeleter>;

// Walks a tree; frees its stack.
class Cursor {
 public:
  explicit Cursor(TSNode root) : cursor_(ts_tree_cursor_new(root)) {}
  ~Cursor() { ts_tree_cursor_delete(&cursor_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  TSNode node() const { return ts_tree_cursor_current_node(&cursor_); }
  TSFieldId field() const { return ts_tree_cursor_current_field_id(&cursor_); }
  bool ToFirstChild() { return ts_tree_cursor_goto_first_child(&cursor_); }
  bool ToNextSibling() { return ts_tree_cursor_goto_next_sibling(&cursor_); }
  bool ToParent() { return ts_tree_cursor_goto_parent(&cursor_); }

 private:
  TSTreeCursor cursor_;
};

// The core's kinds and fields by the grammar's numbers.
struct Vocabulary {
  std::vector<Kind> kinds;
  std::vector<Field> fields;

  // Literal tokens of the grammar, which have no name, are all kTokens.
  Vocabulary() {
    const TSLanguage* language = CountedPython();
    for (uint32_t symbol = 0; symbol < ts_language_symbol_count(language); ++symbol) {
      const auto id = static_cast<TSSymbol>(symbol);
      const bool named = ts_language_symbol_type(language, id) == TSSymbolTypeRegular;
      kinds.push_back(named ? KindNamed(ts_language_symbol_name(language, id)) : Kind::kToken);
    }
    fields.push_back(Field::kNone);
    for (uint32_t field = 1; field <= ts_language_field_count(language); ++field) {
      fields.push_back(
          FieldNamed(ts_language_field_name_for_id(language, static_cast<TSFieldId>(field))));
    }
  }

  // ERROR has a number beyond the grammar's.
  Kind GetKind(TSSymbol symbol) const {
    return symbol < kinds.size() ? kinds[symbol] : Kind::kError;
  }
};

const Vocabulary& PythonVocabulary() {
  static const auto& vocabulary = *new Vocabulary();
  return vocabulary;
}

// Text in pieces, so that reading it again and again is counted as well.
struct Pieces {
  static constexpr uint32_t kBytes = 4096;
  static constexpr uint64_t kWork = 256;
  absl::string_view text;
  ParseBudget* budget;

  static const char* Read(void* payload, uint32_t offset, TSPoint, uint32_t* size) {
    const auto* pieces = static_cast<const Pieces*>(payload);
    pieces->budget->Spend(kWork);
    const size_t left = offset < pieces->text.size() ? pieces->text.size() - offset : 0;
    *size = static_cast<uint32_t>(std::min<size_t>(left, kBytes));
    return left == 0 ? "" : pieces->text.data() + offset;
  }
};

// For TSParseOptions.progress_callback: ends the parse when every reading so far has an error. The
// whole text then has one.
bool NotesError(TSParseState* state) {
  *static_cast<bool*>(state->payload) = state->has_error;
  return state->has_error;
}

// How many bytes the grammar's scanner reads again on runs of line continuations, which it looks
// through to their end at each of them: that many times the lines, where it makes one token.
uint64_t BytesReadAgain(absl::string_view text) {
  uint64_t sum = 0;
  size_t at = text.find('\\');
  while (at != absl::string_view::npos) {
    const size_t begin = at;
    uint64_t lines = 0;
    for (;; ++lines) {
      const size_t end = text.substr(at, 2) == "\\\n"     ? at + 2
                         : text.substr(at, 3) == "\\\r\n" ? at + 3
                                                          : at;
      if (end == at) break;
      at = std::min(text.find_first_not_of(" \t", end), text.size());
    }
    sum += lines * (at - begin);
    at = text.find('\\', std::max(at, begin + 1));
  }
  return sum;
}

// Returns the nodes in pre-order. The walk is a loop, because a hostile text may nest deeper than
// the stack. The end of a subtree is set when the walk leaves it.
absl::StatusOr<std::vector<SyntaxNode>> Flatten(TSNode root, uint32_t max_nodes) {
  const Vocabulary& vocabulary = PythonVocabulary();
  std::vector<SyntaxNode> nodes;
  Cursor cursor(root);
  NodeId parent = kNoNode;
  for (;;) {
    const TSNode node = cursor.node();
    const auto id = static_cast<NodeId>(nodes.size());
    if (id >= max_nodes) return absl::ResourceExhaustedError("too_many_nodes");
    nodes.push_back({ts_node_start_byte(node), ts_node_end_byte(node), parent, id + 1,
                     vocabulary.GetKind(ts_node_symbol(node)), vocabulary.fields[cursor.field()],
                     ts_node_is_missing(node)});
    if (cursor.ToFirstChild()) {
      parent = id;
      continue;
    }
    while (!cursor.ToNextSibling()) {
      if (parent == kNoNode || !cursor.ToParent()) return nodes;
      nodes[parent].subtree_end = static_cast<NodeId>(nodes.size());
      parent = nodes[parent].parent;
    }
  }
}

}  // namespace

// Checks the bounds in this order: the length, the work on runs of line continuations, the calls of
// the lexer while tree-sitter runs, the nodes. They depend on the text alone. Only the timeout
// depends on the machine, and its error says so.
absl::StatusOr<SyntaxTree> StandardParser::Parse(absl::string_view text) const {
  if (text.size() > std::numeric_limits<uint32_t>::max() / 2) {
    return absl::ResourceExhaustedError("too_large");
  }
  if (options_.plain_first) {
    auto nodes = python::ParsePlain(text, options_.max_nodes);
    if (nodes) return SyntaxTree(text, *std::move(nodes), false);
  }
  const uint64_t work = options_.work + options_.work_per_byte * text.size();
  if (BytesReadAgain(text) > work) return absl::ResourceExhaustedError("parse_budget");
  ParserPtr parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), CountedPython())) {
    return absl::InternalError("the Python grammar does not fit the tree-sitter library");
  }
  ParseBudget budget(work);
  ts_parser_set_cancellation_flag(parser.get(), budget.stop_flag());
  ts_parser_set_timeout_micros(parser.get(),
                               static_cast<uint64_t>(absl::ToInt64Microseconds(options_.timeout)));
  Pieces pieces{text, &budget};
  TSInput input{};
  input.payload = &pieces;
  input.read = Pieces::Read;
  input.encoding = TSInputEncodingUTF8;
  bool has_error = false;
  TSParseOptions parse_options{};
  parse_options.payload = &has_error;
  if (options_.refuse_errors) parse_options.progress_callback = NotesError;
  TreePtr tree(ts_parser_parse_with_options(parser.get(), nullptr, input, parse_options));
  // A parse that ended on its last unit of work is refused too: the answer must not depend on when
  // the library looks at the flag.
  if (budget.spent()) return absl::ResourceExhaustedError("parse_budget");
  if (tree == nullptr && has_error) return absl::InvalidArgumentError("syntax_error");
  if (tree == nullptr) return absl::DeadlineExceededError("parsing took too long");
  const TSNode root = ts_tree_root_node(tree.get());
  if (options_.refuse_errors && ts_node_has_error(root)) {
    return absl::InvalidArgumentError("syntax_error");
  }
  auto nodes = Flatten(root, options_.max_nodes);
  if (!nodes.ok()) return std::move(nodes).status();
  return SyntaxTree(text, *std::move(nodes), ts_node_has_error(root));
}

}  // namespace kernelmill::python
