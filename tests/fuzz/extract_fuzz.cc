// usage: extract_fuzz [LIBFUZZER_FLAG...] [CORPUS...]
// Extracts kernels from one file of any bytes; the first line names it. Whatever the bytes are: it
// ends, within bounds, with kernels that are exact spans of the file, and with the same ones again.
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/adapters/tree_sitter/tree_sitter_parser.h"
#include "services/extractor/core/extract.h"
#include "tests/fuzz/checks.h"

namespace kernelmill::extractor {
namespace {

// The file's name decides which language it is read as.
absl::string_view NameOf(uint8_t choice) {
  constexpr absl::string_view kNames[] = {"a.py", "a.cu", "a.py.jinja", "output_code.py"};
  return kNames[choice % (sizeof(kNames) / sizeof(kNames[0]))];
}

void Extract(const uint8_t* data, size_t size) {
  if (size == 0) return;
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path(std::string(NameOf(data[0])));
  file.set_content(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  const TreeSitterParser parser;
  const auto shard = ExtractKernels(files, parser);
  if (absl::IsDeadlineExceeded(shard.status())) return;
  Check(shard.ok());
  Check(shard->files_size() == 1);
  for (const v1::Kernel& kernel : shard->kernels()) CheckSpan(kernel, file.content());
  const auto again = ExtractKernels(files, parser);
  Check(again.ok() &&
        cas::SerializeDeterministically(*again) == cas::SerializeDeterministically(*shard));
}

}  // namespace
}  // namespace kernelmill::extractor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kernelmill::extractor::Extract(data, size);
  return 0;
}
