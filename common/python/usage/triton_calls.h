#ifndef KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_
#define KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::python {

// What Triton's functions do with what they are given, by the last part of what is called.

enum class MemoryAccess : uint8_t {
  kNone,
  kLoad,
  kStore,
  kAtomic,          // add, max, min
  kBitwise,         // atomic and, or, xor
  kCompareAndSwap,  // and exchange
};
MemoryAccess MemoryAccessOf(absl::string_view function);

struct CallTraits {
  bool numbers = false;      // its arguments are integers
  absl::string_view rule;    // that says so
  bool floats = false;       // it takes and gives floats alone
  bool shape = false;        // its arguments shape a tensor
  bool gives_index = false;  // it gives an integer
  bool passes = false;       // it gives its first argument in another shape or order, or reduced
  bool passes_two = false;   // it gives one of its first two
};
CallTraits TraitsOf(absl::string_view function);

// Whether x.f() is a method of a value: not a function of a module, as tl.load or tl.math.exp are.
bool IsMethodOfValue(const Function& function, const Expression& callee);

// Bits of a type of Triton's: 8 of float8e4nv; 0: no type that is known.
int BitsOf(absl::string_view type);

// 1.5, 1e-3 and not 0x1e.
bool IsFloatLiteral(absl::string_view number);

// Whether a name says that it is a pointer: x_ptr, Xptr, p_x.
bool NamesPointer(absl::string_view name);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_
