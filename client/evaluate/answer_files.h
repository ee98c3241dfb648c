#ifndef KERNELMILL_CLIENT_EVALUATE_ANSWER_FILES_H_
#define KERNELMILL_CLIENT_EVALUATE_ANSWER_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::client {

// An answer that is a Python file.
struct AnswerFile {
  std::string task;
  int64_t sample = 0;  // its number in the name; 0 without one
  std::string path;
};

// Returns the task and the number that a file's name says, from its path below the folder of
// answers: level_1_problem_3_sample_0_kernel.py and level_1_problem_3/0.py are sample 0 of
// level_1_problem_3. A name without a number is a task of its own.
AnswerFile NameAnswerFile(absl::string_view path);

// Returns whether answers at the path are Python files: it is a folder, or its name ends with .py.
bool HoldsAnswerFiles(const std::string& path);

// Returns the file, or the files of a folder whose names end with .py, by task, number and path.
// Links are not followed. INVALID_ARGUMENT: more than `most` files, or none.
absl::StatusOr<std::vector<AnswerFile>> ListAnswerFiles(const std::string& path, size_t most);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_ANSWER_FILES_H_
