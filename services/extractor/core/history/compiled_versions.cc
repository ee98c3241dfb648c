#include "services/extractor/core/history/compiled_versions.h"

#include <utility>

#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/toolchains/attempts.h"

namespace kernelmill::extractor {
namespace {

// Returns what compilers read of a kernel: why they take it at all, its texts, and what its record
// says of its arguments and of its launches.
v1::Kernel MakeRecord(const v1::Kernel& kernel) {
  v1::Kernel record;
  record.set_name(kernel.name());
  record.set_dsl(kernel.dsl());
  record.set_role(kernel.role());
  record.set_form(kernel.form());
  record.set_found_by(kernel.found_by());
  record.set_source(kernel.source());
  record.set_module(kernel.module());
  record.set_self_contained(kernel.self_contained());
  *record.mutable_imports() = kernel.imports();
  *record.mutable_calls() = kernel.calls();
  *record.mutable_parameters() = kernel.parameters();
  if (kernel.has_autotune()) *record.mutable_autotune() = kernel.autotune();
  if (kernel.has_heuristics()) *record.mutable_heuristics() = kernel.heuristics();
  if (!kernel.launcher().text().empty()) {
    record.mutable_launcher()->set_text(kernel.launcher().text());
  }
  if (!kernel.has_cuda()) return record;
  record.set_qualname(kernel.qualname());  // by which a C++ function is called
  *record.mutable_cuda()->mutable_template_parameters() = kernel.cuda().template_parameters();
  for (const v1::CudaLaunch& launch : kernel.cuda().launches()) {
    record.mutable_cuda()->add_launches()->set_text(launch.text());
  }
  return record;
}

}  // namespace

std::string CompiledVersions::Add(const v1::Kernel& kernel) {
  if (!toolchains::NotAttempted(kernel, job_).empty()) return "";
  v1::Kernel record = MakeRecord(kernel);
  std::string key = Sha256(record.SerializeAsString());  // without maps, so it is deterministic
  kernels_.emplace(key, std::move(record));
  return key;
}

int64_t CompiledVersions::GetPlace(const std::string& key) {
  if (places_.size() != kernels_.size()) {
    int64_t place = 0;
    for (const auto& [known, kernel] : kernels_) places_[known] = place++;
  }
  return places_.at(key);
}

absl::Status CompiledVersions::Write(
    const std::function<absl::Status(const v1::KernelShard&)>& write, const Limits& limits) const {
  v1::KernelShard shard;
  size_t bytes = 0;
  const auto end_shard = [&]() -> absl::Status {
    if (shard.kernels().empty()) return absl::OkStatus();
    bytes = 0;
    return write(std::exchange(shard, v1::KernelShard()));
  };
  for (const auto& [key, kernel] : kernels_) {
    const size_t size = kernel.ByteSizeLong();
    if (shard.kernels_size() == limits.max_kernels || bytes + size > limits.max_bytes) {
      RETURN_IF_ERROR(end_shard());
    }
    bytes += size;
    *shard.add_kernels() = kernel;
    if (StableHash64(key) % limits.mean_kernels == 0) RETURN_IF_ERROR(end_shard());
  }
  return end_shard();
}

}  // namespace kernelmill::extractor
