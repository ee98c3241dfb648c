#ifndef KERNELMILL_CLIENT_EVALUATE_GENERATIONS_H_
#define KERNELMILL_CLIENT_EVALUATE_GENERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelmill::client {

// One answer of a model.
struct Sample {
  std::string answer;  // the whole answer
  std::string code;    // the code in it (ExtractCode in answer_code.h)
  std::string text;    // the text to judge: the code, or prompt and code (WholeText)
};

// A task with the samples for it.
struct Task {
  std::string id;
  std::string prompt;
  std::optional<std::string> reference;  // its code
  std::vector<Sample> samples;           // in the file's order, at least one
};

// The generations of one model, by task.
struct Generations {
  std::string file;         // its name, without folders
  std::string file_sha256;  // hexadecimal
  std::vector<Task> tasks;  // in the order of their first rows

  size_t samples() const;
};

// Reads answers. A name that ends with .py is one answer, and a folder has one in each file of such
// a name: all of the file is its code. The task is the name without .py; of
// TASK_sample_3_kernel.py and TASK_sample_3.py, as KernelBench writes them, and of TASK/3.py, it is
// TASK. Other files are JSON lines, or one JSON list, with rows as ParseGenerationRow reads them.
// Rows of the same task are its samples. A row without a task id belongs to the task with its
// prompt
// ("prompt-" and a hash of the prompt); a row without a prompt too is a task of its own ("row-" and
// the row's number).
//
// Limits: 1 GiB a file, 32 MiB a line, 200,000 samples. NOT_FOUND: the file does not exist;
// INVALID_ARGUMENT: a row is wrong; the message has the file and the line (for a list the row).
absl::StatusOr<Generations> ReadGenerations(const std::string& path);

// Sets the references of tasks from a file, by the task's id as above. They replace references in
// the generations. INVALID_ARGUMENT: as above; or a task has two references, or no task has one.
absl::Status AddReferences(const std::string& path, Generations* generations);

inline constexpr int64_t kMaxGenerationBytes = 1 << 20;  // the limit for one text
inline constexpr size_t kMaxRowSamples = 10000;

// One row of a harness's output.
struct GenerationRow {
  std::string task_id;  // empty: none
  std::string prompt;
  std::vector<std::string> samples;
  std::optional<std::string> reference;
  bool whole_file = false;  // the samples are code, without anything around it
};

// Reads a row: an object, or (bigcode's generations.json) a list of samples. For each field the
// first of these keys counts that the row has:
//
// clang-format off
//   task      task_id, custom_id (OpenAI's batches), doc_id (lm-eval), question_id, name
//   prompt    prompt, instruction, question, input, messages, arguments (lm-eval)
//   samples   samples, completions, generations, outputs (vLLM), choices (OpenAI), resps (lm-eval),
//             completion, output, response, generation, predict (LLaMA-Factory), solution
//             (EvalPlus), generated_text, text
//   reference reference, canonical_solution, label, target
// clang-format on
//
// Samples are texts, lists, or objects with a text under text, content, completion, output,
// generated_text, message, body or choices; lists may be nested. null is an empty sample: harnesses
// write it for a failed request. The prompt of a list of messages is their texts with blank lines
// between them.
//
// INVALID_ARGUMENT: the row has no samples, a value is not a text, or a limit is exceeded.
absl::StatusOr<GenerationRow> ParseGenerationRow(const nlohmann::json& row);

// Reads a row of a file of references: the task, the prompt, and the reference as its only sample.
// The reference may also be under the keys of samples.
absl::StatusOr<GenerationRow> ParseReferenceRow(const nlohmann::json& row);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_GENERATIONS_H_
