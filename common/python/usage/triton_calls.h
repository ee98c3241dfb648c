#ifndef KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_
#define KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"
#include "common/python/usage/usage_rules.h"

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
  bool numbers = false;                 // its arguments are integers
  UsageRule rule = UsageRule::kNoRule;  // that says so
  bool floats = false;                  // it takes and gives floats alone
  bool shape = false;                   // its arguments shape a tensor
  bool gives_index = false;             // it gives an integer
  bool passes = false;      // it gives its first argument in another shape or order, or reduced
  bool passes_two = false;  // it gives one of its first two
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

// The questions of ParameterPlaces. It reads libraries and devices that are never compiled here, so
// that it goes by patterns of names, where the tables above have Triton's functions alone.

// Whether a function loads, stores, copies or changes memory, in Triton, Gluon or a library for
// several devices: load, buffer_store, atomic_add, ld_acquire.
bool Accesses(absl::string_view function);

// Whether a function makes a block pointer or a tensor descriptor.
bool MakesDescriptor(absl::string_view function);

// Whether a function returns its first argument, an address if that is one.
bool HandsOn(absl::string_view function);

// Whether a method returns the value that it is called of, as another type or in part: p.to(...),
// m.index(i).
bool IsView(absl::string_view method);

// Whether a function makes the values of a loop: range, tl.range, tl.static_range.
bool IsRange(absl::string_view function);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_TRITON_CALLS_H_
