#ifndef KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_
#define KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/manifest/fim.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// A question about a kernel, with the answer from its repository.
struct Conversation {
  absl::string_view template_name;  // the template that made it
  std::string system;
  std::string user;
  std::string assistant;
};

// The names of all templates, in the order of a kernel's conversations.
const std::vector<std::string>& TemplateNames();

// Makes the conversations that a kernel has evidence for. Everything in them comes from the record:
// signature, docstring, tags, roles of parameters, launcher. Nothing is invented. Thread-safe.
//
//   write     asks for a kernel by name, signature, tags, docstring, parameters and launcher; the
//             answer is `module`. Needs a launched, self-contained kernel with a docstring or a
//             tag.
//   complete  asks for the body of fim_sft.csv's prompt; the answer is its completion. Needs a row
//             there.
//   launch    asks for the function that launches the module; the answer is the launcher. Not for
//             CUDA.
//   document  asks what the kernel does, without its docstring; the answer is the docstring. Needs
//             one of at least five words.
//
// A launcher is shown, or asked for, only if its text names the kernel and does not contain it.
std::vector<Conversation> Conversations(const v1::Kernel& kernel, const manifest::FimPair& fim);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_
