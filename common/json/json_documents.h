#ifndef KERNELMILL_COMMON_JSON_JSON_DOCUMENTS_H_
#define KERNELMILL_COMMON_JSON_JSON_DOCUMENTS_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::json {

// One JSON value of a file.
struct Document {
  absl::string_view text;
  size_t begin = 0;     // in the file
  std::string pointer;  // what its strings' pointers begin with: "", or "/" and the line from 1
};

// Whether the path's extension is one of JSON's.
bool IsJsonPath(absl::string_view path);

// The values of a file: of a .jsonl file one each line that is not blank, of any other the whole.
// Names mislead: a .json file is read by line where its first line is a whole value and more
// follow, a .jsonl file as a whole where its first line is none, but all of it is. A byte order
// mark is no part of any.
class Documents {
 public:
  // Refers to `text`.
  Documents(absl::string_view path, absl::string_view text);

  bool Next(Document* document);

 private:
  const absl::string_view text_;
  size_t at_ = 0;
  size_t line_ = 0;  // how many were read
  bool by_line_ = false;
};

}  // namespace kernelmill::json

#endif  // KERNELMILL_COMMON_JSON_JSON_DOCUMENTS_H_
