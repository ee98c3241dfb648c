// Single values as text. Names and messages come from repositories and servers: a control character
// in one could move a terminal's cursor or change its title, so OneLine spells out all of them.

#include "client/console/format.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {

std::string OneLine(absl::string_view text) {
  return SafeLine(absl::StrReplaceAll(ToUtf8(text), {{"\r\n", " "}, {"\n", " "}, {"\r", " "}}));
}

std::string CutTo(const std::string& line, int width) {
  size_t end = 0;
  for (int columns = 0; end < line.size(); ++end) {
    // A byte begins a character unless it is a continuation byte of UTF-8.
    const bool starts = (static_cast<unsigned char>(line[end]) & 0xc0) != 0x80;
    if (starts && ++columns > width) break;
  }
  return line.substr(0, end);
}

std::string ShortDuration(absl::Duration duration) {
  if (duration > absl::Hours(1000)) return "?";
  // Rounded up, so that a remaining time is "0:00" only at the end.
  const int64_t seconds = absl::ToInt64Seconds(absl::Ceil(duration, absl::Seconds(1)));
  if (seconds < 3600) return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
  return absl::StrFormat("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string ShortBytes(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes);
  int unit = -1;
  // 1023.95 and more would be printed as 1024.0.
  for (; value >= 1023.95 && unit < 5; ++unit) value /= 1024;
  return absl::StrFormat("%.1f %ciB", value, "KMGTPE"[unit]);
}

std::string JsonLine(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string MessageJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Only fails for messages with an Any; these have none.
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : absl::StrCat("{\"error\":", JsonString(status.ToString()), "}");
}

}  // namespace kernelmill::client
