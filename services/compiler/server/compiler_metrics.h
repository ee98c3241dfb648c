#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_METRICS_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_METRICS_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// Returns "ok", "error" or "unknown", as in records and metrics.
absl::string_view StatusName(v1::CompileStatus status);

// Counts the compilers' results, and the kernels that were not compiled.
void CountCompiled(const v1::CompiledShard& compiled);

// Creates the series that are known before the first kernel, with the value 0.
void PrefillCompiled();

// Makes a compiler that passes calls on to `compiler`, times them, and counts those that fail.
// `compiler` must outlive it. Thread-safe.
std::unique_ptr<Compiler> NewTimedCompiler(Compiler& compiler);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_METRICS_H_
