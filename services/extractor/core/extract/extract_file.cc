#include "services/extractor/core/extract/extract_file.h"

#include <string>

#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "services/extractor/core/cuda/cuda_kernels.h"
#include "services/extractor/core/detect/templates.h"
#include "services/extractor/core/extract/file_extractor.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {
namespace {

absl::Status ExtractCuda(const v1::SourceFile& source, const ExtractOptions& options,
                         v1::ExtractedFile& entry, v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  if (text.size() > options.max_file_bytes) {
    return MayHoldCuda(text) ? absl::ResourceExhaustedError("too_large") : absl::OkStatus();
  }
  AddCudaText(source.path(), text, shard);
  if (!MayHoldCuda(text)) return absl::OkStatus();
  return AddCudaKernels(source.path(), text, options.max_overlap * text.size(), entry, shard);
}

absl::Status ExtractPython(const v1::SourceFile& source, const PythonParser& parser,
                           const ExtractOptions& options, v1::ExtractedFile& entry,
                           v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  if (!MayHoldKernels(text) && !dsl::MayHoldCounted(text) && !IsTemplateFile(source.path(), text)) {
    return AddImportable(source, parser, options, shard);
  }
  return AddPythonKernels(source, parser, options, entry, shard);
}

}  // namespace

absl::Status ExtractCode(const v1::SourceFile& source, CodeLanguage language,
                         const PythonParser& parser, const ExtractOptions& options,
                         v1::ExtractedFile& entry, v1::KernelShard& shard) {
  if (language == CodeLanguage::kCuda) return ExtractCuda(source, options, entry, shard);
  return ExtractPython(source, parser, options, entry, shard);
}

absl::Status ExtractFile(const v1::SourceFile& source, const PythonParser& parser,
                         const ExtractOptions& options, v1::KernelShard& shard) {
  v1::ExtractedFile& entry = ListFile(source, shard);
  const CodeLanguage language =
      IsCudaPath(source.path()) ? CodeLanguage::kCuda : CodeLanguage::kPython;
  const absl::Status done = ExtractCode(source, language, parser, options, entry, shard);
  if (!absl::IsResourceExhausted(done)) return Annotate(done, source.path());
  entry.set_failed(std::string(done.message()));
  return absl::OkStatus();
}

v1::ExtractedFile& ListFile(const v1::SourceFile& source, v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  v1::ExtractedFile& entry = NameFile(source, shard);
  entry.set_lines(static_cast<int32_t>(CountLines(text)));
  entry.set_has_triton_jit(Contains(text, "@triton.jit"));
  return entry;
}

v1::ExtractedFile& NameFile(const v1::SourceFile& source, v1::KernelShard& shard) {
  v1::ExtractedFile& entry = *shard.add_files();
  entry.set_path(source.path());
  entry.set_size_bytes(static_cast<int64_t>(source.content().size()));
  entry.set_sha256(Sha256Hex(source.content()));
  return entry;
}

bool MayHoldKernels(absl::string_view text) {
  return dsl::MayHoldExtracted(text) || MayHoldTemplates(text);
}

}  // namespace kernelmill::extractor
