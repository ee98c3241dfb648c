#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_FAKE_COMPILER_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_FAKE_COMPILER_H_

#include <cstddef>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "common/dsl/names.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// A fake that compiles every kernel with its first try to a ptx of `text_bytes`, or refuses it in
// the stage `refused_by`, or fails with `status`.
class FakeCompiler : public Compiler {
 public:
  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override {
    if (!status.ok()) return status;
    KernelReport report;
    report.module_import.set_toolchain(job.toolchain);
    report.module_import.set_ok(true);
    for (const std::string& target : job.targets) {
      TargetReport one;
      one.target = target;
      one.attempt = 0;
      one.result.set_toolchain(job.toolchain);
      one.result.set_target(target);
      one.result.set_status(refused_by.empty() ? v1::COMPILE_STATUS_OK : v1::COMPILE_STATUS_ERROR);
      one.result.set_stage(refused_by);
      if (!job.tries.empty()) one.signature = job.tries[0].signature;
      for (const std::string& form : job.keep) {
        v1::IrText text;
        text.set_toolchain(job.toolchain);
        text.set_target(target);
        text.set_form(form);
        text.set_text(std::string(text_bytes, 'x'));
        one.kept.push_back(text);
      }
      report.targets.push_back(one);
    }
    return report;
  }

  absl::Status status;
  std::string refused_by;
  size_t text_bytes = 10;
};

// A fake that compiles until the job is stopped.
class EndlessCompiler : public FakeCompiler {
 public:
  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override {
    began.Notify();
    absl::Notification stopped;
    const std::stop_callback notify(job.stop, [&] { stopped.Notify(); });
    stopped.WaitForNotification();
    return absl::CancelledError("no longer wanted");
  }
  absl::Notification began;
};

// Makes a kernel to compile, and one that is not compiled.
inline v1::KernelShard Kernels() {
  v1::KernelShard shard;
  v1::Kernel& kernel = *shard.add_kernels();
  kernel.set_path("a.py");
  kernel.set_name("k");
  kernel.set_dsl(dsl::kTriton);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_self_contained(true);
  kernel.set_source("@triton.jit\ndef k(p):\n    tl.store(p, 1)\n");
  kernel.set_module("import triton\nimport triton.language as tl\n\n\n" + kernel.source());
  *shard.add_kernels() = kernel;
  shard.mutable_kernels(1)->set_dsl(dsl::kCuda);
  return shard;
}

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_FAKE_COMPILER_H_
