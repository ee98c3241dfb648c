#ifndef KERNELMILL_CLIENT_EVALUATE_GENERATION_ROW_H_
#define KERNELMILL_CLIENT_EVALUATE_GENERATION_ROW_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kernelmill::client {

inline constexpr int64_t kMaxGenerationBytes = 1 << 20;  // of one text
inline constexpr size_t kMaxRowSamples = 10000;

// A row as a harness wrote it.
struct GenerationRow {
  std::string task_id;  // empty: it names none
  std::string prompt;
  std::vector<std::string> samples;
  std::optional<std::string> reference;
};

// Reads a row, an object or (bigcode's generations.json) a list of samples. The first of these keys
// that a row has counts:
//
//   task      task_id, custom_id (OpenAI's batches), doc_id (lm-eval), question_id, name
//   prompt    prompt, instruction, question, input, messages, arguments (lm-eval)
//   samples   samples, completions, generations, outputs (vLLM), choices (OpenAI), resps (lm-eval),
//             completion, output, response, generation, predict (LLaMA-Factory), solution
//             (EvalPlus), generated_text, text
//   reference reference, canonical_solution, label, target
//
// Samples are a text, a list, or objects that hold one under text, content, completion, output,
// generated_text, message, body or choices, to any number in lists of lists; null, which is what
// harnesses write for a request that failed, is an empty one. A prompt of messages is their texts
// with a blank line between.
//
// INVALID_ARGUMENT: it has no samples, or something of it is out of bounds or no text.
absl::StatusOr<GenerationRow> ParseGenerationRow(const nlohmann::json& row);

// A row of a file of references: its task, its prompt, and as the one sample the reference, which
// may stand under the names of samples too.
absl::StatusOr<GenerationRow> ParseReferenceRow(const nlohmann::json& row);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_GENERATION_ROW_H_
