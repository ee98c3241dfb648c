#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_WORDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_WORDS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace kernelmill::extractor::cuda {

// A name that code uses, with the namespaces and classes that it is written with: "n::f".
struct UsedName {
  std::string path;
  bool global = false;   // ::n::f
  bool invoked = false;  // at every place '(' follows: nothing less would expand a macro
};

// The names of a declaration or of a macro's text.
struct Words {
  std::vector<UsedName> used;                 // sorted, each once; no keywords, no x of a.x
  absl::flat_hash_set<std::string> declared;  // in it: parameters, variables, members, labels
  std::vector<std::string> asked;             // words of conditionals in it
  std::vector<std::string> opened;            // namespaces, by "using namespace" in it
};

// Of the text of a declaration. Linear in time.
//
// The basic idea: a word is declared where it follows a type. What a type is nobody knows who reads
// one text; but a word after another word is one, and so is what stands after * or & where a
// statement or a parameter begins and what stands before it is a name. Of what is used under a name
// that the same text declares nothing is said: all places of it count as the declared one.
Words WordsOfDeclaration(absl::string_view text);

// Of what follows a macro's name in its definition. Its parameters are declared, and words that are
// pasted together are neither.
Words WordsOfMacro(absl::string_view rest, bool takes_arguments);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_WORDS_H_
