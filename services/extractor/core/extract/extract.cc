#include "services/extractor/core/extract/extract.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/code/line_index.h"
#include "common/documents/document.h"
#include "common/dsl/languages.h"
#include "common/json/json_documents.h"
#include "services/extractor/core/extract/document_file.h"
#include "services/extractor/core/extract/extract_file.h"
#include "services/extractor/core/extract/json_file.h"
#include "services/extractor/core/link/kernel_shards.h"

namespace kernelmill::extractor {

// Extracts the files of a shard, one after another in the order of their paths. Each file is read
// for itself, so that pieces of a shard may be read on different machines and joined. Kernels of
// different files meet in the link stage only.

namespace {

constexpr size_t kMaxReason = 64;

// The sort is stable: files with one path keep the order of the shard.
std::vector<const v1::SourceFile*> SortedByPath(const v1::FileShard& files) {
  std::vector<const v1::SourceFile*> sorted;
  for (const v1::SourceFile& file : files.files()) sorted.push_back(&file);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->path() < b->path(); });
  return sorted;
}

// INVALID_ARGUMENT: the piece is empty or not within the shard.
absl::StatusOr<std::vector<const v1::SourceFile*>> ChooseFiles(const v1::FileShard& files,
                                                               const Piece& piece) {
  const int size = files.files_size();
  if (piece.first < 0 || piece.count < 1 || piece.first > size ||
      piece.count > size - piece.first) {
    return absl::InvalidArgumentError(absl::StrCat(
        piece.count, " files from ", piece.first, ": must be within the shard's ", size, " files"));
  }
  const std::vector<const v1::SourceFile*> sorted = SortedByPath(files);
  const auto begin = sorted.begin() + piece.first;
  return std::vector<const v1::SourceFile*>(begin, begin + piece.count);
}

// Makes the record of a whole file. It is no kernel, and ExtractedFile.kernels does not count it.
v1::Kernel WholeFile(const v1::SourceFile& file) {
  v1::Kernel whole;
  whole.set_form(v1::KERNEL_FORM_FILE);
  whole.set_name(file.path());
  whole.set_path(file.path());
  whole.set_first_line(1);
  whole.set_last_line(static_cast<int32_t>(CountLines(file.content())));
  whole.set_source(file.content());
  whole.set_sha256(Sha256Hex(file.content()));
  return whole;
}

// Reads a file in the way that its name calls for.
absl::Status ReadFile(const v1::SourceFile& file, const PythonParser& parser,
                      const ExtractOptions& options, v1::KernelShard& shard) {
  if (json::IsJsonPath(file.path())) return ExtractJsonFile(file, parser, options, shard);
  if (documents::IsDocumentPath(file.path())) return ExtractDocument(file, parser, options, shard);
  return ExtractFile(file, parser, options, shard);
}

// Drops the kernels from `first` on, which are those of the shard's last file, that are in
// languages which the source does not ask for; the file's entry counts them.
void DropUnwanted(const dsl::LanguageSet& wanted, int first, v1::KernelShard& shard) {
  auto& kernels = *shard.mutable_kernels();
  std::map<std::string, int> others;
  const auto unwanted = std::remove_if(kernels.begin() + first, kernels.end(),
                                       [&wanted, &others](const v1::Kernel& kernel) {
                                         const bool other = !wanted.Has(kernel.dsl());
                                         if (other) ++others[kernel.dsl()];
                                         return other;
                                       });
  v1::ExtractedFile& entry = *shard.mutable_files(shard.files_size() - 1);
  entry.set_kernels(entry.kernels() - static_cast<int>(kernels.end() - unwanted));
  kernels.erase(unwanted, kernels.end());
  for (const auto& [name, functions] : others) {
    v1::OtherDsl& dsl = *entry.add_other_dsls();
    dsl.set_name(name);
    dsl.set_functions(functions);
  }
}

// A file beyond a bound is listed with its reason. Any other error ends the whole call, because it
// tells about this machine and not about the file.
absl::StatusOr<v1::KernelShard> ExtractFiles(const std::vector<const v1::SourceFile*>& sorted,
                                             const PythonParser& parser,
                                             const ExtractOptions& options) {
  v1::KernelShard shard;
  for (const v1::SourceFile* file : sorted) {
    const int first = shard.kernels_size();
    RETURN_IF_ERROR(ReadFile(*file, parser, options, shard));
    DropUnwanted(options.languages, first, shard);
    // The reader listed the file last.
    const bool failed = !shard.files(shard.files_size() - 1).failed().empty();
    if (options.keep_files && !failed) *shard.add_kernels() = WholeFile(*file);
  }
  SortKernels(shard);
  return shard;
}

// Returns whether the reason consists of a to z, digits and '_'. It becomes part of a counter's
// name.
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
  ASSIGN_OR_RETURN(const std::vector<const v1::SourceFile*> chosen, ChooseFiles(files, piece));
  return ExtractFiles(chosen, parser, options);
}

absl::StatusOr<v1::KernelShard> ListAsFailed(const v1::FileShard& files, const Piece& piece,
                                             const std::string& reason) {
  if (!IsReasonWord(reason)) {
    return absl::InvalidArgumentError(
        absl::StrCat("reason ", JsonString(reason), ": must consist of a to z, 0 to 9 and _"));
  }
  ASSIGN_OR_RETURN(const std::vector<const v1::SourceFile*> chosen, ChooseFiles(files, piece));
  v1::KernelShard shard;
  for (const v1::SourceFile* file : chosen) NameFile(*file, shard).set_failed(reason);
  return shard;
}

}  // namespace kernelmill::extractor
