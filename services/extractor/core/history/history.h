#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_HISTORY_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_HISTORY_H_

#include <cstddef>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/history.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/history/compiled_versions.h"

namespace kernelmill::extractor {

// The history of a source as it was fetched, and its linked kernels.
struct HistoryInputs {
  v1::HistoryIndex index;
  size_t versions = 0;
  std::function<absl::StatusOr<v1::VersionShard>(size_t shard)> read_versions;
  size_t kernels = 0;
  std::function<absl::StatusOr<v1::KernelShard>(size_t shard)> read_kernels;
};

struct HistoryOptions {
  size_t max_module_bytes = 64u << 10;  // a longer module of a version is left out
  size_t max_shard_bytes = 4u << 20;    // of changes, beside one that is larger
  CompiledVersions::Limits compiled;
  v1::CompileParams compile;  // the job's toolchains and targets; none if it does not compile
};

// Takes the shards of the changes, in their order, and after them those of the kernels to which
// KernelVersion.compiled refers.
struct HistoryOutputs {
  std::function<absl::Status(v1::ChangeShard)> write_changes;
  std::function<absl::Status(const v1::KernelShard&)> write_kernels;
};

// Finds how each commit changes kernels, the newest commit first, and writes the changes in shards;
// at least one, which has the sums; then the kernels of their versions that the job compiles, each
// once. Kernels in strings and in documents are left out. Errors are those of `inputs` and
// `outputs`, and DEADLINE_EXCEEDED if this machine was too slow for a file.
//
// The basic idea: each version of a file is extracted, and linked with the files that it imports at
// that commit. From the newest commit to the oldest, MatchKernels pairs both sides, and the pairs
// carry the lineages that begin with the linked kernels back through names and files. A kernel that
// no linked one leads to begins a lineage of its own.
absl::Status FindChanges(const v1::SourceTree& tree, const HistoryInputs& inputs,
                         const python::PythonParser& parser, const HistoryOutputs& outputs,
                         const HistoryOptions& options = {});

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_HISTORY_H_
