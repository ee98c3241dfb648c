#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_JSON_FILE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_JSON_FILE_H_

#include "absl/status/status.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"

namespace kernelmill::extractor {

using python::PythonParser;

// Lists a .json or .jsonl file in the shard, and adds the kernels of the code in its strings and
// the definitions that they use. Each string is a module of its own, which imports nothing from the
// files around it. Its kernels have json_pointer set; string_begin is the place of the string's
// content in the file; and lines, offsets and texts are those of the unescaped string.
//
// A string is read as Python. If it is not Python and contains __global__ or __device__, it is read
// as CUDA. If it is not Python and has fenced code, as chats have, the blocks between the fences
// are read, each in the language of its fence; if no block may hold a kernel, the text outside the
// fences is read. Other prose is read as it is, and also with the prose blanked out (prose.h).
//
// Broken JSON is read up to the error. A broken line of a .jsonl file does not end the file. The
// parts that are lost are in skipped_strings with their line in the JSON file, and so is the string
// at which one of ExtractOptions' bounds is reached.
absl::Status ExtractJsonFile(const v1::SourceFile& source, const PythonParser& parser,
                             const ExtractOptions& options, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_JSON_FILE_H_
