#include "services/extractor/core/cuda/cuda_kernels.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/code/brackets.h"
#include "common/code/bytes.h"
#include "common/code/c.h"
#include "common/code/line_index.h"
#include "common/cpp/include_paths.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/cuda_records.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/lexer.h"
#include "services/extractor/core/cuda/names.h"
#include "services/extractor/core/describe/name_words.h"

namespace kernelmill::extractor {
namespace cuda {
namespace {

using absl::string_view;

// Returns whether an expression begins after the word, so that the word is no type.
bool IsStatementWord(string_view word) {
  static constexpr string_view kWords[] = {"return",    "else",     "do",       "case",    "throw",
                                           "co_return", "co_await", "co_yield", "template"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace

// Returns the names before '(' in a body, sorted and without repetition. A name after a type is no
// call but a declaration: `T x(1)`.
std::vector<std::string> CalledNames(const Code& code, const Brackets& brackets,
                                     const Function& function) {
  std::vector<std::string> names;
  for (uint32_t at = function.body + 1; at < function.last; ++at) {
    if (code.tokens[at].mark != '(') continue;
    const uint32_t name = NameBefore(code, brackets, at);
    if (name == kNoToken || name <= function.body || IsKeyword(code[name])) continue;
    const uint32_t begin = QualifiedBegin(code, brackets, name);
    const uint32_t type = NameBefore(code, brackets, begin);
    if (type != kNoToken && type > function.body && !IsStatementWord(code[type])) continue;
    names.push_back(JoinedWords(code, brackets, begin, name + 1));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}
namespace {

// Returns whether the word may come beside a type and is no type itself.
bool IsTypeQualifier(string_view word) {
  static constexpr string_view kWords[] = {
      "const",    "volatile",   "struct",       "class", "enum",
      "typename", "__restrict", "__restrict__", "union", "__grid_constant__"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

// Reads the tokens [begin, end) of one parameter. The last word outside brackets is its name, if a
// type comes before it.
class Parameter {
 public:
  Parameter(const Code& code, const Brackets& brackets, uint32_t begin, uint32_t end)
      : code_(code), brackets_(brackets), begin_(begin), end_(end) {}

  // Returns the token of the name; kNoToken for an unnamed parameter.
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
    if (IsTypeQualifier(word)) return;
    TakeForType();
    const bool qualified = at > begin_ && code_[at - 1] == "::";
    if (qualified || IsKeyword(word)) {
      has_type_ = true;
    } else {
      name_ = at;
    }
  }

  // Something follows that cannot follow a name, so all that was read so far is a type.
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

// Returns the text of the tokens [begin, end) except the one at `without`, with one blank between
// tokens that do not touch.
std::string Written(const Code& code, uint32_t begin, uint32_t end, uint32_t without = kNoToken) {
  std::string text;
  uint32_t last = kNoToken;
  for (uint32_t at = begin; at < end; ++at) {
    if (at == without) continue;
    const bool gap = last != kNoToken && last + 1 < at;  // the token left out was here
    const bool apart =
        last != kNoToken && (code.tokens[last].end != code.tokens[last + 1].begin ||
                             (gap && code.tokens[at - 1].end != code.tokens[at].begin));
    absl::StrAppend(&text, apart ? " " : "", code[at]);
    last = at;
  }
  return text;
}

// Tokens [begin, end).
struct Span {
  uint32_t begin;
  uint32_t end;
};

// Splits the parameters at the commas outside all brackets.
std::vector<Span> SplitParameters(const Code& code, const Brackets& brackets,
                                  const Enclosed& parameters) {
  std::vector<Span> spans;
  if (!parameters.found()) return spans;  // a lambda may have none
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
    } else if (code::IsOpeningBracket(token) && brackets.match[at] != kNoToken) {
      at = brackets.match[at];
    }
  }
  if (begin < parameters.close) spans.push_back({begin, parameters.close});
  // f(void) has no parameters.
  const bool none =
      spans.size() == 1 && spans[0].end == spans[0].begin + 1 && code[spans[0].begin] == "void";
  if (none) spans.clear();
  return spans;
}

// Returns the '=' before the default value; the span's end without one.
uint32_t FindDefault(const Code& code, const Brackets& brackets, const Span& span) {
  for (uint32_t at = span.begin; at < span.end; ++at) {
    if (code.tokens[at].mark == '=') return at;
    const uint32_t close = brackets.match[at];
    if (close != kNoToken && close > at) at = close;
  }
  return span.end;
}

// Returns whether the type is a pointer or an array. Those in template arguments do not count.
bool IsPointer(string_view type) {
  const string_view outer = type.substr(0, type.find('<'));
  const size_t arguments_end = type.rfind('>');
  const string_view after =
      arguments_end == string_view::npos ? string_view() : type.substr(arguments_end);
  return absl::StrContains(outer, '*') || absl::StrContains(after, '*') ||
         absl::StrContains(outer, '[') || absl::StrContains(after, '[');
}

// Returns the words of a type outside template arguments.
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

// Returns whether the type is a tensor's view, which holds a pointer: PackedTensorAccessor32,
// TensorView, CUtensorMap.
bool IsAccessor(string_view type) {
  for (const std::string& word : TypeWords(type)) {
    if (absl::StrContains(word, "Accessor") || absl::StrContains(word, "TensorView") ||
        absl::StrContains(word, "ensorMap") || word == "Tensor") {
      return true;
    }
  }
  return false;
}

// Returns whether the type is an integer, judged by its words. Names of index types are conventions
// of PyTorch and CUTLASS.
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

// Returns the words of a body that are ordered against something: n of i < n, but not of f<n>().
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

// A role, and the rule that gave it.
struct Role {
  v1::ParameterRole role;
  std::string rule;
};

// Guesses what a parameter is for, in this order: its type decides pointers, then its name decides
// strides, then comparisons in the body and the name decide sizes. `rule` says what decided.
Role FindRole(const v1::Parameter& parameter, const absl::flat_hash_set<string_view>& compared) {
  const string_view type = parameter.annotation();
  if (IsPointer(type)) return {v1::PARAMETER_ROLE_POINTER, "annotation:pointer"};
  if (IsAccessor(type)) return {v1::PARAMETER_ROLE_POINTER, "annotation:accessor"};
  if (!IsInteger(type)) return {v1::PARAMETER_ROLE_OTHER, "none"};
  static const auto& fragments = *new Fragments(
      {{"stride", "_lda_", "_ldb_", "_ldc_", "_ld_", "pitch"},
       {"size",   "len_",   "length",   "numel",   "_num_",      "num_",    "_dim_",
        "_dims_", "_rows_", "_cols_",   "columns", "_elements_", "_count_", "height",
        "width",  "batch",  "channels", "_m_",     "_n_",        "_k_",     "total"}});
  const std::vector<Fragments::Found> found = fragments.FindIn(SplitWords(parameter.name()));
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
  for (const Span& span : SplitParameters(code, brackets, function.parameters)) {
    const uint32_t type_end = FindDefault(code, brackets, span);
    const uint32_t name = Parameter(code, brackets, span.begin, type_end).Name();
    v1::Parameter& parameter = *kernel.add_parameters();
    if (name != kNoToken) parameter.set_name(std::string(code[name]));
    parameter.set_annotation(Written(code, span.begin, type_end, name));
    if (type_end < span.end) parameter.set_default_value(Written(code, type_end + 1, span.end));
    Role role = FindRole(parameter, compared);
    parameter.set_role(role.role);
    parameter.set_rule(std::move(role.rule));
  }
}
}  // namespace cuda

namespace {

// Lists the macros that write kernels; no kernel is made of them.
void SkipMacros(const cuda::CudaRecords& file, v1::ExtractedFile& entry) {
  constexpr size_t kMostSkipped = 1024;
  const std::vector<int> lines = file.FindMacrosOfKernels();
  for (size_t i = 0; i < std::min(lines.size(), kMostSkipped); ++i) {
    v1::SkippedString& skipped = *entry.add_skipped_strings();
    skipped.set_line(lines[i]);
    skipped.set_reason("macro");
  }
}

}  // namespace

bool IsCudaPath(absl::string_view path) { return cpp::IsCppPath(path); }

bool MayHoldCuda(absl::string_view text) { return dsl::HasMarkerOf(dsl::kCuda, text); }

void AddCudaText(absl::string_view path, absl::string_view text, v1::KernelShard& shard) {
  v1::Definition& definition = *shard.add_definitions();
  definition.set_path(std::string(path));
  definition.set_text(std::string(text));
}

// RESOURCE_EXHAUSTED: functions are nested so deeply that their records would repeat too much text.
absl::Status AddCudaKernels(absl::string_view path, absl::string_view text, size_t max_bytes,
                            v1::ExtractedFile& entry, v1::KernelShard& shard) {
  const LineIndex lines(text);
  const cuda::TextPlace place(text, lines);
  cuda::CudaRecords file(path, text, place, max_bytes);
  if (!file.InBounds()) return absl::ResourceExhaustedError("nested_kernels");
  if (file.has_errors()) entry.set_parse_errors(true);
  for (const cuda::Function& function : file.functions()) {
    file.Describe(function, *shard.add_kernels());
  }
  entry.set_kernels(static_cast<int32_t>(file.functions().size()));
  SkipMacros(file, entry);
  return absl::OkStatus();
}

}  // namespace kernelmill::extractor
