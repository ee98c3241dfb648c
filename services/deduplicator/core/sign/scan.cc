#include "services/deduplicator/core/sign/scan.h"

namespace kernelmill::deduplicator {

bool AtNumber(absl::string_view text) {
  return IsDigit(text.front()) || (text.front() == '.' && text.size() > 1 && IsDigit(text[1]));
}

size_t NumberLength(absl::string_view text, char separator) {
  const bool is_hex = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  size_t end = 1;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    const char last = text[end - 1];
    if (IsWord(c) || c == '.') continue;
    const bool exponent = !is_hex && (last == 'e' || last == 'E') && (c == '+' || c == '-');
    const bool separates = separator != '\0' && c == separator && end + 1 < text.size() &&
                           IsWord(last) && IsWord(text[end + 1]);
    if (!exponent && !separates) break;
  }
  return end;
}

size_t ContinuationLength(absl::string_view text) {
  if (text.size() < 2 || text[0] != '\\' || !IsNewline(text[1])) return 0;
  return text.size() > 2 && text[1] == '\r' && text[2] == '\n' ? 3 : 2;
}

}  // namespace kernelmill::deduplicator
