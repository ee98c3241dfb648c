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
  bool invoked = false;  // '(' follows at a use; only then can it be a macro with arguments
  // The text declares the name elsewhere, where it does not hold for any use: a guess, as the
  // bounds of names are. Without a declaration in the source such a name is not missing.
  bool shadowed = false;
};

// The names in the text of a declaration or of a macro.
struct Words {
  std::vector<UsedName> used;                 // sorted, each once; no keywords, no x of a.x
  absl::flat_hash_set<std::string> declared;  // parameters, variables, members, labels
  std::vector<std::string> asked;             // words of its #if lines
  std::vector<std::string> opened;            // namespaces, by "using namespace"
  // All words, also x of a.x, and "operator+" for a sign +. Sorted, each once.
  std::vector<std::string> mentioned;
  // Words from which ## makes others in a macro; an empty one if it joins two parameters.
  std::vector<std::string> pasted;
};

// Returns whether a function of this name can be used only where the text mentions it: f and
// operator+ can, but a compiler calls conversions, begin() and operator= without a word.
bool NeedsMention(absl::string_view name);

// Reads the text of a declaration. Linear in time.
//
// The basic idea: a word that follows a type is declared; all other words are used. One text alone
// does not tell which words are types, so the place decides. A word right after another word is
// declared: `T x`. A word after '*' or '&' is declared if a statement or a parameter begins with
// the name before it: `T *x` is a declaration at the start of a statement and a product elsewhere.
// A declared name holds up to the end of the braces around it; one of a class or an enum holds
// everywhere. A use outside is `shadowed`.
Words ReadDeclarationWords(absl::string_view text);

// Reads what follows a macro's name in its definition. The macro's parameters are declared. Words
// that ## pastes together are neither declared nor used.
Words ReadMacroWords(absl::string_view rest, bool takes_arguments);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_WORDS_H_
