#ifndef KERNELMILL_COMMON_JOB_YAML_MESSAGE_H_
#define KERNELMILL_COMMON_JOB_YAML_MESSAGE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/job/job_file_tree.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace kernelmill::job {

// Where a file has the fields of a message, by their key: "sources[2].ref".
class FieldLines {
 public:
  void Set(const std::string& key, int line) { lines_[key] = line; }

  // The line of the field, or of the nearest that encloses it; else the first.
  int Of(absl::string_view key) const;

 private:
  std::map<std::string, int> lines_;
};

// Reads a message from a tree whose keys are its fields, enums as short lower-case words:
// SOURCE_ROLE_HOLDOUT is "holdout". INVALID_ARGUMENT, by FileError: unknown or repeated keys, wrong
// types, unknown words.
absl::Status ReadYamlMessage(const YamlNode& root, absl::string_view file,
                             google::protobuf::Message* message, FieldLines* lines);

// The message as YAML, its fields in the order of the proto: equal messages give equal bytes.
std::string YamlOfMessage(const google::protobuf::Message& message);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_YAML_MESSAGE_H_
