#include "dataset/training/infill.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/code/bytes.h"
#include "common/code/lexer.h"

// An example with three statements, on lines 0, 1 and 2, and the draw 7: the middle begins at
// statement 7 % 3 = 1, and has 1 + (7 / 3) % 2 = 1 statement. So the prefix is the prompt and
// statement 0, the middle is statement 1, and the suffix is statement 2.
namespace kernelmill::dataset {
namespace {

using absl::string_view;

// Returns the beginning of the token's line if the token is its first; nothing otherwise.
std::optional<size_t> FindLine(const code::Token& token, string_view code) {
  size_t at = static_cast<size_t>(token.text.data() - code.data());
  while (at > 0 && code::IsBlank(code[at - 1])) --at;
  if (at > 0 && !code::IsNewline(code[at - 1])) return std::nullopt;
  return at;
}

// Consecutive lines of comments with the same indentation.
struct CommentLines {
  size_t begin = 0;
  size_t end = 0;  // the beginning of the line after them
  size_t indentation = 0;
};

// Returns the beginnings of the lines on which a statement begins, or the comment right above it,
// which is about it; 0 is the first.
std::vector<size_t> StatementLines(string_view code) {
  std::vector<size_t> lines = {0};
  std::optional<CommentLines> comments;
  for (const code::Token& token : code::Lex(code, code::Language::kPython)) {
    const std::optional<size_t> line = FindLine(token, code);
    const size_t at = static_cast<size_t>(token.text.data() - code.data());
    const size_t indentation = line ? at - *line : 0;
    const bool follows =
        comments && line && comments->end == *line && comments->indentation == indentation;
    if (token.kind == code::Token::kComment && line) {
      const size_t end = std::min(code.find('\n', at), code.size() - 1) + 1;
      comments = {follows ? comments->begin : *line, end, indentation};
      continue;
    }
    const size_t begin = follows ? comments->begin : line.value_or(0);
    if (token.begins_statement && begin > lines.back()) lines.push_back(begin);
    comments.reset();
  }
  return lines;
}

// Returns the first 8 bytes as a little-endian number.
uint64_t Number(string_view hash) {
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof(number) && i < hash.size(); ++i) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(hash[i])) << (8 * i);
  }
  return number;
}

}  // namespace

// The hash is the random number: first % statements is where the middle begins, and the quotient's
// remainder is how many statements it has. So nothing is stored, and the same pair is always cut in
// the same way.
Infill CutInfill(const manifest::FimPair& pair, string_view sha1) {
  std::vector<size_t> lines = StatementLines(pair.completion);
  const size_t statements = lines.size();
  // An end after the last statement, so that statement i is [lines[i], lines[i + 1]).
  lines.push_back(pair.completion.size());
  const uint64_t draw = Number(sha1);
  const size_t first = draw % statements;
  const size_t count = 1 + (draw / statements) % (statements - first);
  const string_view completion = pair.completion;
  const size_t begin = lines[first];
  const size_t end = lines[first + count];
  return {absl::StrCat(pair.prompt, completion.substr(0, begin)),
          std::string(completion.substr(begin, end - begin)), std::string(completion.substr(end))};
}

}  // namespace kernelmill::dataset
