#include "services/extractor/core/link/prompt_context.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/code/brackets.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/python/module_paths.h"
#include "services/extractor/core/link/statements.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;
using code::Token;

constexpr size_t kMaxSignature = 1000;  // bytes
constexpr size_t kMaxSummary = 120;
constexpr size_t kMaxField = 100;
constexpr size_t kMaxStatement = 400;
constexpr size_t kMaxStatementLines = 8;
constexpr size_t kMaxMembers = 32;

// Returns the colon outside brackets that ends the head of a function or class.
size_t FindEndOfHead(const Tokens& tokens, size_t at) {
  return code::FindOutsideBrackets(tokens, at, EndOfStatement(tokens, at), ":");
}

// Writes the tokens [begin, end) on one line: each run of blanks, comments and line ends between
// them becomes one blank, except that none is left after '(' and before ')'; a comma after the last
// parameter is dropped.
std::string OnOneLine(const Tokens& tokens, size_t begin, size_t end) {
  std::string line;
  int depth = 0;
  for (size_t at = begin; at < end; ++at) {
    const Token& token = tokens[at];
    const bool closes = code::IsClosingBracket(token.text);
    if (closes && depth == 1 && absl::EndsWith(line, ",")) line.pop_back();
    depth += code::BracketDepthChange(token.text);
    const char* before = at > begin ? tokens[at - 1].text.end() : token.text.data();
    const bool opened = at > begin && code::IsOpeningBracket(tokens[at - 1].text);
    if (before < token.text.data() && !opened && !closes) line += ' ';
    absl::StrAppend(&line, token.text);
  }
  return line;
}

// Cuts the text before a whole UTF-8 character.
std::string Shortened(string_view text, size_t max) {
  if (text.size() <= max) return std::string(text);
  size_t size = max;  // not within a character
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return absl::StrCat(text.substr(0, size), "...");
}

// Returns the first line of the docstring at tokens[at], behind a blank; empty if there is no
// docstring.
std::string Summary(const Tokens& tokens, size_t at) {
  if (at >= tokens.size() || tokens[at].kind != Token::kString) return "";
  const std::string content = code::WithUnixLineEnds(code::PythonStringContent(tokens[at].text));
  for (const string_view line : absl::StrSplit(content, '\n')) {
    const string_view words = absl::StripAsciiWhitespace(line);
    if (!words.empty()) return absl::StrCat(" ", Shortened(words, kMaxSummary));
  }
  return "";
}

// Returns the head of the def or class whose name is tokens[name], with the name replaced.
std::string Head(const Tokens& tokens, size_t name, string_view shown) {
  const size_t colon = FindEndOfHead(tokens, name);
  std::string rest = OnOneLine(tokens, std::min(name + 1, colon), colon);
  if (rest.size() > kMaxSignature || absl::StrContains(rest, '\n')) rest = "(...)";
  return absl::StrCat(tokens[name - 1].text, " ", shown, rest, ":", Summary(tokens, colon + 1));
}

// Counts the columns of tokens. Tokens must be asked for in their order.
class Columns {
 public:
  explicit Columns(string_view text) : text_(text), end_(text.find('\n')) {}

  size_t Count(const Token& token) {
    const size_t begin = static_cast<size_t>(token.text.data() - text_.data());
    while (end_ < begin) {
      line_ = end_ + 1;
      end_ = text_.find('\n', line_);
    }
    return begin - line_;
  }

 private:
  const string_view text_;
  size_t line_ = 0;
  size_t end_;  // end of the current line
};

// Returns comments for the fields and methods of the class whose name is tokens[name].
std::string Members(string_view text, const Tokens& tokens, size_t name) {
  Columns columns(text);
  const size_t class_column = columns.Count(tokens[name - 1]);
  const size_t first = EndOfStatement(tokens, name);
  const size_t column = first < tokens.size() ? columns.Count(tokens[first]) : 0;
  std::string out;
  size_t members = 0;
  for (size_t at = first, end; at < tokens.size() && members < kMaxMembers; at = end) {
    end = EndOfStatement(tokens, at);
    const size_t indentation = columns.Count(tokens[at]);
    if (column <= class_column || indentation < column) break;
    if (indentation > column) continue;
    if (Is(tokens, at, "def") && at + 1 < end) {
      absl::StrAppend(&out, "#     ", Head(tokens, at + 1, tokens[at + 1].text), "\n");
      ++members;
    } else if (tokens[at].kind == Token::kName &&
               (Is(tokens, at + 1, ":") || Is(tokens, at + 1, "="))) {
      const std::string field = OnOneLine(tokens, at, end);
      if (field.size() > kMaxField || absl::StrContains(field, '\n')) continue;
      absl::StrAppend(&out, "#     ", field, "\n");
      ++members;
    }
  }
  return out;
}

std::string AsComment(string_view lines) {
  std::string out;
  for (const string_view line : absl::StrSplit(lines, '\n')) {
    const string_view ended = absl::StripTrailingAsciiWhitespace(line);
    if (!ended.empty()) absl::StrAppend(&out, "# ", ended, "\n");
  }
  return out;
}

// Returns a statement that is no def and no class as a comment. If it begins with the name, it
// begins with `shown` instead; otherwise an assignment of `shown` follows.
std::string Statement(string_view text, const Tokens& tokens, string_view name, string_view shown) {
  const std::optional<std::string> whole = code::AtModuleLevel(text);
  std::string lines = AsComment(whole ? *whole : text);
  const bool begins = !tokens.empty() && tokens.front().text == name &&
                      absl::StartsWith(lines, absl::StrCat("# ", name));
  if (shown != name && begins) {
    lines = absl::StrCat("# ", shown, string_view(lines).substr(2 + name.size()));
  } else if (shown != name) {
    absl::StrAppend(&lines, "# ", shown, " = ", name, "\n");
  }
  const bool long_lines =
      static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n')) > kMaxStatementLines;
  if (lines.size() > kMaxStatement || long_lines) return absl::StrCat("# ", shown, " = ...\n");
  return lines;
}

// clang-format off
// Returns what a definition's text tells about a name, without its code, as comment lines:
//
//   # def f(x, y=1): Adds.        a function's signature on one line and the first line of its
//                                 docstring; # def f(...): if that is long
//   # class C(Base): Keeps.       for a class, and below it its fields and methods' signatures,
//                                 indented
//   # N = 1 << 6                  another short statement, without its indentation
//   # N = ...                     another long statement
//
// A function or class may be in the blocks of the text. `shown` is the name that the comment gives
// it. Lines end with a newline.
// clang-format on
std::string Outline(string_view text, string_view name, string_view shown) {
  const std::string unix = code::WithUnixLineEnds(text);
  const Tokens tokens = LexCode(unix);
  for (size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (tokens[at + 1].text != name || tokens[at + 1].begins_statement) continue;
    const bool is_class = tokens[at].text == "class";
    if (!is_class && tokens[at].text != "def") continue;
    return absl::StrCat("# ", Head(tokens, at + 1, shown), "\n",
                        is_class ? Members(unix, tokens, at + 1) : "");
  }
  return Statement(unix, tokens, name, shown);
}

constexpr size_t kMaxOutlinedBytes = 1u << 20;  // read for one kernel
constexpr size_t kMaxElsewhereBytes = 2u << 10;
constexpr size_t kLineWidth = 100;

// Returns the part that imports on one line have in common: "from x import ".
std::string ImportHead(const v1::ImportedName& imported) {
  return absl::StrCat("from ", std::string(static_cast<size_t>(imported.level()), '.'),
                      imported.module(), " import ");
}

// Writes the context of one kernel; prompt_context.h has its form. Comments and imports are
// collected with their places first, and written in order at the end.
class ContextWriter {
 public:
  ContextWriter(const SourceScope& scope, const Closure& closure, const v1::Kernel& kernel)
      : scope_(scope), closure_(closure), kernel_(kernel) {}

  std::string Run() {
    for (const Closure::Meaning& meaning : closure_.MeaningsOfFreeNames()) {
      if (meaning.name != kernel_.name()) Add(meaning);
    }
    for (const v1::Definition* wildcard : closure_.Wildcards()) {
      const v1::ImportedName* imported = scope_.ImportedWithin(*wildcard, "*");
      if (imported != nullptr) AddImport(wildcard->first_line(), *wildcard, *imported, "*");
    }
    std::string comments;
    for (const auto& [place, text] : comments_) comments += text;
    comments += Elsewhere();
    std::string context = Imports();
    if (!context.empty() && !comments.empty()) context += '\n';
    return context + comments;
  }

 private:
  using Place = std::pair<int, size_t>;  // the line, and the number among those on it
  struct Import {
    Place place;
    std::string head;
    std::string name;
  };

  // Adds a name: the definitions that the module took for it, else the bindings in the kernel's own
  // file.
  void Add(const Closure::Meaning& meaning) {
    const int line = meaning.bindings.empty() ? 0 : meaning.bindings.front()->first_line();
    if (bytes_ > kMaxContextBytes || (meaning.taken.empty() && meaning.bindings.empty())) {
      elsewhere_.push_back(meaning.name);
      return;
    }
    for (const auto& [shown, origin] : meaning.taken) {
      for (const v1::Definition* definition : SourceScope::GetBindings(*origin)) {
        AddBinding(line, *definition, origin->name, shown);
      }
    }
    if (!meaning.taken.empty()) return;
    const bool is_import = IsInstalledImport(meaning);
    for (const v1::Definition* definition : meaning.bindings) {
      if (is_import && scope_.ImportedWithin(*definition, meaning.name) == nullptr) continue;
      AddBinding(definition->first_line(), *definition, meaning.name, meaning.name);
    }
  }

  // Returns whether one of the bindings imports an installed package. The others, which replace the
  // package if it is missing, are not shown then.
  bool IsInstalledImport(const Closure::Meaning& meaning) const {
    return std::any_of(
        meaning.bindings.begin(), meaning.bindings.end(), [&](const v1::Definition* definition) {
          const v1::ImportedName* imported = scope_.ImportedWithin(*definition, meaning.name);
          return imported != nullptr && imported->level() == 0 &&
                 python::IsInstalledModule(imported->module());
        });
  }

  void AddBinding(int line, const v1::Definition& definition, const std::string& name,
                  const std::string& shown) {
    const v1::ImportedName* imported = scope_.ImportedWithin(definition, name);
    if (imported == nullptr) {
      AddComment(line, MakeOutline(definition, name, shown));
    } else if (absl::StrContains(shown, '.')) {  // a module's member
      AddComment(line, absl::StrCat("# ", shown, " = ", DottedName(*imported), "\n"));
    } else {
      AddImport(line, definition, *imported, shown);
    }
  }

  std::string MakeOutline(const v1::Definition& definition, const std::string& name,
                          const std::string& shown) {
    outlined_ += definition.text().size();
    if (outlined_ > kMaxOutlinedBytes) return absl::StrCat("# ", shown, " = ...\n");
    return Outline(definition.text(), name, shown);
  }

  // Shows a statement that binds several names once.
  void AddComment(int line, std::string text) {
    if (!comments_.empty() && std::any_of(comments_.lower_bound({line, 0}),
                                          comments_.upper_bound({line, comments_.size()}),
                                          [&](const auto& at) { return at.second == text; })) {
      return;
    }
    bytes_ += text.size();
    comments_.emplace(Place(line, comments_.size()), std::move(text));
  }

  void AddImport(int line, const v1::Definition& definition, const v1::ImportedName& imported,
                 const std::string& shown) {
    const Place place(line, IndexOf(imported, definition));
    if (!imported.member().empty() || shown == "*") {
      const bool renamed = shown != imported.member() && shown != "*";
      AddImport(place, ImportHead(imported),
                renamed ? absl::StrCat(imported.member(), " as ", shown) : shown);
    } else if (imported.module() != shown) {
      AddImport(place, absl::StrCat("import ", imported.module(), " as ", shown), "");
    } else if (!IsImport(definition)) {
      AddImport(place, absl::StrCat("import ", shown), "");
    } else {
      for (const std::string& module : definition.modules()) {
        if (module == shown || absl::StartsWith(module, absl::StrCat(shown, "."))) {
          AddImport(place, absl::StrCat("import ", module), "");
        }
      }
    }
  }

  // Which of the statement's names it is; 0 where these are very many.
  static size_t IndexOf(const v1::ImportedName& imported, const v1::Definition& definition) {
    constexpr int kMaxNames = 256;
    for (int i = 0; i < std::min(definition.imported_size(), kMaxNames); ++i) {
      if (&definition.imported(i) == &imported) return static_cast<size_t>(i);
    }
    return 0;
  }

  void AddImport(const Place& place, std::string head, std::string name) {
    bytes_ += head.size() + name.size();
    imports_.push_back({place, std::move(head), std::move(name)});
  }

  // Names of one statement with the same head are on one line.
  std::string Imports() {
    std::stable_sort(imports_.begin(), imports_.end(),
                     [](const Import& a, const Import& b) { return a.place < b.place; });
    std::map<std::pair<int, std::string>, size_t> known;  // which line
    std::vector<std::string> lines;
    absl::flat_hash_set<std::pair<size_t, std::string>> seen;
    for (const Import& import : imports_) {
      const auto [at, inserted] =
          known.try_emplace({import.place.first, import.head}, lines.size());
      if (inserted) lines.push_back(import.head);
      if (!seen.emplace(at->second, import.name).second) continue;
      absl::StrAppend(&lines[at->second], inserted ? "" : ", ", import.name);
    }
    std::string text;
    for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
    return text;
  }

  // Lists the names that are defined elsewhere, wrapped to lines.
  std::string Elsewhere() const {
    if (elsewhere_.empty()) return "";
    std::string out = "# Defined elsewhere:";
    size_t width = out.size();
    for (size_t i = 0; i < elsewhere_.size(); ++i) {
      if (out.size() > kMaxElsewhereBytes) return absl::StrCat(out, " ...\n");
      const std::string& name = elsewhere_[i];
      if (width + name.size() + 2 > kLineWidth) {
        out += "\n#    ";
        width = 5;
      }
      absl::StrAppend(&out, " ", name, i + 1 < elsewhere_.size() ? "," : "\n");
      width += name.size() + 2;
    }
    return out;
  }

  const SourceScope& scope_;
  const Closure& closure_;
  const v1::Kernel& kernel_;
  std::vector<Import> imports_;
  std::map<Place, std::string> comments_;
  std::vector<std::string> elsewhere_;
  size_t bytes_ = 0;
  size_t outlined_ = 0;
};

}  // namespace

std::string PromptContext(const SourceScope& scope, const Closure& closure,
                          const v1::Kernel& kernel) {
  return ContextWriter(scope, closure, kernel).Run();
}

}  // namespace kernelmill::extractor
