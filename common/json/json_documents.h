#ifndef KERNELMILL_COMMON_JSON_JSON_DOCUMENTS_H_
#define KERNELMILL_COMMON_JSON_JSON_DOCUMENTS_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::json {

// One JSON value of a file.
struct Document {
  absl::string_view text;
  size_t begin = 0;     // the offset in the file
  std::string pointer;  // the prefix of its strings' pointers: "", or "/" and the line from 1
};

// Returns true if the path has an extension of JSON.
bool IsJsonPath(absl::string_view path);

// A reader of the JSON values of a file: in a .jsonl file each line that is not blank, in any other
// the whole file. Names can be wrong: a .json file is read by line if its first line is a whole
// value and more follows; a .jsonl file is read as a whole if its first line is not a value, but
// the whole file is. A byte order mark is skipped. Not thread-safe.
class Documents {
 public:
  // `text` must outlive the reader.
  Documents(absl::string_view path, absl::string_view text);

  // Reads the next value. Returns false at the end.
  bool Next(Document* document);

 private:
  const absl::string_view text_;
  size_t at_ = 0;
  size_t line_ = 0;  // the number of lines read
  bool by_line_ = false;
};

}  // namespace kernelmill::json

#endif  // KERNELMILL_COMMON_JSON_JSON_DOCUMENTS_H_
