#ifndef KERNELMILL_COMMON_JOB_YAML_MESSAGE_H_
#define KERNELMILL_COMMON_JOB_YAML_MESSAGE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace kernelmill::job {

// A node of a YAML document as it is written: with its line, and with no alias or tag resolved.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;         // from 1
  bool quoted = false;  // scalars: written in quotes, so text whatever it looks like
  std::string text;     // scalars only
  // A list's items; a map's keys and values in turn.
  std::vector<YamlNode> children;
};

// Parses the only document in `text`. INVALID_ARGUMENT (FileError): not UTF-8, not YAML, nested
// deeper than 16 levels, more than one document, or an anchor, an alias or a tag, which no job file
// needs.
absl::StatusOr<YamlNode> ParseYamlTree(absl::string_view text, absl::string_view file);

// The lines on which a file has the fields of a message, by key: "sources[2].ref".
class FieldLines {
 public:
  void Set(const std::string& key, int line) { lines_[key] = line; }

  // Returns the line of the field, else that of the nearest field around it, else 1.
  int Of(absl::string_view key) const;

 private:
  std::map<std::string, int> lines_;
};

// Reads a message from a tree whose keys are the field names and whose enum values are short
// lower-case words: "holdout" means SOURCE_ROLE_HOLDOUT. INVALID_ARGUMENT (FileError): unknown or
// repeated keys, wrong types, unknown words.
absl::Status ReadYamlMessage(const YamlNode& root, absl::string_view file,
                             google::protobuf::Message* message, FieldLines* lines);

// Returns the message as YAML, its fields in the order of the proto. Equal messages give equal
// bytes.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_YAML_MESSAGE_H_
