#ifndef KERNELMILL_SERVICES_COMPILER_CORE_COMPILER_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_COMPILER_H_

#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler {

// A signature that a kernel may have. A target takes the first try that compiles for it and that it
// could launch.
struct Try {
  v1::KernelSignature signature;
  // A constexpr's `value` in `signature` is a Python expression over the module's names and `args`,
  // the other values by name, as the lambdas of @triton.heuristics take them. The compiler's Python
  // evaluates it.
  bool small = false;  // its guessed sizes are the smallest that are tried
};

struct KernelJob {
  std::string toolchain;  // its name
  std::string module;     // Kernel.module
  std::string function;   // a name of the module; of a C++ one with its namespaces
  std::string source;     // Kernel.source, to tell functions of that name apart; may be empty
  std::string
      launcher;  // the text of a function that launches it; may use names that the module lacks
  bool gluon = false;
  std::vector<std::string> targets;  // "cuda:90", "hip:gfx942"
  std::vector<Try> tries;  // may be empty: then the module is loaded, and nothing is compiled
  std::vector<std::string> keep;  // forms whose text is wanted
  int max_seconds =
      180;  // processor seconds a target; as many again if tries of small sizes are left
  std::stop_token stop;  // requested: the caller does not wait for the report any more
};

struct TargetReport {
  std::string target;
  // The place in KernelJob.tries of the try that compiled, else of the one that came furthest
  // (frontend, passes, assembler); -1 if there was no try.
  int attempt = -1;
  // `signature`, `missing` aside. UNKNOWN is not for a compiler to say.
  v1::CompileResult result;
  // For a refusal of the frontend: the line of the kernel from which it came to `result.line`,
  // which may be of a helper; 0: unknown.
  int reached = 0;
  std::vector<v1::IrText> kept;
  // The signature as compiled: each constexpr's value as repr() has it.
  v1::KernelSignature signature;
};

struct KernelReport {
  v1::ModuleImport module_import;
  std::vector<TargetReport> targets;  // as in KernelJob; empty where the module could not be loaded
};

// Runs the compilers of one machine. Thread-safe: as many kernels at once as there are callers.
class Compiler {
 public:
  virtual ~Compiler() = default;

  // FAILED_PRECONDITION: the toolchain is not installed, or the machine cannot confine it.
  // UNAVAILABLE: the machine cannot now, whatever the kernel. ABORTED: the compiler's process was
  // lost, perhaps to a machine with too little memory for what the kernel may take. CANCELLED:
  // `job.stop`; within seconds nothing that was started for the job is alive. All that the kernel
  // itself brings about is in the report.
  virtual absl::StatusOr<KernelReport> Compile(const KernelJob& job) = 0;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_COMPILER_H_
