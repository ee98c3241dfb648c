#include "common/python/parse/plain/plain_parser.h"

#include <cstring>
#include <limits>

#include "common/base/text.h"
#include "common/python/parse/plain/parser.h"

namespace kernelmill::python {
namespace {

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

bool Parser::Expect(Token token) {
  if (!Is(token)) return false;
  Take();
  return true;
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

}  // namespace kernelmill::python
