#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REFERENCES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REFERENCES_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/reference.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::extractor {

// Bounds on what is read. A file that is too large is not read, and whatever depends on it is not
// found.
struct ReferenceOptions {
  size_t max_file_bytes = 4u << 20;
  // The Python text of a source, and the text of its definitions.
  size_t max_source_bytes = 256u << 20;
  // The most text that is read for one module.
  size_t max_module_bytes = 512u << 10;
  // The tests of one kernel that become rows; the others are counted.
  size_t max_tests = 8;
  // All tests of a source together; those beyond it are counted as well.
  size_t max_bytes = 256u << 20;
};

// The linked shards of a source, and its files.
struct ReferenceInputs {
  size_t files = 0;
  std::function<absl::StatusOr<v1::FileShard>(size_t shard)> read_files;
  size_t kernels = 0;
  std::function<absl::StatusOr<v1::KernelShard>(size_t shard)> read_kernels;
};

using ReferenceWriterFunction = std::function<absl::Status(v1::ReferenceShard)>;

// Finds the tests of a source's kernels, and the references that they compare with, by reading
// alone. Writes a shard for each shard of kernels, in their order. Errors are those of `inputs` and
// `write`, and DEADLINE_EXCEEDED if this machine was too slow for a file.
//
// The basic idea, in four steps. Reach finds for each definition of the source the kernels that it
// leads to. Each test is a function whose statements are known (FunctionBody), with those functions
// of tests that it calls. In each comparison, the side that comes from a kernel is the
// kernel's result, and the other is the expected one (TestUnit). The function that makes the
// expected one is the reference, with all that it needs (HostModules); without such a function, the
// statements are (WriteReference).
absl::Status FindReferences(const v1::SourceTree& tree, const ReferenceInputs& inputs,
                            const python::PythonParser& parser,
                            const ReferenceWriterFunction& write,
                            const ReferenceOptions& options = {});

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REFERENCES_H_
