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

// The means to read a text: a parser and the bounds.
struct CodeReader {
  const PythonParser& parser;
  const ExtractOptions& options;
  // The text is code in prose, which may leave out the usual imports (common/dsl/usual_imports.h).
  bool in_prose = false;
};

// Adds the kernels of a text to the shard, and the definitions that they use; and the facts about
// the text to `entry`. Returns RESOURCE_EXHAUSTED if the text exceeds a bound; the message is the
// reason.
//
// A string that the file gives to TorchInductor as a kernel's source is parsed as a file of its
// own, with its own imports. Its kernels have string_begin set, and places in the file around it. A
// kernel's text must be a span of the file there as well, so only kernels are taken whose lines
// belong to the string alone and are in the file exactly as they run. Others are listed in
// skipped_strings.
absl::Status ExtractCode(const v1::SourceFile& source, CodeLanguage language,
                         const CodeReader& reader, v1::ExtractedFile& entry,
                         v1::KernelShard& shard);

// Lists the file in the shard and adds what ExtractCode finds. Files with a C++ extension are read
// for CUDA, all others as Python.
absl::Status ExtractFile(const v1::SourceFile& source, const PythonParser& parser,
                         const ExtractOptions& options, v1::KernelShard& shard);

// Lists the file with the facts that its bytes give in any language.
v1::ExtractedFile& ListFile(const v1::SourceFile& source, v1::KernelShard& shard);

// Lists the file with its path, size and hash only.
v1::ExtractedFile& NameFile(const v1::SourceFile& source, v1::KernelShard& shard);

// Returns whether a Python text can hold a kernel. Cheap; most files cannot.
bool MayHoldKernels(absl::string_view text);
// The same for a text in Python or in a language of C.
bool MayHoldCode(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_FILE_H_
