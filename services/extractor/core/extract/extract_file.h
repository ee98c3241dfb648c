#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_FILE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_FILE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"

namespace kernelmill::extractor {

using python::PythonParser;

enum class CodeLanguage : uint8_t { kPython, kCuda };

// Adds the kernels of a text of that language to the shard, and what they use of it, and what is
// said of the text to `entry`. RESOURCE_EXHAUSTED: it is not to be extracted; the message is the
// reason.
//
// A string that the file hands to TorchInductor as a kernel's source is parsed as a file of its
// own, with its own imports: what it holds has string_begin set, and places in the file around it.
// Only kernels whose lines are the string's alone and stand in the file as they run are taken, so
// that a kernel's text is a span of the file there as well; others are listed in skipped_strings.
absl::Status ExtractCode(const v1::SourceFile& source, CodeLanguage language,
                         const PythonParser& parser, const ExtractOptions& options,
                         v1::ExtractedFile& entry, v1::KernelShard& shard);

// Lists the file in the shard and adds what ExtractCode finds. The path's extension tells whether
// it is C++, which is read for CUDA; all other files are read as Python.
absl::Status ExtractFile(const v1::SourceFile& source, const PythonParser& parser,
                         const ExtractOptions& options, v1::KernelShard& shard);

// Lists the file with what its bytes say, whatever language they are.
v1::ExtractedFile& ListFile(const v1::SourceFile& source, v1::KernelShard& shard);

// Lists the file with what can be said of it without looking into it.
v1::ExtractedFile& NameFile(const v1::SourceFile& source, v1::KernelShard& shard);

// Whether a text of Python can hold a kernel at all. Cheap: most files cannot.
bool MayHoldKernels(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_FILE_H_
