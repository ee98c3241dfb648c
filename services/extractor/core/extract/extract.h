#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/dsl/languages.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::extractor {

using python::PythonParser;

// Bounds on what is read. Each comment names the reason that the ledger gives beyond the bound.
struct ExtractOptions {
  // The largest file that is read if it may hold kernels: "too_large".
  size_t max_file_bytes = 8u << 20;
  // Kernels within kernels repeat text: the most text in all, in sizes of the file:
  // "nested_kernels".
  size_t max_overlap = 8;
  // The most strings in a file that may hold kernels: "too_many_strings".
  size_t max_strings = 4096;
  // The same bounds for JSON files: "too_large", "too_many_strings".
  size_t max_json_bytes = 16u << 20;
  size_t max_json_strings = 65536;
  // The most bytes that are parsed for the strings of a JSON file, which may be parsed in several
  // ways: a fixed sum, plus a number for each byte of the file. Once they are spent, the rest of
  // the file is not read: "work_budget". Code needs 1 or 2 per byte, chats about 5.
  uint64_t json_parse_bytes = 1'000'000;
  uint64_t json_parse_bytes_per_byte = 8;
  // Adds each file that does not fail as a record of its own, of the form FILE, before its kernels.
  bool keep_files = false;
  // Kernels of other languages are counted: ExtractedFile.other_dsls.
  dsl::LanguageSet languages;
};

// A part of a shard's files: `count` files from `first` on, in the order of their paths. If pieces
// cover a shard one after another, JoinPieces of their results equals the result for the whole
// shard.
struct Piece {
  int first = 0;
  int count = 0;
};

// Finds the kernels of every file. Files that exceed a bound are listed as failed, with the reason.
// Returns DEADLINE_EXCEEDED, and no result, if this machine was too slow for one of them.
absl::StatusOr<v1::KernelShard> ExtractKernels(const v1::FileShard& files,
                                               const PythonParser& parser,
                                               const ExtractOptions& options = {});

// Does the same for one piece. Returns INVALID_ARGUMENT if the piece is empty or not in the shard.
absl::StatusOr<v1::KernelShard> ExtractPiece(const v1::FileShard& files, const Piece& piece,
                                             const PythonParser& parser,
                                             const ExtractOptions& options = {});

// Lists each file of the piece with path, size and hash as failed for `reason`, a short stable
// word, without reading it. Returns INVALID_ARGUMENT for any other reason, and as ExtractPiece
// does.
absl::StatusOr<v1::KernelShard> ListAsFailed(const v1::FileShard& files, const Piece& piece,
                                             const std::string& reason);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_H_
