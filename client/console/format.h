#ifndef KERNELMILL_CLIENT_CONSOLE_FORMAT_H_
#define KERNELMILL_CLIENT_CONSOLE_FORMAT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/text.h"

namespace google::protobuf {
class Message;
}

namespace kernelmill::client {

// Single values as text for a terminal, and messages as JSON.

// Returns text of repositories and servers as one line for a terminal: UTF-8, with what it would
// act on spelled out as SafeLine does, and blanks for line ends.
std::string OneLine(absl::string_view text);

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

// Returns a JSON object on one line, with a newline at its end. Its keys keep their order.
std::string JsonLine(const nlohmann::ordered_json& object);

// Returns a message as a JSON object on one line, with the field names of the protos. Fields with
// their default value are included.
std::string MessageJson(const google::protobuf::Message& message);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_FORMAT_H_
