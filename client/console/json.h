#ifndef KERNELMILL_CLIENT_CONSOLE_JSON_H_
#define KERNELMILL_CLIENT_CONSOLE_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}

namespace kernelmill::client {

// The JSON of --json. docs/reference/json.md lists the types of lines with their fields.

// Returns a JSON object on one line, with a newline at its end: first its "type", then the fields,
// which keep their order. Texts that are not UTF-8 are repaired.
std::string JsonLine(absl::string_view type, const nlohmann::ordered_json& fields);

// Returns a message as an object with the field names of the proto. A number is a JSON number, an
// enum the word that job files have, and a digest "hash/size". A field that is not set is null if
// it can be unset, and has its default otherwise. Bytes are text; if they are not UTF-8, wrong
// bytes are replaced, and NAME_base64 has the exact ones.
nlohmann::ordered_json MessageJson(const google::protobuf::Message& message);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_JSON_H_
