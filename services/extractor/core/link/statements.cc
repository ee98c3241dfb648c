#include "services/extractor/core/link/statements.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/code/python.h"

namespace kernelmill::extractor {

// Reads chains of names and points. A name alone, or one in an f-string, is read as a whole.
MemberReads::MemberReads(absl::string_view text) {
  const Tokens tokens = LexCode(text);
  for (size_t at = 0; at < tokens.size(); ++at) {
    const code::Token& token = tokens[at];
    if (token.kind == code::Token::kString && code::HasFields(token.text)) AddWords(token.text);
    const bool is_member = at > 0 && tokens[at - 1].text == ".";
    if (token.kind != code::Token::kName || is_member || IsKeyword(tokens, at)) continue;
    std::string chain;
    size_t last = at;
    while (last + 2 < tokens.size() && tokens[last + 1].text == "." &&
           tokens[last + 2].kind == code::Token::kName) {
      last += 2;
      absl::StrAppend(&chain, chain.empty() ? "" : ".", tokens[last].text);
    }
    Reads& reads = reads_[token.text];
    if (chain.empty()) {
      reads.whole = true;
    } else {
      reads.chains.push_back(std::move(chain));
    }
    at = last;
  }
  for (auto& [name, reads] : reads_) {
    std::sort(reads.chains.begin(), reads.chains.end());
    reads.chains.erase(std::unique(reads.chains.begin(), reads.chains.end()), reads.chains.end());
  }
}

// Returns the members that are read of the name; null if it is also read as a whole, or not at all.
const std::vector<std::string>* MemberReads::Find(absl::string_view name) const {
  const auto found = reads_.find(name);
  return found == reads_.end() || found->second.whole ? nullptr : &found->second.chains;
}

// Any word of an f-string may be code in one of its fields.
void MemberReads::AddWords(absl::string_view literal) {
  const auto is_word = [](char c) { return absl::ascii_isalnum(c) || c == '_' || (c & 0x80) != 0; };
  for (size_t end, begin = 0; begin < literal.size(); begin = end + 1) {
    for (end = begin; end < literal.size() && is_word(literal[end]);) ++end;
    if (end > begin) reads_[literal.substr(begin, end - begin)].whole = true;
  }
}

}  // namespace kernelmill::extractor
