#ifndef KERNELMILL_SERVICES_CLI_COMMANDS_PATH_TEXT_H_
#define KERNELMILL_SERVICES_CLI_COMMANDS_PATH_TEXT_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"

namespace kernelmill::cli {

// A kernel's path for people: that of one in a JSON file with the pointer, as a URL has it. `Place`
// is a message with a json_pointer.
template <typename Place>
std::string PathText(absl::string_view path, const Place& place) {
  if (!place.has_json_pointer()) return ToUtf8(path);
  return absl::StrCat(ToUtf8(path), "#", ToUtf8(place.json_pointer()));
}

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_COMMANDS_PATH_TEXT_H_
