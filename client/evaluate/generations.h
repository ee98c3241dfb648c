#ifndef KERNELMILL_CLIENT_EVALUATE_GENERATIONS_H_
#define KERNELMILL_CLIENT_EVALUATE_GENERATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kernelmill::client {

// What a model wrote, task by task.

struct Sample {
  std::string answer;  // as the model gave it
  std::string code;    // of it (generation_text.h)
  std::string text;    // that is judged: the code, or prompt and code
};

struct Task {
  std::string id;
  std::string prompt;
  std::optional<std::string> reference;  // its code
  std::vector<Sample> samples;           // in the file's order, at least one
};

struct Generations {
  std::string file;         // its name, without folders
  std::string file_sha256;  // hexadecimal
  std::vector<Task> tasks;  // in the order in which they first come

  size_t samples() const;
};

// Reads a file of JSON lines, or of one JSON list, whose rows are as generation_row.h has them.
// Rows of one task are its samples. A row that names no task is of the task that has its prompt,
// and without a prompt a task by itself: the task's id is then "prompt-" with a hash of the prompt,
// or "row-" with the row's number.
//
// At most 1 GiB, 32 MiB a line, 200,000 samples. NOT_FOUND: no such file; INVALID_ARGUMENT: what is
// wrong, with file and line (of a list with the number of the row).
absl::StatusOr<Generations> ReadGenerations(const std::string& path);

// Gives each task the reference that the file has for it, by the task's id as above; it goes before
// one that the generations brought. INVALID_ARGUMENT: as above, a task has two references, or no
// task has any.
absl::Status AddReferences(const std::string& path, Generations* generations);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_GENERATIONS_H_
