#include "services/extractor/core/link/kernel_shards.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelmill::extractor {
namespace {

// Returns the place of the kernel's string in a JSON file. The lines of such kernels count from the
// beginning of the string.
int64_t StringBegin(const v1::Kernel& kernel) {
  return kernel.has_json_pointer() ? kernel.string_begin() : 0;
}

bool IsWholeFile(const v1::Kernel& kernel) { return kernel.form() == v1::KERNEL_FORM_FILE; }

}  // namespace

// Stable, so that sorting the pieces and then all of them gives the same as sorting all at once,
// even if two files of a hostile tree share a path.
void SortKernels(v1::KernelShard& shard) {
  std::stable_sort(shard.mutable_kernels()->begin(), shard.mutable_kernels()->end(),
                   [](const v1::Kernel& a, const v1::Kernel& b) {
                     if (a.path() != b.path()) return a.path() < b.path();
                     if (IsWholeFile(a) != IsWholeFile(b)) return IsWholeFile(a);
                     if (StringBegin(a) != StringBegin(b)) return StringBegin(a) < StringBegin(b);
                     return a.first_line() < b.first_line();
                   });
}

// Moves the whole files to the end and cuts them off there, which keeps the order of both parts.
std::vector<v1::Kernel> TakeWholeFiles(v1::KernelShard& shard) {
  auto& kernels = *shard.mutable_kernels();
  const auto files = std::stable_partition(
      kernels.pointer_begin(), kernels.pointer_end(),
      [](const v1::Kernel* kernel) { return kernel->form() != v1::KERNEL_FORM_FILE; });
  std::vector<v1::Kernel> taken;
  for (auto file = files; file != kernels.pointer_end(); ++file) taken.push_back(std::move(**file));
  kernels.DeleteSubrange(kernels.size() - static_cast<int>(taken.size()),
                         static_cast<int>(taken.size()));
  return taken;
}

void PutWholeFiles(std::vector<v1::Kernel> files, v1::KernelShard& shard) {
  if (files.empty()) return;
  for (v1::Kernel& file : files) *shard.add_kernels() = std::move(file);
  SortKernels(shard);
}

// Appends the records of the next piece of a shard. SortKernels then restores the order over both.
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
