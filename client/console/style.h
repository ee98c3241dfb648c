#ifndef KERNELMILL_CLIENT_CONSOLE_STYLE_H_
#define KERNELMILL_CLIENT_CONSOLE_STYLE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// Colours of a terminal. They are sparse: only a word that says how it went has one, never a text
// of a repository or a server.

// The flag --color.
enum class ColorChoice { kAuto, kAlways, kNever };

// Returns whether to write colours to a file: as the choice says; with kAuto only on a terminal
// that has colours (TERM), and never if NO_COLOR is set, always if CLICOLOR_FORCE is (no-color.org,
// bixense.com/clicolors).
bool WantsColor(ColorChoice choice, int fd);

enum class Tone { kPlain, kGood, kWarning, kBad };

// Returns the text between the terminal's sequences for green, yellow or red.
std::string Paint(Tone tone, absl::string_view text);

// A line of a summary: a label of at most ten columns, whose colour is the tone, and a text.
struct LabelledLine {
  std::string label;
  std::string text;
  Tone tone = Tone::kPlain;
};

// Returns the lines without colours, each with a newline.
std::string PlainText(const std::vector<LabelledLine>& lines);

// Returns the blanks between a label and its text; none without a label.
std::string LabelPadding(absl::string_view label);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_STYLE_H_
