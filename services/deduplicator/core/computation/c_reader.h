#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_C_READER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_C_READER_H_

#include "absl/strings/string_view.h"
#include "services/deduplicator/core/computation/interpreter.h"

namespace kernelmill::deduplicator {

// Runs the function of that name, as far as its tokens tell without declarations and macros.
// Returns false if the text has no such function.
bool ReadC(absl::string_view source, absl::string_view name, Interpreter* interpreter);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_C_READER_H_
