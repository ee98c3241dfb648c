// Facts in the text of a kernel and its launcher. The basic idea: look for short patterns of
// tokens, as in "for NAME in RANGE:" or "NAME[grid](...)". There is no parser and no analysis of
// types or values, so any text works, a cut or broken one too, and a fact is only what the text
// literally has. Lists are bounded by kMaxEntries and expressions by kMaxText: a longer expression
// is left out, not cut.
//
// Python gives all facts; CUDA gives only the types in the code.

#include "client/catalog/describe/code_facts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/code/brackets.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/dsl/languages.h"

namespace kernelmill::client {
namespace {

using code::Token;
using Tokens = std::vector<Token>;

constexpr size_t kMaxEntries = 8;    // entries in a list
constexpr size_t kMaxText = 160;     // bytes of an expression
constexpr size_t kMaxComment = 400;  // bytes of a comment

// The names of types in Triton, torch, JAX and CUDA, with the names to show.
// Vectors of a type count as the type: __half2 is float16.
const absl::flat_hash_map<absl::string_view, absl::string_view>& Dtypes() {
  static const auto* const kDtypes = new absl::flat_hash_map<absl::string_view, absl::string_view>{
      {"float64", "float64"},
      {"float32", "float32"},
      {"float16", "float16"},
      {"bfloat16", "bfloat16"},
      {"float8e4nv", "float8e4nv"},
      {"float8e4b8", "float8e4b8"},
      {"float8e4b15", "float8e4b15"},
      {"float8e5", "float8e5"},
      {"float8e5b16", "float8e5b16"},
      {"float8_e4m3fn", "float8_e4m3fn"},
      {"float8_e4m3fnuz", "float8_e4m3fnuz"},
      {"float8_e5m2", "float8_e5m2"},
      {"int64", "int64"},
      {"int32", "int32"},
      {"int16", "int16"},
      {"int8", "int8"},
      {"int4", "int4"},
      {"uint64", "uint64"},
      {"uint32", "uint32"},
      {"uint16", "uint16"},
      {"uint8", "uint8"},
      {"int1", "int1"},
      {"complex64", "complex64"},
      {"complex128", "complex128"},
      {"half", "float16"},
      {"__half", "float16"},
      {"__half2", "float16"},
      {"half2", "float16"},
      {"nv_bfloat16", "bfloat16"},
      {"__nv_bfloat16", "bfloat16"},
      {"__nv_bfloat162", "bfloat16"},
      {"c10::Half", "float16"}};
  return *kDtypes;
}

// Names of types in CUDA that have another meaning in Python.
const absl::flat_hash_map<absl::string_view, absl::string_view>& CudaDtypes() {
  static const auto* const kDtypes = new absl::flat_hash_map<absl::string_view, absl::string_view>{
      {"float", "float32"}, {"double", "float64"}, {"float2", "float32"}, {"float4", "float32"},
      {"int8_t", "int8"},   {"uint8_t", "uint8"},  {"int16_t", "int16"},  {"int64_t", "int64"},
      {"int32_t", "int32"}, {"uint32_t", "uint32"}};
  return *kDtypes;
}

// Adds an entry unless it is empty, known, or one too many.
void AddOnce(const std::string& entry, std::vector<std::string>* list) {
  if (entry.empty() || list->size() >= kMaxEntries) return;
  if (std::find(list->begin(), list->end(), entry) == list->end()) list->push_back(entry);
}

// Returns the tokens from `begin` to before `end` as text on one line; empty if it is too long.
std::string JoinTokens(const Tokens& tokens, size_t begin, size_t end) {
  std::string text;
  const Token* last = nullptr;
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].kind == Token::kComment) continue;
    const bool apart =
        last != nullptr && tokens[i].text.data() != last->text.data() + last->text.size();
    // A bracket on its own line leaves no blank: "( x, )" becomes "(x,)".
    if (apart && !code::IsOpeningBracket(last->text) && !code::IsClosingBracket(tokens[i].text)) {
      text += ' ';
    }
    absl::StrAppend(&text, tokens[i].text);
    last = &tokens[i];
  }
  return text.size() > kMaxText ? "" : text;
}

// Returns whether token i exists and has this text.
bool Is(const Tokens& tokens, size_t i, absl::string_view text) {
  return i < tokens.size() && tokens[i].text == text;
}

// Returns the end of the statement at `begin`.
size_t StatementEnd(const Tokens& tokens, size_t begin) {
  size_t end = begin + 1;
  while (end < tokens.size() && !tokens[end].begins_statement) ++end;
  return end;
}

// Returns the types that a text names, each once. In CUDA a type is a plain name.
std::vector<std::string> DtypesIn(const Tokens& tokens, bool cuda) {
  std::vector<std::string> dtypes;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::kName) continue;
    // In Python types are members: tl.float32.
    const bool member = i > 0 && tokens[i - 1].text == ".";
    auto at = Dtypes().find(tokens[i].text);
    if (at != Dtypes().end() && (member || cuda)) AddOnce(std::string(at->second), &dtypes);
    if (!cuda) continue;
    at = CudaDtypes().find(tokens[i].text);
    if (at != CudaDtypes().end()) AddOnce(std::string(at->second), &dtypes);
  }
  return dtypes;
}

// Adds the type that is named in the call with its bracket at `open`.
void AddAccumulator(const Tokens& tokens, size_t open, std::vector<std::string>* types) {
  const size_t close = code::FindClosingBracket(tokens, open);
  for (size_t i = open; i < close; ++i) {
    const auto at = Dtypes().find(tokens[i].text);
    if (at != Dtypes().end() && tokens[i - 1].text == ".") {
      return AddOnce(std::string(at->second), types);
    }
  }
}

// Returns the argument of the call with its bracket at `open`, without "axis=".
std::string ReadAxis(const Tokens& tokens, size_t open) {
  const size_t close = code::FindClosingBracket(tokens, open);
  const std::string text = JoinTokens(tokens, open + 1, close);
  return std::string(absl::StripPrefix(absl::StripPrefix(text, "axis="), "axis = "));
}

// Reads the blocks' types, the program axes, element types and loops.
void ReadKernelText(const Tokens& tokens, CodeFacts* facts) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const absl::string_view text = tokens[i].text;
    if (tokens[i].kind != Token::kName) continue;
    if ((text == "zeros" || text == "full" || text == "zeros_like") && Is(tokens, i + 1, "(")) {
      AddAccumulator(tokens, i + 1, &facts->accumulators);
    } else if (text == "program_id" && Is(tokens, i + 1, "(") && i > 0 &&
               tokens[i - 1].text != "def") {
      AddOnce(ReadAxis(tokens, i + 1), &facts->program_axes);
      // This is NAME.dtype.element_ty, from its last token back to NAME.
    } else if (text == "element_ty" && i >= 4 && tokens[i - 2].text == "dtype" &&
               tokens[i - 3].text == "." && tokens[i - 4].kind == Token::kName) {
      AddOnce(std::string(tokens[i - 4].text), &facts->store_casts);
    } else if (text == "for" && tokens[i].begins_statement) {
      const size_t end = StatementEnd(tokens, i);
      const size_t colon = code::FindOutsideBrackets(tokens, i, end, ":");
      size_t in = i;
      while (in < colon && tokens[in].text != "in") ++in;
      AddOnce(JoinTokens(tokens, in + 1, colon), &facts->loops);
    }
  }
}

// Returns the index of the body: after the colon of the signature.
size_t FindBody(const Tokens& tokens) {
  size_t i = 0;
  while (i < tokens.size() && tokens[i].text != "def") ++i;
  return std::min(tokens.size(), code::FindOutsideBrackets(tokens, i, tokens.size(), ":") + 1);
}

// Returns the comment before the first statement if it is about the whole body and not only about
// that statement: if it has two lines, or a blank line after it.
std::string FirstComment(const Tokens& tokens) {
  size_t i = FindBody(tokens);
  std::vector<absl::string_view> lines;
  const char* end = nullptr;
  for (; i < tokens.size() && tokens[i].kind == Token::kComment; ++i) {
    absl::string_view line = tokens[i].text;
    end = line.data() + line.size();
    while (absl::ConsumePrefix(&line, "#")) {
    }
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty()) lines.push_back(line);
  }
  // A body of comments alone has no statement for the comment to be about.
  if (lines.empty() || i == tokens.size()) return "";
  // The white space between the comment and the first statement.
  const auto between = absl::string_view(end, static_cast<size_t>(tokens[i].text.data() - end));
  const bool apart = std::count(between.begin(), between.end(), '\n') > 1;
  const std::string comment = absl::StrJoin(lines, " ");
  return comment.size() > kMaxComment || (lines.size() == 1 && !apart) ? "" : comment;
}

// Returns the value of a body that is one return statement; otherwise empty.
std::string OnlyReturn(const Tokens& tokens) {
  size_t i = FindBody(tokens);
  while (i < tokens.size() && (tokens[i].kind == Token::kComment ||
                               (tokens[i].kind == Token::kString && tokens[i].begins_statement))) {
    ++i;
  }
  if (!Is(tokens, i, "return")) return "";
  const size_t end = StatementEnd(tokens, i);
  return end == tokens.size() ? JoinTokens(tokens, i + 1, end) : "";
}

// Returns the index of the bracket in NAME[grid](...). Launchers may pass kernels on under other
// names: if the kernel's name has no launch, a single launch of another name counts.
std::optional<size_t> FindLaunch(const Tokens& tokens, const std::string& name) {
  std::vector<size_t> others;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Token::kName || !Is(tokens, i + 1, "[")) continue;
    // A launch has a bracket of calls after the grid's bracket; an index does not.
    const size_t close = code::FindClosingBracket(tokens, i + 1);
    if (!Is(tokens, close + 1, "(")) continue;
    if (tokens[i].text == name) return i + 1;
    others.push_back(i + 1);
  }
  if (others.size() != 1) return std::nullopt;
  return others[0];
}

// Returns the value of a name that the launcher sets once, by "x = ..." or by the return of
// "def x(META):"; otherwise empty.
std::string FindValue(const Tokens& tokens, absl::string_view name) {
  std::string value;
  int count = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].begins_statement) continue;
    const size_t end = StatementEnd(tokens, i);
    // Count all assignments: a name with two values has no known one.
    if (tokens[i].text == name && Is(tokens, i + 1, "=")) {
      value = JoinTokens(tokens, i + 2, end);
      ++count;
    } else if (tokens[i].text == "def" && Is(tokens, i + 1, name)) {
      size_t back = code::FindOutsideBrackets(tokens, i, tokens.size(), ":") + 1;
      if (!Is(tokens, back, "return")) continue;
      value = JoinTokens(tokens, back + 1, StatementEnd(tokens, back));
      ++count;
    }
  }
  return count == 1 ? value : "";
}

// Returns the grid of the kernel's launch. If the brackets hold only a name, returns the name's
// value.
std::string FindGrid(const Tokens& tokens, const std::string& kernel) {
  const std::optional<size_t> open = FindLaunch(tokens, kernel);
  if (!open.has_value()) return "";
  const size_t close = code::FindClosingBracket(tokens, *open);
  // Launchers often pass a name, `grid`, which is defined above the launch.
  const bool one_name = close == *open + 2 && tokens[*open + 1].kind == Token::kName;
  return one_name ? FindValue(tokens, tokens[*open + 1].text)
                  : JoinTokens(tokens, *open + 1, close);
}

// Adds the values of the names in a condition, and of the names in these values.
void AddBounds(const Tokens& tokens, absl::string_view condition, int depth, CodeFacts* facts) {
  for (const Token& token : code::Lex(condition, code::Language::kPython)) {
    if (token.kind != Token::kName) continue;
    const std::string value = FindValue(tokens, token.text);
    if (value.empty()) continue;
    const size_t before = facts->bounds.size();
    AddOnce(absl::StrCat(token.text, " = ", value), &facts->bounds);
    if (depth > 0 && facts->bounds.size() > before) AddBounds(tokens, value, depth - 1, facts);
  }
}

// Reads the launcher's assertions, and the conditions of "if ...: raise ...".
void ReadConditions(const Tokens& tokens, CodeFacts* facts) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].begins_statement) continue;
    const size_t end = StatementEnd(tokens, i);
    if (tokens[i].text == "assert") {
      AddOnce(JoinTokens(tokens, i + 1, code::FindOutsideBrackets(tokens, i + 1, end, ",")),
              &facts->requirements);
    } else if (tokens[i].text == "if" && Is(tokens, end, "raise")) {
      AddOnce(JoinTokens(tokens, i + 1, code::FindOutsideBrackets(tokens, i + 1, end, ":")),
              &facts->refusals);
    }
  }
  // One level deeper than the condition's own names is enough for "BLOCK_N = min(MAX_SIZE, ...)".
  for (const std::string& condition : facts->refusals) AddBounds(tokens, condition, 1, facts);
}

// Returns the docstring of the first function.
std::string FindDocstring(const Tokens& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "def" || !tokens[i].begins_statement) continue;
    const size_t body = StatementEnd(tokens, i);
    if (body >= tokens.size() || tokens[body].kind != Token::kString) return "";
    return std::string(code::PythonStringContent(tokens[body].text));
  }
  return "";
}

}  // namespace

// Each text is lexed once; the facts then come from walks over its tokens.
CodeFacts ReadCodeFacts(const v1::KernelRow& kernel) {
  const bool cuda = dsl::IsC(kernel.dsl());
  const code::Language language = cuda ? code::Language::kC : code::Language::kPython;
  CodeFacts facts;
  const Tokens tokens = code::Lex(kernel.source(), language);
  facts.dtypes = DtypesIn(tokens, cuda);
  if (!cuda) {
    ReadKernelText(tokens, &facts);
    facts.comment = FirstComment(tokens);
    facts.returned = OnlyReturn(tokens);
  }
  if (!kernel.has_launcher() || cuda) return facts;
  const Tokens launcher = code::Lex(kernel.launcher().text(), language);
  facts.launcher_dtypes = DtypesIn(launcher, cuda);
  facts.grid = FindGrid(launcher, kernel.name());
  ReadConditions(launcher, &facts);
  facts.launcher_docstring = FindDocstring(launcher);
  return facts;
}

}  // namespace kernelmill::client
