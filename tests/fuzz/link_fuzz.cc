// usage: link_fuzz [LIBFUZZER_FLAG...] [CORPUS...]
// Extracts and links a source of several files, separated by a byte 0xff; each file's first byte
// names it. For all bytes: kernels are exact spans of their files, the pieces of their modules are
// inside the files, and a second run gives the same result.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/cas/digest.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/text_lines.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/core/link/link.h"
#include "tests/fuzz/checks.h"

namespace kernelmill::extractor {

using python::StandardParser;

namespace {

std::string MakePath(char choice) {
  constexpr absl::string_view kPaths[] = {"a.py",       "b.py", "p/__init__.py", "p/a.py",
                                          "p/q/b.py",   "c.cu", "p/c.py",        "p/q/__init__.py",
                                          "__init__.py"};
  return std::string(kPaths[static_cast<uint8_t>(choice) % (sizeof(kPaths) / sizeof(kPaths[0]))]);
}

// The first file of a path counts, as in a tree.
std::map<std::string, std::string> ReadFiles(absl::string_view bytes) {
  std::map<std::string, std::string> files;
  for (const absl::string_view file : absl::StrSplit(bytes, '\xff')) {
    if (!file.empty()) files.emplace(MakePath(file[0]), std::string(file.substr(1)));
  }
  return files;
}

// Returns false if this machine was too slow.
bool ExtractAndLink(const std::map<std::string, std::string>& texts, v1::KernelShard* shard) {
  v1::FileShard files;
  for (const auto& [path, text] : texts) {
    v1::SourceFile& file = *files.add_files();
    file.set_path(path);
    file.set_content(text);
  }
  auto extracted = ExtractKernels(files, StandardParser());
  if (absl::IsDeadlineExceeded(extracted.status())) return false;
  Check(extracted.ok());
  auto linked = LinkSource(*extracted);
  Check(linked.ok());
  *shard = *std::move(linked);
  return true;
}

void CheckPieces(const v1::Kernel& kernel, const std::map<std::string, std::string>& files) {
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    if (piece.generated()) continue;
    const auto file = files.find(piece.path());
    Check(file != files.end());
    Check(1 <= piece.first_line() && piece.first_line() <= piece.last_line());
    Check(piece.last_line() <= CountLines(file->second));
  }
}

void Link(absl::string_view bytes) {
  const std::map<std::string, std::string> files = ReadFiles(bytes);
  v1::KernelShard shard;
  v1::KernelShard again;
  if (!ExtractAndLink(files, &shard) || !ExtractAndLink(files, &again)) return;
  for (const v1::Kernel& kernel : shard.kernels()) {
    const auto file = files.find(kernel.path());
    Check(file != files.end());
    CheckSpan(kernel, file->second);
    CheckPieces(kernel, files);
  }
  Check(cas::SerializeDeterministically(again) == cas::SerializeDeterministically(shard));
}

}  // namespace
}  // namespace kernelmill::extractor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kernelmill::extractor::Link(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
