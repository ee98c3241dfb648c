#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_JSON_FILE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_JSON_FILE_H_

#include "absl/status/status.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"

namespace kernelmill::extractor {

using python::PythonParser;

// Lists a .json or .jsonl file in the shard and adds the kernels of the code that its strings hold,
// and what they use of it. Each string is a module of its own, which imports nothing from the files
// around it: its kernels have json_pointer set, string_begin is the place of the string's content
// in the file, and lines, offsets and texts are those of what the string stands for.
//
// A string is read as Python, else, where it is none and says __global__ or __device__, as CUDA.
// One that is not Python and has fenced code, as chats have, is read between its fences, each block
// as what the fence calls it; where no kernel may stand there, outside of them. Other prose is read
// around, if need be without it (prose.h).
//
// JSON that is broken is read up to there; a broken line of a .jsonl file does not end the file.
// What is lost so is in skipped_strings with its line, which is the JSON file's; so is the string
// that one of ExtractOptions' limits on a file's strings was reached at.
absl::Status ExtractJsonFile(const v1::SourceFile& source, const PythonParser& parser,
                             const ExtractOptions& options, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_JSON_FILE_H_
