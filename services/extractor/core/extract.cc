#include "services/extractor/core/extract.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/extractor/core/extract_file.h"
#include "services/extractor/core/json/documents.h"
#include "services/extractor/core/json_file.h"

namespace kernelmill::extractor {
namespace {

constexpr size_t kMaxReason = 64;

std::vector<const v1::SourceFile*> SortedByPath(const v1::FileShard& files) {
  std::vector<const v1::SourceFile*> sorted;
  for (const v1::SourceFile& file : files.files()) sorted.push_back(&file);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->path() < b->path(); });
  return sorted;
}

absl::StatusOr<std::vector<const v1::SourceFile*>> FilesOf(const v1::FileShard& files,
                                                           const Piece& piece) {
  const int size = files.files_size();
  if (piece.first < 0 || piece.count < 1 || piece.first > size ||
      piece.count > size - piece.first) {
    return absl::InvalidArgumentError(absl::StrCat(piece.count, " files from ", piece.first,
                                                   " on are no piece of a shard of ", size));
  }
  const std::vector<const v1::SourceFile*> sorted = SortedByPath(files);
  const auto begin = sorted.begin() + piece.first;
  return std::vector<const v1::SourceFile*>(begin, begin + piece.count);
}

absl::StatusOr<v1::KernelShard> ExtractFiles(const std::vector<const v1::SourceFile*>& sorted,
                                             const PythonParser& parser,
                                             const ExtractOptions& options) {
  v1::KernelShard shard;
  for (const v1::SourceFile* file : sorted) {
    RETURN_IF_ERROR(json::IsJsonPath(file->path()) ? ExtractJsonFile(*file, parser, options, shard)
                                                   : ExtractFile(*file, parser, options, shard));
  }
  SortKernels(shard);
  return shard;
}

// Lines of a kernel in a JSON file are those of its string, which comes first there.
int64_t StringOf(const v1::Kernel& kernel) {
  return kernel.has_json_pointer() ? kernel.string_begin() : 0;
}

// Of letters a to z, digits and '_': it becomes part of a counter's name.
bool IsReasonWord(absl::string_view reason) {
  return !reason.empty() && reason.size() <= kMaxReason &&
         std::all_of(reason.begin(), reason.end(), [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
         });
}

}  // namespace

absl::StatusOr<v1::KernelShard> ExtractKernels(const v1::FileShard& files,
                                               const PythonParser& parser,
                                               const ExtractOptions& options) {
  return ExtractFiles(SortedByPath(files), parser, options);
}

absl::StatusOr<v1::KernelShard> ExtractPiece(const v1::FileShard& files, const Piece& piece,
                                             const PythonParser& parser,
                                             const ExtractOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<const v1::SourceFile*> chosen, FilesOf(files, piece));
  return ExtractFiles(chosen, parser, options);
}

absl::StatusOr<v1::KernelShard> Quarantine(const v1::FileShard& files, const Piece& piece,
                                           const std::string& reason) {
  if (!IsReasonWord(reason)) {
    return absl::InvalidArgumentError(
        absl::StrCat(JsonString(reason), " is not a word for why files failed"));
  }
  ASSIGN_OR_RETURN(const std::vector<const v1::SourceFile*> chosen, FilesOf(files, piece));
  v1::KernelShard shard;
  for (const v1::SourceFile* file : chosen) NameFile(*file, shard).set_failed(reason);
  return shard;
}

// Stable, so that sorting the pieces and then all of them is the same as sorting all at once, even
// where two files of a hostile tree share a path.
void SortKernels(v1::KernelShard& shard) {
  std::stable_sort(shard.mutable_kernels()->begin(), shard.mutable_kernels()->end(),
                   [](const v1::Kernel& a, const v1::Kernel& b) {
                     if (a.path() != b.path()) return a.path() < b.path();
                     if (StringOf(a) != StringOf(b)) return StringOf(a) < StringOf(b);
                     return a.first_line() < b.first_line();
                   });
}

void JoinPieces(v1::KernelShard next, v1::KernelShard& shard) {
  for (v1::ExtractedFile& file : *next.mutable_files()) *shard.add_files() = std::move(file);
  for (v1::Kernel& kernel : *next.mutable_kernels()) *shard.add_kernels() = std::move(kernel);
  for (v1::Definition& definition : *next.mutable_definitions()) {
    *shard.add_definitions() = std::move(definition);
  }
  for (v1::JitName& name : *next.mutable_jit_names()) *shard.add_jit_names() = std::move(name);
  for (v1::Candidate& candidate : *next.mutable_candidates()) {
    *shard.add_candidates() = std::move(candidate);
  }
  for (v1::ImportedLaunch& launch : *next.mutable_launches()) {
    *shard.add_launches() = std::move(launch);
  }
  SortKernels(shard);
}

}  // namespace kernelmill::extractor
