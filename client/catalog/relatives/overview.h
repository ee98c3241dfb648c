#ifndef KERNELMILL_CLIENT_CATALOG_RELATIVES_OVERVIEW_H_
#define KERNELMILL_CLIENT_CATALOG_RELATIVES_OVERVIEW_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/catalog/entries/catalog_kernel.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/entries/temp_records.h"

namespace kernelmill::client {

// The runs of five tokens of a kernel's source as hashes, ascending, each once. Comments do not
// count.
std::vector<uint64_t> RunsOf(const CatalogKernel& kernel);

// How alike two texts are, to some hundredths, in 128 bytes: the least hashes of their runs, by 64
// shares of all hashes (one-permutation MinHash).
struct Sketch {
  static constexpr size_t kBins = 64;
  static constexpr uint16_t kEmpty = 0xffff;
  std::array<uint16_t, kBins> least;
};
Sketch SketchOf(const std::vector<uint64_t>& runs);
double EstimatedSimilarity(const Sketch& a, const Sketch& b);

// The runs of all kernels, by the kernels' numbers.
class RunRecords {
 public:
  static absl::StatusOr<RunRecords> Create(const std::string& temp_parent);

  // The next kernel's.
  absl::Status Add(const std::vector<uint64_t>& runs);

  // Nothing may be added afterwards.
  absl::StatusOr<std::vector<uint64_t>> Read(uint32_t number);

 private:
  explicit RunRecords(TempRecords records) : records_(std::move(records)) {}
  TempRecords records_;
};

// The share of the runs of either that both have.
double Similarity(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b);

// What is known of a kernel while pages of others are written: a row without its texts.
struct CatalogEntry {
  std::string id;
  RowOffset offset = 0;
  std::string repository;
  std::string path;
  int first_line = 0;
  std::string name;
  std::string qualname;
  std::string dsl;
  std::string kind;
  std::string license;
  std::string summary;
  std::string launcher;  // "PATH QUALNAME"; empty: none
  std::vector<std::string> tags;
  std::vector<std::string> features;
  std::vector<std::string> dtypes;
  int lines = 0;
  double score = 0;
  double comment_ratio = 0;
  bool self_contained = false;
  bool documented = false;
  bool tested = false;
  bool compiles = false;
  bool strided = false;    // it takes strides
  bool decorated = false;  // by what is not the language's own, which may launch it
  Sketch sketch;

  bool backward() const;
  bool HasTag(absl::string_view tag) const;
};

// A kernel that was left out of the dataset as another's duplicate.
struct Duplicate {
  std::string repository;
  std::string path;
  std::string url;
  int first_line = 0;
  std::string reason;
  double similarity = 0;
};
struct Duplicates {
  int64_t count = 0;
  std::vector<Duplicate> first;  // of the ledger, up to kMaxDuplicates
};
inline constexpr size_t kMaxDuplicates = 20;

// By the kept kernel's id. A folder without a ledger has none. INVALID_ARGUMENT: a line is no row.
absl::StatusOr<absl::flat_hash_map<std::string, Duplicates>> ReadDuplicates(
    const std::string& dataset);

// A kept kernel that is like another, or belongs to it.
struct Relative {
  uint32_t entry = 0;
  double similarity = 0;  // of their runs
  // "alike", "same name", "same launcher", "same file": the nearest of these that holds.
  const char* why = "";
};
inline constexpr size_t kMaxRelatives = 8;

// Of each entry its nearest relatives, the nearest first. Sketches find them, their runs tell how
// near they are.
absl::StatusOr<std::vector<std::vector<Relative>>> FindRelatives(
    const std::vector<CatalogEntry>& entries, RunRecords& runs);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_RELATIVES_OVERVIEW_H_
