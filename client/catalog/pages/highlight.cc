// Code as HTML. The basic idea: the lexer gives stretches of the text with a class, ascending and
// without overlaps. Lines are then written one after the other, with a position in the stretches
// that only moves forward: linear time. A stretch over several lines, such as a docstring, becomes
// one element in each line, because each line is an element of its own.

#include "client/catalog/pages/highlight.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/code/line_index.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

using code::Token;
using WordSet = absl::flat_hash_set<absl::string_view>;

// Never deleted: destructors of static objects could run while another thread still uses them.
const WordSet& Keywords(code::Language language) {
  static const auto* const kPython =
      new WordSet{"and",    "as",   "assert", "async",  "await",  "break",   "class",    "continue",
                  "def",    "del",  "elif",   "else",   "except", "finally", "for",      "from",
                  "global", "if",   "import", "in",     "is",     "lambda",  "nonlocal", "not",
                  "or",     "pass", "raise",  "return", "try",    "while",   "with",     "yield"};
  static const auto* const kC = new WordSet{"auto",
                                            "bool",
                                            "break",
                                            "case",
                                            "char",
                                            "class",
                                            "const",
                                            "constexpr",
                                            "continue",
                                            "default",
                                            "do",
                                            "double",
                                            "else",
                                            "enum",
                                            "extern",
                                            "float",
                                            "for",
                                            "goto",
                                            "if",
                                            "inline",
                                            "int",
                                            "long",
                                            "namespace",
                                            "operator",
                                            "return",
                                            "short",
                                            "signed",
                                            "sizeof",
                                            "static",
                                            "struct",
                                            "switch",
                                            "template",
                                            "typedef",
                                            "typename",
                                            "union",
                                            "unsigned",
                                            "using",
                                            "void",
                                            "volatile",
                                            "while",
                                            "__global__",
                                            "__device__",
                                            "__shared__",
                                            "__restrict__",
                                            "__host__",
                                            "__launch_bounds__",
                                            "__forceinline__",
                                            "half"};
  return language == code::Language::kC ? *kC : *kPython;
}

bool IsConstant(absl::string_view name) {
  return name == "True" || name == "False" || name == "None" || name == "true" || name == "false" ||
         name == "nullptr";
}

// A stretch of the text with its class; "": none.
struct Stretch {
  size_t begin = 0;
  size_t end = 0;
  const char* kind = "";
};

// Returns the class of the name at token i. A name before a bracket is a called function.
const char* KindOfName(const std::vector<Token>& tokens, size_t i, code::Language language) {
  if (Keywords(language).contains(tokens[i].text)) return "k";
  if (IsConstant(tokens[i].text)) return "b";
  return i + 1 < tokens.size() && tokens[i + 1].text == "(" ? "f" : "";
}

// Returns the index after a decorator's dotted name. `at` is its '@'.
// A decorator's arguments are ordinary code.
size_t EndOfDecorator(const std::vector<Token>& tokens, size_t at) {
  size_t i = at + 1;
  while (i < tokens.size() && !tokens[i].begins_statement &&
         (tokens[i].kind == Token::kName || tokens[i].text == ".")) {
    ++i;
  }
  return i;
}

// Returns the stretches with a class, ascending and without overlaps. Text without a class has no
// stretch.
std::vector<Stretch> Stretches(absl::string_view text, code::Language language) {
  const std::vector<Token> tokens = code::Lex(text, language);
  std::vector<Stretch> stretches;
  const auto add = [&](size_t first, size_t last, const char* kind) {
    if (*kind == '\0') return;
    const absl::string_view end = tokens[last].text;
    stretches.push_back({static_cast<size_t>(tokens[first].text.data() - text.data()),
                         static_cast<size_t>(end.data() - text.data()) + end.size(), kind});
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.text == "@" && token.begins_statement) {
      const size_t end = EndOfDecorator(tokens, i);
      add(i, end - 1, "d");
      i = end - 1;
      continue;
    }
    switch (token.kind) {
      case Token::kName:
        add(i, i, KindOfName(tokens, i, language));
        break;
      case Token::kNumber:
        add(i, i, "n1");
        break;
      case Token::kString:
        add(i, i, "s");
        break;
      case Token::kComment:
        add(i, i, "c");
        break;
      case Token::kOperator:
        break;
    }
  }
  return stretches;
}

// Returns the HTML of the text from `begin` to `end`, with the stretches from `*next` on. Moves
// `*next` to the first stretch that does not end there.
std::string Line(absl::string_view text, size_t begin, size_t end,
                 const std::vector<Stretch>& stretches, size_t* next) {
  std::string html;
  size_t at = begin;
  while (at < end) {
    // Each step writes up to the next border: the end of the stretch here, the begin of the next
    // one, or the end of the line.
    while (*next < stretches.size() && stretches[*next].end <= at) ++*next;
    const bool inside = *next < stretches.size() && stretches[*next].begin <= at;
    size_t until = end;
    if (*next < stretches.size()) {
      until = std::min(end, inside ? stretches[*next].end : stretches[*next].begin);
    }
    const std::string code = HtmlCode(text.substr(at, until - at));
    if (inside) {
      absl::StrAppend(&html, "<span class=\"", stretches[*next].kind, "\">", code, "</span>");
    } else {
      html += code;
    }
    at = until;
  }
  return html;
}

}  // namespace

HighlightedCode HighlightCode(absl::string_view text, code::Language language, int first_line,
                              bool anchors, size_t max_bytes) {
  const std::vector<Stretch> stretches = Stretches(text, language);
  const LineIndex lines(text);
  HighlightedCode code;
  size_t next = 0;
  for (int i = 1; i <= lines.count(); ++i) {
    const size_t begin = lines.Begin(i);
    absl::string_view line = text.substr(begin, lines.End(i) - begin);
    if (line.empty()) break;  // after the last line end
    const bool newline = absl::ConsumeSuffix(&line, "\n");
    const bool ends = absl::ConsumeSuffix(&line, "\r") || newline;
    const int number = first_line + i - 1;
    const std::string html = absl::StrCat(
        "<span class=\"l\"", anchors ? absl::StrCat(" id=\"L", number, "\"") : "",
        "><span class=\"n\" aria-hidden=\"true\" data-n=\"", number, "\"></span>",
        Line(text, begin, begin + line.size(), stretches, &next), ends ? "\n" : "", "</span>");
    // Whole lines only: an element cut in the middle would break the page.
    if (code.html.size() + html.size() > max_bytes) {
      code.cut = true;
      break;
    }
    code.html += html;
    ++code.lines;
  }
  return code;
}

}  // namespace kernelmill::client
