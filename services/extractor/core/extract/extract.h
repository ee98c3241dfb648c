#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::extractor {

using python::PythonParser;

struct ExtractOptions {
  // Larger files that may hold kernels are not read: "too_large".
  size_t max_file_bytes = 8u << 20;
  // Kernels within kernels repeat text; beyond this many times a file's size: "nested_kernels".
  size_t max_overlap = 8;
  // Files with more strings than this that may hold kernels are not read: "too_many_strings".
  size_t max_strings = 4096;
  // Of JSON files: larger ones are not read ("too_large"), nor are more strings of one that may
  // hold kernels ("too_many_strings").
  size_t max_json_bytes = 16u << 20;
  size_t max_json_strings = 65536;
  // Bytes that are parsed of the strings of a JSON file, some of which are parsed several ways: a
  // fixed sum and so many for each byte of it. Where they are spent the rest of the file is not
  // read: "work_budget". Code needs 1 or 2 for each, chats about 5.
  uint64_t json_parse_bytes = 1'000'000;
  uint64_t json_parse_bytes_per_byte = 8;
  // Adds each file as a record of its own, of the form FILE, before its kernels. Not of files that
  // fail.
  bool keep_files = false;
};

// Some of a shard's files: `count` of them from `first` on, in the order of their paths. Pieces
// that stand one after another and cover the shard hold, joined by JoinPieces, what the whole
// would.
struct Piece {
  int first = 0;
  int count = 0;
};

// Finds the kernels of every file. Files that cannot be read in bounds are listed as failed, with
// the reason. DEADLINE_EXCEEDED: this machine was too slow for one; nothing is said of any.
absl::StatusOr<v1::KernelShard> ExtractKernels(const v1::FileShard& files,
                                               const PythonParser& parser,
                                               const ExtractOptions& options = {});

// The same for a piece alone. INVALID_ARGUMENT also where the piece is empty or not in the shard.
absl::StatusOr<v1::KernelShard> ExtractPiece(const v1::FileShard& files, const Piece& piece,
                                             const PythonParser& parser,
                                             const ExtractOptions& options = {});

// Looks into no file of the piece: each is listed with path, size and hash as failed for `reason`,
// a short stable word. INVALID_ARGUMENT: `reason` is not one, or as for ExtractPiece.
absl::StatusOr<v1::KernelShard> ListAsFailed(const v1::FileShard& files, const Piece& piece,
                                             const std::string& reason);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_EXTRACT_H_
