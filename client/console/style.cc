#include "client/console/style.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace kernelmill::client {
namespace {

constexpr size_t kLabelWidth = 11;  // with a blank

// Returns whether a variable is set to something that is not empty.
bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool IsForced() {
  return IsSet("CLICOLOR_FORCE") && absl::string_view(std::getenv("CLICOLOR_FORCE")) != "0";
}

bool IsDumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || absl::string_view(term) == "dumb";
}

}  // namespace

bool WantsColor(ColorChoice choice, int fd) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (IsSet("NO_COLOR")) return false;
  return IsForced() || (::isatty(fd) == 1 && !IsDumb());
}

std::string Paint(Tone tone, absl::string_view text) {
  switch (tone) {
    case Tone::kPlain:
      break;
    case Tone::kGood:
      return absl::StrCat("\x1b[32m", text, "\x1b[0m");
    case Tone::kWarning:
      return absl::StrCat("\x1b[33m", text, "\x1b[0m");
    case Tone::kBad:
      return absl::StrCat("\x1b[31m", text, "\x1b[0m");
  }
  return std::string(text);
}

std::string LabelPadding(absl::string_view label) {
  if (label.empty()) return "";
  return std::string(label.size() < kLabelWidth ? kLabelWidth - label.size() : 1, ' ');
}

std::string PlainText(const std::vector<LabelledLine>& lines) {
  std::string text;
  for (const LabelledLine& line : lines) {
    absl::StrAppend(&text, line.label, LabelPadding(line.label), line.text, "\n");
  }
  return text;
}

}  // namespace kernelmill::client
