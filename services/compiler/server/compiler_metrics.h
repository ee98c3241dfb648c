#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_METRICS_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_METRICS_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// "ok", "error" or "unknown", as records and metrics say it.
absl::string_view StatusName(v1::CompileStatus status);

// Counts what compilers said of the kernels, and of which they were not asked.
void CountCompiled(const v1::CompiledShard& compiled);

// Makes the series, as far as they are known before the first kernel.
void PrefillCompiled();

// Times each call of another, which outlives it.
std::unique_ptr<Compiler> NewTimedCompiler(Compiler& compiler);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_METRICS_H_
