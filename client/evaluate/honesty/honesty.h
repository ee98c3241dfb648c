#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_HONESTY_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_HONESTY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/evaluate/honesty/finding.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::client {

// An answer and what it answers.
struct Answer {
  absl::string_view text;  // the text to judge
  absl::string_view prompt;
  bool continues = false;                // the text is the prompt with what continues it
  std::optional<std::string> reference;  // with the prompt, if it continues that
  const v1::KernelShard& kernels;        // that the extractor found in the text
};

// The outcomes of the checks (finding.h) that apply to an answer.
struct Honesty {
  std::map<std::string, bool> passed;  // by check
  std::vector<Finding> findings;       // by line
};

// Checks whether an answer does by kernels what it seems to do. Nothing is executed.
// docs/evaluate.md describes the checks. They say nothing about whether results are right.
//
// Checks of host code do not apply to an answer without any, if the task asks for none: its
// reference has none, or the answer continues a prompt that has none. Answers of kernels that
// Triton does not launch are asked for names_bound and patches only.
Honesty CheckHonesty(const Answer& answer);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_HONESTY_H_
