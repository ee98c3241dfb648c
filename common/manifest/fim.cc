#include "common/manifest/fim.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/hash.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/dsl/languages.h"

// A fill-in-the-middle pair is a kernel cut at its body: the prompt is everything before it, with
// the context that the kernel needs, and the completion is the body. Pairs that teach nothing are
// excluded by a reason: the body is empty, trivial or short, the kernel is a template, cannot be
// parsed, or cannot be brought to module level.
//
// FimPairSha1 finds pairs that are equal after NormalizeCode, which ignores differences in white
// space only: runs of blanks become one blank, and runs of newlines at most two.
namespace kernelmill::manifest {
namespace {

using absl::string_view;
using code::Token;

// A body of a single short statement is mostly a call of another function.
constexpr size_t kMinStatementTokens = 32;  // for a body of one statement
constexpr size_t kMinTokens = 16;

string_view Strip(string_view text) {
  while (!text.empty() && code::IsPythonSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && code::IsPythonSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Returns the line that begins at `offset`, with its line end.
string_view LineAt(string_view text, size_t offset) {
  return text.substr(offset, std::min(text.find('\n', offset), text.size() - 1) + 1 - offset);
}

// Returns the end of the comment that begins a body: of the first lines that contain only comments.
// Returns `offset` if the body begins with something else.
size_t EndOfFirstComment(string_view source, size_t offset) {
  size_t end = offset;
  for (size_t at = offset; at < source.size();) {
    const string_view line = LineAt(source, at);
    const string_view content = Strip(line);
    const bool is_comment = !content.empty() && content.front() == '#';
    const bool is_before = content.empty() && end == offset;
    if (!is_comment && !is_before) break;
    at += line.size();
    if (is_comment) end = at;
  }
  return end;
}

// Returns the offset of the first line that is not blank, from the line at `offset` on.
size_t AfterBlankLines(string_view text, size_t offset) {
  while (offset < text.size()) {
    const string_view line = LineAt(text, offset);
    if (!Strip(line).empty()) break;
    offset += line.size();
  }
  return offset;
}

// Returns the text with one newline in place of all white space at its end.
std::string Ended(string_view text) {
  while (!text.empty() && code::IsPythonSpace(text.back())) text.remove_suffix(1);
  return text.empty() ? "" : absl::StrCat(text, "\n");
}

// Stored offsets may be wrong in a damaged dataset; the source is the bound.
size_t BodyOffset(const v1::Kernel& kernel) {
  return std::min(static_cast<size_t>(std::max(kernel.body_offset(), 0)), kernel.source().size());
}

// Returns true if the body begins on a line after the signature.
bool BodyHasItsLines(const v1::Kernel& kernel) {
  const size_t signature = kernel.source().find(kernel.signature());
  return signature != std::string::npos &&
         signature + kernel.signature().size() <= BodyOffset(kernel);
}

// Returns true if a statement does nothing: pass, ..., raise, or return with at most one token.
bool IsIdle(absl::Span<const Token> statement) {
  const string_view first = statement.front().text;
  if (first == "return") return statement.size() <= 2;
  return first == "pass" || first == "..." || first == "raise";
}

// Returns true if a statement does not open a block: its last token is not a colon.
bool IsSimple(absl::Span<const Token> statement) { return statement.back().text != ":"; }

// Returns the reason to exclude a pair because of its completion, or "".
string_view ExcludedByBody(string_view completion) {
  std::vector<Token> tokens = code::Lex(completion, code::Language::kPython);
  // Comments and semicolons are no work.
  std::erase_if(tokens, [](const Token& token) {
    return token.kind == Token::kComment || token.text == ";";
  });
  if (tokens.empty()) return "no_body";
  size_t statements = 0;
  bool idle = true;
  bool simple = true;
  for (size_t begin = 0, end = 0; begin < tokens.size(); begin = end) {
    for (end = begin + 1; end < tokens.size() && !tokens[end].begins_statement;) ++end;
    const absl::Span<const Token> statement(tokens.data() + begin, end - begin);
    ++statements;
    idle = idle && IsIdle(statement);
    simple = simple && IsSimple(statement);
  }
  if (idle || (statements == 1 && simple && tokens.size() < kMinStatementTokens)) return "trivial";
  return tokens.size() < kMinTokens ? "short" : "";
}

// Cuts the source at its body offset only, for pairs that are excluded.
FimPair CutSource(const v1::Kernel& kernel, string_view excluded) {
  const size_t body = BodyOffset(kernel);
  return {kernel.source().substr(0, body), kernel.source().substr(body), excluded};
}

}  // namespace

// The body's offset is one in the source, but the way to module level changes indentation, line
// ends and decorators. It keeps the number of lines from the body on, so the body is found again by
// counting lines from the end.
FimPair MakeFimPair(const v1::Kernel& kernel) {
  if (dsl::IsC(kernel.dsl())) return CutSource(kernel, "language");
  const std::optional<std::string> text = code::AtModuleLevel(kernel.source());
  if (!text) return CutSource(kernel, "indentation");
  // The number of lines from the body on, in the source as it is.
  const std::string rest = code::WithUnixLineEnds(kernel.source().substr(BodyOffset(kernel)));
  const bool ended = rest.empty() || rest.back() == '\n';
  const size_t lines = static_cast<size_t>(std::count(rest.begin(), rest.end(), '\n'));
  size_t body = code::BeginOfLastLines(*text, lines + (ended ? 0 : 1));
  // A comment at the top of the body says what the kernel does, as a docstring would; it goes with
  // the prompt.
  if (kernel.docstring().empty()) body = EndOfFirstComment(*text, body);
  FimPair pair;
  pair.prompt = absl::StrCat(kernel.prompt_context(), kernel.prompt_context().empty() ? "" : "\n",
                             Ended(string_view(*text).substr(0, body)));
  pair.completion = Ended(string_view(*text).substr(AfterBlankLines(*text, body)));
  if (kernel.form() == v1::KERNEL_FORM_TEMPLATE || kernel.role() == v1::KERNEL_ROLE_UNSPECIFIED) {
    pair.excluded = "template";
  } else if (kernel.parse_error()) {
    pair.excluded = "syntax_error";
  } else if (!BodyHasItsLines(kernel)) {
    pair.excluded = "signature_line";
  } else {
    pair.excluded = ExcludedByBody(pair.completion);
  }
  return pair;
}

// One pass over the bytes.
std::string NormalizeCode(string_view code) {
  const std::string unified = absl::StrReplaceAll(code, {{"\r\n", "\n"}});
  const string_view stripped = Strip(unified);
  std::string out(stripped.size(), '\0');
  size_t size = 0;
  size_t newlines = 0;  // at the end of the output so far
  for (const char c : stripped) {
    if (c == '\n') {
      if (++newlines <= 2) out[size++] = c;
      continue;
    }
    newlines = 0;
    const bool blank = c == ' ' || c == '\t';
    // The output has no tabs, so that a blank at its end belongs to this run.
    if (blank && size > 0 && out[size - 1] == ' ') continue;
    out[size++] = blank ? ' ' : c;
  }
  out.resize(size);
  return out;
}

std::string FimPairSha1(const FimPair& pair) {
  return Sha1(absl::StrCat(NormalizeCode(pair.prompt), "|||", NormalizeCode(pair.completion)));
}

namespace {

// Returns the hashes of a text's words, sorted, each once.
std::vector<uint64_t> Words(absl::string_view text) {
  std::vector<uint64_t> words;
  for (size_t end, begin = 0; begin < text.size(); begin = end + 1) {
    for (end = begin; end < text.size() && !code::IsPythonSpace(text[end]);) ++end;
    if (end > begin) words.push_back(StableHash64(text.substr(begin, end - begin)));
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

// Compares hashes of words instead of words. They are sorted, so that one merge counts the common
// ones.
WordCounts CountWords(const FimPair& pair) {
  const std::vector<uint64_t> prompt = Words(pair.prompt);
  const std::vector<uint64_t> completion = Words(pair.completion);
  std::vector<uint64_t> common;
  std::set_intersection(prompt.begin(), prompt.end(), completion.begin(), completion.end(),
                        std::back_inserter(common));
  const auto shared = static_cast<uint32_t>(common.size());
  return {shared, static_cast<uint32_t>(prompt.size() + completion.size()) - shared};
}

}  // namespace kernelmill::manifest
