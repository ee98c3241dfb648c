#ifndef KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_
#define KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"
#include "common/python/usage/usage_rules.h"

namespace kernelmill::python {

// Triton's functions, by the last part of the called name, and what they do with their arguments.

enum class MemoryAccess : uint8_t {
  kNone,
  kLoad,
  kStore,
  kAtomic,          // add, max, min
  kBitwise,         // atomic and, or, xor
  kCompareAndSwap,  // and exchange
};
MemoryAccess GetMemoryAccess(absl::string_view function);

struct CallTraits {
  bool numbers = false;                 // its arguments are integers
  UsageRule rule = UsageRule::kNoRule;  // the rule that says so
  bool floats = false;                  // it takes and gives floats alone
  bool shape = false;                   // its arguments shape a tensor
  bool gives_index = false;             // it gives an integer
  bool passes = false;      // it gives its first argument in another shape or order, or reduced
  bool passes_two = false;  // it gives one of its first two
};
CallTraits GetCallTraits(absl::string_view function);

// Returns whether x.f() is a method of a value, and not a function of a module such as tl.load.
bool IsMethodOfValue(const Function& function, const Expression& callee);

// Returns the bits of one of Triton's types: 8 for float8e4nv; 0 for an unknown type.
int CountBits(absl::string_view type);

// Returns whether a number is 1.5 or 1e-3, and not 0x1e.
bool IsFloatLiteral(absl::string_view number);

// Returns whether a name says that it is a pointer: x_ptr, Xptr, p_x.
bool NamesPointer(absl::string_view name);

// The questions of ParameterPlaces. It reads libraries and devices that are never compiled here, so
// that it goes by patterns of names, where the tables above have Triton's functions alone.

// Returns whether a function loads, stores, copies or changes memory, in Triton, Gluon or a library
// for several devices: load, buffer_store, atomic_add, ld_acquire.
bool Accesses(absl::string_view function);

// Returns whether a function makes a block pointer or a tensor descriptor.
bool MakesDescriptor(absl::string_view function);

// Returns whether a function returns its first argument, an address if that is one.
bool HandsOn(absl::string_view function);

// Returns whether a method returns the value that it is called of, as another type or in part:
// p.to(...), m.index(i).
bool IsView(absl::string_view method);

// Returns whether a function makes the values of a loop: range, tl.range, tl.static_range.
bool IsRange(absl::string_view function);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_
