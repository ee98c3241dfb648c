#ifndef KERNELMILL_CLIENT_CONSOLE_FORMAT_H_
#define KERNELMILL_CLIENT_CONSOLE_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/text.h"

namespace kernelmill::client {

// Single values as text for a terminal.

// Returns text of repositories and servers as one line for a terminal: UTF-8, with what it would
// act on spelled out as SafeLine does, and blanks for line ends.
std::string OneLine(absl::string_view text);

// Returns a word for a shell, as one line, in quotes if it needs them.
std::string ShellWord(const std::string& word);

// Returns the first `width` columns of a line in UTF-8. Each character counts as one column.
std::string CutTo(const std::string& line, int width);

// Returns "M:SS" or "H:MM:SS"; "?" for an infinite duration.
std::string ShortDuration(absl::Duration duration);

// Returns "1.5 GiB"; below 1 KiB "17 bytes".
std::string ShortBytes(int64_t bytes);

// Returns a kernel's path for people. A kernel in a JSON file has its pointer after a '#', as in a
// URL. `Kernel` is a message with a json_pointer.
template <typename Kernel>
std::string PathText(absl::string_view path, const Kernel& kernel) {
  if (!kernel.has_json_pointer()) return OneLine(path);
  return absl::StrCat(OneLine(path), "#", OneLine(kernel.json_pointer()));
}

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_FORMAT_H_
