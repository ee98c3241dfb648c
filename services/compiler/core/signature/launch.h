#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_LAUNCH_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_LAUNCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::compiler {

using python::Expression;
using python::Function;
using python::ModuleFunctions;

// A value that host code gives to a kernel, as far as the host code tells.
struct HostValue {
  std::string
      type;  // "i32", "fp32", "i1", "*i64"; "tensordesc": its type is not told; empty: unknown
  std::string literal;         // its value as a literal of Python; empty: unknown
  std::string likely;          // a literal that it may be: one of two, a number that is a default
  std::string dtype;           // of a type: "float16"
  bool none = false;           // it is None
  bool optional = false;       // it may be None
  bool power_of_2 = false;     // made to be one
  absl::string_view not_none;  // "x" of `x is not None`: a name
  bool is_none = false;        // of `x is None` instead
  bool tensor_too = false;     // of a descriptor: in another case it is the tensor itself
  const Expression* block = nullptr;  // a descriptor's: the list of its block's sizes
};

// The arguments of a kernel's launch in a host function: kernel[grid](x, n, BLOCK=64), or
// ct.launch(stream, grid, kernel, (x, n)). Immutable; refers to the host's functions.
//
// If there are several launches, the first that can be read counts. The host function tells values
// by literals, defaults and annotations of its own parameters, torch.empty(..., dtype=torch.int32),
// x.stride(0), x.shape.
class Launch {
 public:
  // `parameters`: the kernel's, in order.
  Launch(const ModuleFunctions& host, absl::string_view kernel,
         const std::vector<absl::string_view>& parameters);

  // Returns the argument for a parameter, or for an option such as num_warps; null if none is
  // known.
  const Expression* Given(absl::string_view name) const;
  HostValue GetValue(absl::string_view name) const;
  // Returns the value of an expression of the host function that launches.
  HostValue GetValue(const Expression& expression) const { return Evaluate(expression, 0); }
  // Returns the parameter whose argument has that text: BLOCK for BLOCK=block_size; empty if there
  // is no such parameter.
  absl::string_view GivenAs(absl::string_view text) const;

 private:
  // How a launch is known: by the kernel's name; else, of a kernel that goes by another name there,
  // by its grid, and that it gives all of the parameters, or no more than there are.
  enum class Match : uint8_t { kName, kGridOfAll, kGrid };
  struct Wanted {
    Match match;
    absl::string_view kernel;
    const std::vector<absl::string_view>& parameters;
  };
  void FindLaunch(const Function& host, const Wanted& wanted);
  static bool Fits(const Expression& expression, const Wanted& wanted);
  static bool IsWanted(const Expression& call, const Wanted& wanted);
  static bool IsCallWith(const Expression& call, absl::string_view kernel);
  void ReadArguments(const std::vector<absl::string_view>& parameters);
  HostValue Evaluate(const Expression& expression, int depth) const;
  HostValue EvaluateName(absl::string_view name, int depth) const;
  const Expression* FindElement(const Expression& of, const Expression& index) const;
  HostValue EvaluateCall(const Expression& call, int depth) const;
  HostValue EvaluateDescriptor(const Expression& call) const;
  HostValue EvaluateBinary(const Expression& expression, int depth) const;

  const ModuleFunctions& host_;
  const Function* function_ = nullptr;
  const Expression* call_ = nullptr;
  absl::flat_hash_map<std::string, const Expression*> given_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_LAUNCH_H_
