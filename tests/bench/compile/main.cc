// usage: compile_bench TOOLCHAINS TOOLCHAIN confined|unconfined|anew add|product KERNELS
// Compiles a kernel KERNELS times for sm_90, one after the other, and prints seconds of the clock
// and of the processor, with all that it starts, and the resident memory of the largest process, as
// JSON. `anew`: a new interpreter, confined, for each kernel.
#include <sys/resource.h>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "services/compiler/adapters/toolchain/toolchain_compiler.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {
namespace {

// The smallest kernel, and a matrix product with its epilogue.
constexpr char kModule[] = R"(
import torch
import triton
import triton.language as tl

@triton.jit
def add(a, b, out, M, BM: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(out + i, tl.load(a + i, mask=i < M) + tl.load(b + i, mask=i < M), mask=i < M)

@triton.jit
def product(a, b, out, M, N, K, sa, sb, so, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + i[:, None] * sa + (start + k)[None, :], mask=(start + k)[None, :] < K, other=0.0)
        y = tl.load(b + (start + k)[:, None] * sb + j[None, :], mask=(start + k)[:, None] < K, other=0.0)
        total = tl.dot(x, y, total)
    total = total * tl.sigmoid(total)
    tl.store(out + i[:, None] * so + j[None, :], total.to(tl.float16), mask=(i[:, None] < M) & (j[None, :] < N))
)";

KernelJob MakeJob(const std::string& toolchain, const std::string& kernel) {
  KernelJob job;
  job.toolchain = toolchain;
  job.module = kModule;
  job.function = kernel;
  job.targets = {"cuda:90"};
  Try& attempt = job.tries.emplace_back();
  const bool add = kernel == "add";
  const std::vector<std::string> arguments = {"a", "b", "out", "M", "N", "K", "sa", "sb", "so"};
  for (const std::string& text :
       add ? std::vector(arguments.begin(), arguments.begin() + 4) : arguments) {
    v1::ArgumentType& argument = *attempt.signature.add_arguments();
    argument.set_name(text);
    argument.set_type(text == "a" || text == "b" || text == "out" ? "*fp16" : "i32");
    argument.set_divisible_by_16(true);
  }
  for (const std::string& name :
       add ? std::vector<std::string>{"BM"} : std::vector<std::string>{"BM", "BN", "BK"}) {
    v1::ConstexprValue& value = *attempt.signature.add_constexprs();
    value.set_name(name);
    value.set_value("64");
  }
  return job;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + time.tv_usec / 1e6;
}

double ProcessorSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage;
    ::getrusage(who, &usage);
    seconds += Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  }
  return seconds;
}

int Fail(const absl::Status& status) {
  std::cerr << status << "\n";
  return 1;
}

int Run(const ToolchainOptions& options, const std::string& toolchain, bool anew,
        const std::string& kernel, int kernels) {
  const KernelJob job = MakeJob(toolchain, kernel);
  absl::StatusOr<std::unique_ptr<Compiler>> compiler = OpenToolchains(options, {toolchain});
  if (!compiler.ok()) return Fail(compiler.status());
  const absl::Time start = absl::Now();
  const double before = ProcessorSeconds();
  for (int i = 0; i < kernels; ++i) {
    if (anew && i > 0) {
      compiler = OpenToolchains(options, {toolchain});
      if (!compiler.ok()) return Fail(compiler.status());
    }
    const auto report = (*compiler)->Compile(job);
    if (!report.ok()) return Fail(report.status());
    if (report->targets.empty() || report->targets[0].result.status() != v1::COMPILE_STATUS_OK) {
      std::cerr << report->module_import.error()
                << (report->targets.empty() ? "" : report->targets[0].result.message()) << "\n";
      return 1;
    }
  }
  compiler->reset();  // its usage is known after its end
  rusage children;
  ::getrusage(RUSAGE_CHILDREN, &children);
  std::cout << absl::StrCat("{\"wall\": ", absl::ToDoubleSeconds(absl::Now() - start),
                            ", \"cpu\": ", ProcessorSeconds() - before,
                            ", \"peak_kib\": ", children.ru_maxrss, "}\n");
  return 0;
}

}  // namespace
}  // namespace kernelmill::compiler

int main(int argc, char** argv) {
  int kernels = 0;
  if (argc != 6 || !absl::SimpleAtoi(argv[5], &kernels)) {
    std::cerr << "usage: compile_bench TOOLCHAINS TOOLCHAIN confined|unconfined|anew add|product "
                 "KERNELS\n";
    return 2;
  }
  const std::string how = argv[3];
  kernelmill::compiler::ToolchainOptions options;
  options.folder = argv[1];
  options.unsafe_no_sandbox = how == "unconfined";
  return kernelmill::compiler::Run(options, argv[2], how == "anew", argv[4], kernels);
}
