#ifndef KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_
#define KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/manifest/fim.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// A question about a kernel, and the answer that its repository gives.
struct Conversation {
  absl::string_view template_name;  // which template made it
  std::string system;
  std::string user;
  std::string assistant;
};

// The names of all templates, in the order of a kernel's conversations.
const std::vector<std::string>& TemplateNames();

// The conversations that a kernel has evidence for. All that they say is read from the record:
// signature, docstring, tags, parameters' roles, launcher; nothing is made up.
//
//   write     asks for a kernel by name, signature, tags, what the docstring says, parameters and
//             launcher; answers `module`; needs a launched, self-contained kernel with a docstring
//             or a tag.
//   complete  asks for the body of fim_sft.csv's prompt; answers its completion; needs a row there.
//   launch    asks for the function that launches the module; answers the launcher; not of CUDA.
//   document  asks what the kernel does, without its docstring; answers the docstring; needs one of
//             five words or more.
//
// A launcher is shown, or asked for, where its text names the kernel and does not hold it.
std::vector<Conversation> Conversations(const v1::Kernel& kernel, const manifest::FimPair& fim);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_
