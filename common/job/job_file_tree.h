#ifndef KERNELMILL_COMMON_JOB_JOB_FILE_TREE_H_
#define KERNELMILL_COMMON_JOB_JOB_FILE_TREE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::job {

// A YAML document as it is written: every node with its line, nothing resolved.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;         // from 1
  bool quoted = false;  // of a scalar: text, whatever it looks like
  std::string text;     // of a scalar
  // Of a list, its items; of a map, key and value in turn.
  std::vector<YamlNode> children;
};

// "FILE:LINE: what" as INVALID_ARGUMENT, on one line whatever the parts hold.
absl::Status FileError(absl::string_view file, int line, absl::string_view what);

// Parses the only document in `text`. INVALID_ARGUMENT, by FileError: not UTF-8, not YAML, nested
// deeper than 16, more than one document, or with what no job file needs: anchors, aliases and
// tags.
absl::StatusOr<YamlNode> ParseYamlTree(absl::string_view text, absl::string_view file);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_JOB_FILE_TREE_H_
