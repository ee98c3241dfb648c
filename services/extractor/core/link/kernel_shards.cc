#include "services/extractor/core/link/kernel_shards.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kernelmill::extractor {
namespace {

// Lines of a kernel in a JSON file are those of its string, which comes first there.
int64_t StringOf(const v1::Kernel& kernel) {
  return kernel.has_json_pointer() ? kernel.string_begin() : 0;
}

}  // namespace

// Stable, so that sorting the pieces and then all of them is the same as sorting all at once, even
// where two files of a hostile tree share a path.
void SortKernels(v1::KernelShard& shard) {
  std::stable_sort(shard.mutable_kernels()->begin(), shard.mutable_kernels()->end(),
                   [](const v1::Kernel& a, const v1::Kernel& b) {
                     if (a.path() != b.path()) return a.path() < b.path();
                     if (StringOf(a) != StringOf(b)) return StringOf(a) < StringOf(b);
                     return a.first_line() < b.first_line();
                   });
}

void JoinPieces(v1::KernelShard next, v1::KernelShard& shard) {
  for (v1::ExtractedFile& file : *next.mutable_files()) *shard.add_files() = std::move(file);
  for (v1::Kernel& kernel : *next.mutable_kernels()) *shard.add_kernels() = std::move(kernel);
  for (v1::Definition& definition : *next.mutable_definitions()) {
    *shard.add_definitions() = std::move(definition);
  }
  for (v1::JitName& name : *next.mutable_jit_names()) *shard.add_jit_names() = std::move(name);
  for (v1::Candidate& candidate : *next.mutable_candidates()) {
    *shard.add_candidates() = std::move(candidate);
  }
  for (v1::ImportedLaunch& launch : *next.mutable_launches()) {
    *shard.add_launches() = std::move(launch);
  }
  SortKernels(shard);
}

}  // namespace kernelmill::extractor
