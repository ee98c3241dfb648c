#ifndef KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_
#define KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_

#include <map>
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

// A template that makes no conversation of a kernel, with a short stable word that says why.
struct NotAsked {
  absl::string_view template_name;
  absl::string_view reason;
};

// The kernels of a file that may be shown, by name.
using Siblings = std::map<absl::string_view, const v1::Kernel*>;

// Each template is in one of the two lists; both are in the templates' order.
struct Conversations {
  std::vector<Conversation> asked;
  std::vector<NotAsked> not_asked;
};

// Makes the conversations that a kernel has evidence for. Everything in them comes from the record:
// signature, docstring, tags, roles of parameters, launcher. Nothing is invented. Questions for
// code name the hardware if the kernel is for one (`target`, Verdict.target). Thread-safe.
//
//   write     asks for a kernel by name, signature, tags, docstring, parameters and launcher; the
//             answer is `module`. Needs a launched, self-contained kernel whose name says something
//             and which has a docstring of at least five words or a launcher that is no test.
//   complete  asks for the body of fim_sft.csv's prompt; the answer is its completion. Needs a row
//             there, and a name that says something or such a docstring.
//   launch    asks for the function that launches the module, by its head and the names that it
//             uses from elsewhere; the answer is the launcher. Not for CUDA, for tests, and for
//             functions without parameters.
//   document  asks what the kernel does, without its docstring; the answer is the docstring. Needs
//             one of at least five words.
//
// A launcher is shown, or asked for, only if its text names the kernel and does not contain it. If
// it launches other kernels too, `siblings` must have these: their signatures are shown.
Conversations MakeConversations(const v1::Kernel& kernel, const manifest::FimPair& fim,
                                absl::string_view target, const Siblings& siblings = {});

// Returns the question of the template `write`, for any kernel: what is known of it besides its
// code. `target` is the hardware that it is for. Thread-safe.
std::string WriteQuestion(const v1::Kernel& kernel, absl::string_view target);

// Returns the text as a Markdown code block, between fences that are longer than any fence in it.
std::string Fenced(absl::string_view text, absl::string_view language);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_CONVERSATIONS_H_
