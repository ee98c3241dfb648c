#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_MEMORY_CALLS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_MEMORY_CALLS_H_

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// Which calls have to do with memory, by the last part of what is called.

// Loads, stores, atomics and copies, of Triton, of Gluon and of libraries for several devices:
// load, buffer_store, atomic_add, ld_acquire.
bool Accesses(absl::string_view function);

// make_block_ptr, make_tensor_descriptor.
bool MakesDescriptor(absl::string_view function);

// Whether a function gives back its first argument, an address where that is one.
bool HandsOn(absl::string_view function);

// Whether a method gives what it is called of, as another type or in part: p.to(...), m.index(i).
bool IsView(absl::string_view method);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_MEMORY_CALLS_H_
