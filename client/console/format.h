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

// How single values look on a terminal, and messages as JSON.

// Text of repositories and servers, fit for one line of a terminal: in UTF-8, without control
// characters.
std::string OneLine(absl::string_view text);

// The first `width` columns of a line in UTF-8, taking each character for one.
std::string CutTo(const std::string& line, int width);

// Minutes and seconds, or hours, minutes and seconds; "?" for an infinite duration.
std::string ShortDuration(absl::Duration duration);

// "1.5 GiB"; below 1 KiB "17 bytes".
std::string ShortBytes(int64_t bytes);

// A kernel's path for people: that of one in a JSON file with the pointer, as a URL has it.
// `Kernel` is a message with a json_pointer.
template <typename Kernel>
std::string PathText(absl::string_view path, const Kernel& kernel) {
  if (!kernel.has_json_pointer()) return ToUtf8(path);
  return absl::StrCat(ToUtf8(path), "#", ToUtf8(kernel.json_pointer()));
}

// A JSON object on one line, with a newline at its end; its keys keep their order.
std::string JsonLine(const nlohmann::ordered_json& object);

// A message as a JSON object on one line, with the field names of the protos; fields at their
// defaults are written too.
std::string MessageJson(const google::protobuf::Message& message);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_FORMAT_H_
