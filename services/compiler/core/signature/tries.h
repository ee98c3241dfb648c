#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TRIES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TRIES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler {

// The signatures that a kernel is tried with.
struct Tries {
  std::vector<v1::KernelSignature> tries;
  std::string missing;  // an argument that no rule gives, if there are no tries; else empty

  // Adds a signature and numbers it, unless an equal one is there.
  void Add(v1::KernelSignature signature);
};

// Makes a signature with each of the guesses: make_one(guess, missing). There are no tries if one
// sets what is missing.
template <typename AllGuesses, typename MakeOne>
Tries MakeTries(const AllGuesses& all, MakeOne make_one) {
  Tries made;
  for (const auto& guesses : all) {
    v1::KernelSignature signature = make_one(guesses, made.missing);
    if (!made.missing.empty()) return {{}, made.missing};
    made.Add(std::move(signature));
  }
  return made;
}

void AddArgument(absl::string_view name, absl::string_view type, absl::string_view rule,
                 v1::KernelSignature& signature);
void AddConstant(absl::string_view name, absl::string_view value, absl::string_view rule,
                 v1::KernelSignature& signature);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TRIES_H_
