#include "services/extractor/core/cuda/parameters.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/code/bytes.h"
#include "common/code/c.h"
#include "services/extractor/core/cuda/names.h"
#include "services/extractor/core/cuda/reserved_words.h"
#include "services/extractor/core/describe/name_words.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// Words that may stand beside a type and are none.
bool IsSpecifier(string_view word) {
  static constexpr string_view kWords[] = {
      "const",    "volatile",   "struct",       "class", "enum",
      "typename", "__restrict", "__restrict__", "union", "__grid_constant__"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

// Reads one parameter: the last word at its outer level is its name, if a type stands before it.
class Parameter {
 public:
  Parameter(const Code& code, const Brackets& brackets, uint32_t begin, uint32_t end)
      : code_(code), brackets_(brackets), begin_(begin), end_(end) {}

  // kNoToken: it has none.
  uint32_t Name() {
    for (uint32_t at = begin_; at < end_; ++at) {
      const string_view token = code_[at];
      if (token == "=" || (token == "[" && name_ != kNoToken)) break;
      if (token == "(" && (code_.Is(at + 1, "*") || code_.Is(at + 1, "&"))) {
        return code_.IsWord(at + 2) ? at + 2 : kNoToken;  // a pointer to a function, an array
      }
      if (code_.IsWord(at)) {
        ReadWord(at, token);
      } else if (token != "::") {
        TakeForType();
      }
      at = AfterBrackets(at, token);
    }
    return has_type_ ? name_ : kNoToken;
  }

 private:
  void ReadWord(uint32_t at, string_view word) {
    if (IsSpecifier(word)) return;
    TakeForType();
    const bool qualified = at > begin_ && code_[at - 1] == "::";
    if (qualified || IsKeyword(word)) {
      has_type_ = true;
    } else {
      name_ = at;
    }
  }

  // What was read so far is a type: something follows that cannot follow a name.
  void TakeForType() {
    if (name_ != kNoToken) has_type_ = true;
    name_ = kNoToken;
  }

  uint32_t AfterBrackets(uint32_t at, string_view token) const {
    if (token == "<") {
      const AngleSearch angle = FindAngleEnd(code_, brackets_, at);
      return angle.found ? angle.token : end_;
    }
    const uint32_t close = brackets_.match[at];
    return close != kNoToken && close > at ? close : at;
  }

  const Code& code_;
  const Brackets& brackets_;
  const uint32_t begin_;
  const uint32_t end_;
  uint32_t name_ = kNoToken;
  bool has_type_ = false;
};

// The tokens of [begin, end) but the one at `without`: a blank where they do not touch.
std::string Written(const Code& code, uint32_t begin, uint32_t end, uint32_t without = kNoToken) {
  std::string text;
  uint32_t last = kNoToken;
  for (uint32_t at = begin; at < end; ++at) {
    if (at == without) continue;
    const bool gap = last != kNoToken && last + 1 < at;  // where the left out one stood
    const bool apart =
        last != kNoToken && (code.tokens[last].end != code.tokens[last + 1].begin ||
                             (gap && code.tokens[at - 1].end != code.tokens[at].begin));
    absl::StrAppend(&text, apart ? " " : "", code[at]);
    last = at;
  }
  return text;
}

struct Span {
  uint32_t begin;
  uint32_t end;
};

// The parameters' tokens: what commas outside all brackets part.
std::vector<Span> SpansOf(const Code& code, const Brackets& brackets, const Enclosed& parameters) {
  std::vector<Span> spans;
  uint32_t begin = parameters.open + 1;
  uint32_t no_arguments_before = 0;
  for (uint32_t at = begin; at < parameters.close; ++at) {
    const string_view token = code[at];
    if (token == ",") {
      spans.push_back({begin, at});
      begin = at + 1;
    } else if (token == "<" && at >= no_arguments_before) {
      const AngleSearch angle = FindAngleEnd(code, brackets, at);
      if (angle.found) at = angle.token;
      if (!angle.found) no_arguments_before = angle.token;
    } else if ((token == "(" || token == "[" || token == "{") && brackets.match[at] != kNoToken) {
      at = brackets.match[at];
    }
  }
  if (begin < parameters.close) spans.push_back({begin, parameters.close});
  const bool none =
      spans.size() == 1 && spans[0].end == spans[0].begin + 1 && code[spans[0].begin] == "void";
  if (none) spans.clear();
  return spans;
}

uint32_t DefaultOf(const Code& code, const Brackets& brackets, const Span& span) {
  for (uint32_t at = span.begin; at < span.end; ++at) {
    if (code.tokens[at].mark == '=') return at;
    const uint32_t close = brackets.match[at];
    if (close != kNoToken && close > at) at = close;
  }
  return span.end;
}

bool Points(string_view type) {
  const string_view outer = type.substr(0, type.find('<'));
  const size_t arguments_end = type.rfind('>');
  const string_view after =
      arguments_end == string_view::npos ? string_view() : type.substr(arguments_end);
  return absl::StrContains(outer, '*') || absl::StrContains(after, '*') ||
         absl::StrContains(outer, '[') || absl::StrContains(after, '[');
}

// Of what a type is written with, the words outside template arguments.
std::vector<std::string> TypeWords(string_view type) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  for (const char c : absl::StrCat(type, " ")) {
    if (c == '<') ++depth;
    if (depth == 0 && code::IsCNameByte(c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
    if (c == '>') --depth;
  }
  return words;
}

bool IsAccessor(string_view type) {
  for (const std::string& word : TypeWords(type)) {
    if (absl::StrContains(word, "Accessor") || absl::StrContains(word, "TensorView") ||
        absl::StrContains(word, "ensorMap") || word == "Tensor") {
      return true;
    }
  }
  return false;
}

bool IsInteger(string_view type) {
  static const auto& integers = *new absl::flat_hash_set<string_view>{
      "int",     "unsigned", "long",     "short",   "size_t",   "ssize_t",   "ptrdiff_t", "int8_t",
      "int16_t", "int32_t",  "int64_t",  "uint8_t", "uint16_t", "uint32_t",  "uint64_t",  "uint",
      "ulong",   "index_t",  "offset_t", "idx_t",   "Index",    "IndexType", "size_type"};
  const std::vector<std::string> words = TypeWords(type);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return integers.contains(word) || absl::EndsWith(word, "index_t") ||
           absl::EndsWith(word, "IndexType");
  });
}

bool IsOrder(string_view token) {
  return token == "<" || token == "<=" || token == ">" || token == ">=";
}

// Words of a body that stand beside an order: n of i < n, not of f<n>().
absl::flat_hash_set<string_view> ComparedWords(const Code& code, const Function& function) {
  absl::flat_hash_set<string_view> words;
  for (uint32_t at = function.body + 1; at < function.last; ++at) {
    if (!code.IsWord(at)) continue;
    const string_view before = code[at - 1];
    const string_view after = code[at + 1];
    const bool argument = before == "<" && (after == ">" || after == "," || after == ">>");
    const bool closes = after == ">" && (before == ",");
    if (!argument && !closes && (IsOrder(before) || (IsOrder(after) && after != "<"))) {
      words.insert(code[at]);
    }
    if (after == "<" && (code.tokens[at - 1].mark == '(' || before == "&&" || before == "||")) {
      const bool number = code.tokens[at + 2 < function.last ? at + 2 : at].kind == Token::kNumber;
      if (!number) words.insert(code[at]);
    }
  }
  return words;
}

struct Role {
  v1::ParameterRole role;
  std::string rule;
};

Role RoleOf(const v1::Parameter& parameter, const absl::flat_hash_set<string_view>& compared) {
  const string_view type = parameter.annotation();
  if (Points(type)) return {v1::PARAMETER_ROLE_POINTER, "annotation:pointer"};
  if (IsAccessor(type)) return {v1::PARAMETER_ROLE_POINTER, "annotation:accessor"};
  if (!IsInteger(type)) return {v1::PARAMETER_ROLE_OTHER, "none"};
  static const auto& fragments = *new Fragments(
      {{"stride", "_lda_", "_ldb_", "_ldc_", "_ld_", "pitch"},
       {"size",   "len_",   "length",   "numel",   "_num_",      "num_",    "_dim_",
        "_dims_", "_rows_", "_cols_",   "columns", "_elements_", "_count_", "height",
        "width",  "batch",  "channels", "_m_",     "_n_",        "_k_",     "total"}});
  const std::vector<Fragments::Found> found = fragments.FindIn(WordsOf(parameter.name()));
  if (!found.empty() && found[0].list == 0) {
    return {v1::PARAMETER_ROLE_STRIDE, absl::StrCat("name:", found[0].fragment)};
  }
  if (compared.contains(parameter.name())) return {v1::PARAMETER_ROLE_SIZE, "usage:compared"};
  if (!found.empty()) return {v1::PARAMETER_ROLE_SIZE, absl::StrCat("name:", found[0].fragment)};
  return {v1::PARAMETER_ROLE_OTHER, "none"};
}

}  // namespace

void AddCudaParameters(const Code& code, const Brackets& brackets, const Function& function,
                       v1::Kernel& kernel) {
  const absl::flat_hash_set<string_view> compared = ComparedWords(code, function);
  for (const Span& span : SpansOf(code, brackets, function.parameters)) {
    const uint32_t type_end = DefaultOf(code, brackets, span);
    const uint32_t name = Parameter(code, brackets, span.begin, type_end).Name();
    v1::Parameter& parameter = *kernel.add_parameters();
    if (name != kNoToken) parameter.set_name(std::string(code[name]));
    parameter.set_annotation(Written(code, span.begin, type_end, name));
    if (type_end < span.end) parameter.set_default_value(Written(code, type_end + 1, span.end));
    Role role = RoleOf(parameter, compared);
    parameter.set_role(role.role);
    parameter.set_rule(std::move(role.rule));
  }
}

}  // namespace kernelmill::extractor::cuda
