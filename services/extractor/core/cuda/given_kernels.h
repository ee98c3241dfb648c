#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_GIVEN_KERNELS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_GIVEN_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// Finds the kernels that host code gives to a function (dsl::KernelTakers) while FindFunctions
// reads a text from the front to the end: lambdas, and the operator() of classes.
//
// A lambda begins with the call that it is an argument of, or with the statement. It has the name
// of the call's first template argument, as in parallel_for<class scale>(range, [=](id<1> i)
// {...}); else that of the outermost function around with its number among the unnamed ones there:
// scale_1. An operator() has the name of its class. A lambda within a kernel is a part of that.
//
// The basic idea: a call says which of its arguments are kernels, by themselves or by the name of a
// variable or a class. The type of a parameter says it as well, wherever the call is.
class GivenKernels {
 public:
  GivenKernels(const Code& code, const Brackets& brackets) : code_(code), brackets_(brackets) {}

  // Returns whether kernels of the language are given to functions.
  bool wanted() const { return !code_.takers->members.empty(); }

  // Call these when the body of an outermost function begins and ends.
  void EnterHost(const Function& host);
  void LeaveHost();

  // Reads a function whose body begins. Sets its role, and its name, by the types of its
  // parameters.
  void ReadFunction(Function& function);
  // Read a word and '[' in a body.
  void ReadWord(uint32_t at);
  void ReadBracket(uint32_t at);

  // Adds what was found at the end of the text. The functions are in the order of bodies then.
  void AddTo(Findings& findings);

 private:
  struct Lambda {
    Function function;  // without its name, unless a call has one
    Launch launch;      // if there is one
    uint32_t host = kNoToken;
    bool given = false;
  };
  struct Call {
    uint32_t taker = kNoToken;
    uint32_t first = kNoToken;
    uint32_t close = kNoToken;
    std::string name;
  };

  bool IsTaker(uint32_t at) const;
  bool IsItem(uint32_t at) const;
  absl::string_view FindItem(const Enclosed& parameters) const;
  std::string ReadTypeName(uint32_t begin, uint32_t end) const;
  void ReadCall(uint32_t at);
  void ReadLastArgument(uint32_t begin, const Call& call);
  absl::string_view FindClass(absl::string_view name) const;
  bool ReadHead(uint32_t at, Function& function) const;
  uint32_t PostfixBegin(uint32_t name) const;
  uint32_t BeginAround(uint32_t at) const;
  void Give(Lambda& lambda, const Call& call) const;
  void GiveClass(absl::string_view name, const Call& call);
  void AddCandidates(Findings& findings);
  void AddLambdas(Findings& findings);

  const Code& code_;
  const Brackets& brackets_;
  std::vector<Function> hosts_;
  std::vector<Lambda> lambdas_;
  std::vector<Launch> launches_;      // that give classes
  std::vector<Function> candidates_;  // an operator() is a kernel if its class is given
  absl::flat_hash_map<std::string, std::string> given_classes_;  // to the taker
  absl::flat_hash_set<std::string> typed_classes_;  // that have a kernel by its parameters
  bool in_host_ = false;
  // These are cleared with the outermost function around.
  absl::flat_hash_map<uint32_t, Call> awaited_;  // by the '[' of a lambda that a call takes
  absl::flat_hash_map<absl::string_view, uint32_t> variables_;  // the latest declaration
  absl::flat_hash_map<absl::string_view, size_t> named_lambdas_;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_GIVEN_KERNELS_H_
