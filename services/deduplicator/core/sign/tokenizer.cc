#include "services/deduplicator/core/sign/tokenizer.h"

#include <cstddef>

namespace kernelmill::deduplicator {

std::vector<Token> Tokenize(absl::string_view source, Language language) {
  std::vector<Token> tokens = code::Lex(source, language);
  size_t size = 0;       // of what is kept, at the front
  size_t statement = 0;  // the first token of the last statement there
  const auto end_statement = [&] {
    const bool documents = size == statement + 1 && tokens[statement].kind == Token::kString;
    if (documents && language == Language::kPython) size = statement;
    statement = size;
  };
  for (const Token& token : tokens) {
    if (token.kind == Token::kComment) continue;
    if (token.begins_statement) end_statement();
    tokens[size++] = token;
  }
  end_statement();
  tokens.resize(size);
  return tokens;
}

}  // namespace kernelmill::deduplicator
