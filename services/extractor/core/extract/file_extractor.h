#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_FILE_EXTRACTOR_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_FILE_EXTRACTOR_H_

#include "absl/status/status.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"

namespace kernelmill::extractor {

using python::PythonParser;

// Adds a Python file's kernels, those in its strings too, and what they use of it; `entry` is the
// file's. RESOURCE_EXHAUSTED: it is not to be extracted; the message is the reason.
absl::Status AddPythonKernels(const v1::SourceFile& source, const PythonParser& parser,
                              const ExtractOptions& options, v1::ExtractedFile& entry,
                              v1::KernelShard& shard);

// Adds what a file without kernels has for those of other files. One that cannot be read within
// bounds has nothing: no kernel is lost with it.
absl::Status AddImportable(const v1::SourceFile& source, const PythonParser& parser,
                           const ExtractOptions& options, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_FILE_EXTRACTOR_H_
