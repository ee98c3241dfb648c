#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_PYTHON_READER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_PYTHON_READER_H_

#include "absl/strings/string_view.h"
#include "services/deduplicator/core/computation/interpreter.h"

namespace kernelmill::deduplicator {

// Runs the first function of a text, in which a method may be indented. A function within it runs
// where it is defined. Returns false for a text without a function, or that is not Python.
bool ReadPython(absl::string_view source, Interpreter* interpreter);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_COMPUTATION_PYTHON_READER_H_
