#include "services/extractor/core/python/plain_parser.h"

#include <cstring>
#include <limits>

#include "services/extractor/core/python/parser.h"

namespace kernelmill::extractor::python {
namespace {

// The length of the well-formed UTF-8 sequence of more than a byte that `text` begins with; 0 if it
// begins with none.
size_t SequenceLength(absl::string_view text) {
  const auto byte = [&](size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  const auto continues = [&](size_t at) { return (byte(at) & 0xc0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead >= 0xc2 && lead < 0xe0) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead < 0xf0) {
    const bool overlong = lead == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
    return !overlong && !surrogate && continues(1) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead < 0xf5) {
    const bool overlong = lead == 0xf0 && byte(1) < 0x90;
    const bool beyond = lead == 0xf4 && byte(1) >= 0x90;
    return !overlong && !beyond && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool IsUtf8(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    uint64_t word;
    if (at + sizeof(word) <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof(word));
      if ((word & 0x8080808080808080u) == 0) {
        at += sizeof(word);
        continue;
      }
    }
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const size_t length = SequenceLength(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

bool Has(absl::string_view text, char c) {
  return !text.empty() && std::memchr(text.data(), c, text.size()) != nullptr;
}

bool HasLoneReturn(absl::string_view text) {
  for (size_t at = text.find('\r'); at != absl::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] != '\n') return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<SyntaxNode>> ParsePlain(absl::string_view text, size_t max_nodes) {
  if (text.size() > std::numeric_limits<uint32_t>::max() / 2 || Has(text, '\0') ||
      Has(text, '\f') || HasLoneReturn(text) || !IsUtf8(text)) {
    return std::nullopt;
  }
  Parser parser(text);
  if (!parser.Module() || parser.tree().here() > max_nodes) return std::nullopt;
  return parser.tree().InPreOrder();
}

void Parser::AddExtras() {
  for (const Extra& extra : lexer_.extras()) {
    tree_.AddLeaf(extra.kind, extra.start, extra.end);
    end_ = extra.end;
  }
  lexer_.extras().clear();
}

// Where the next token begins a node.
Parser::Begin Parser::Here() {
  if (!lexer_.extras().empty()) AddExtras();
  return {tree_.here(), lexer_.start()};
}

void Parser::Take(Kind kind, Field field) {
  if (!lexer_.extras().empty()) AddExtras();
  tree_.AddLeaf(kind, lexer_.start(), lexer_.end());
  if (field != Field::kNone) tree_.SetField(field);
  end_ = lexer_.end();
  lexer_.Next();
}

bool Parser::Expect(Token token) {
  if (!Is(token)) return false;
  Take();
  return true;
}

void Parser::Close(Kind kind, Begin begin, Field field) {
  tree_.Close(kind, begin.place, begin.start, end_);
  if (field != Field::kNone) tree_.SetField(field);
}

bool Parser::TakeName(Field field) {
  if (!IsName()) return false;
  Take(Kind::kIdentifier, field);
  return true;
}

bool Parser::Opening() {
  lexer_.Open();
  Take();
  return true;
}

bool Parser::Closing(Token token) {
  if (!Is(token)) return false;
  lexer_.Shut();
  Take();
  return true;
}

}  // namespace kernelmill::extractor::python
