#ifndef KERNELMILL_CLIENT_CATALOG_RELATIVES_RELATIVES_H_
#define KERNELMILL_CLIENT_CATALOG_RELATIVES_RELATIVES_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/entries/temp_records.h"

namespace kernelmill::client {

// Returns the hashes of all runs of five tokens of a kernel's source, ascending, each once.
// Comments do not count.
std::vector<uint64_t> HashRuns(const v1::KernelRow& kernel);

// A sketch of a text for estimates of similarity, in 128 bytes: the least hash of its runs in each
// of 64 bins (one-permutation MinHash). The estimate is good to some hundredths.
struct Sketch {
  static constexpr size_t kBins = 64;
  static constexpr uint16_t kEmpty = 0xffff;
  std::array<uint16_t, kBins> least;
};
Sketch MakeSketch(const std::vector<uint64_t>& runs);
double EstimatedSimilarity(const Sketch& a, const Sketch& b);

// The runs of all kernels, by the kernels' numbers, in a temp file. Not thread-safe.
class RunRecords {
 public:
  static absl::StatusOr<RunRecords> Create(const std::string& temp_parent);

  // Adds the next kernel's runs.
  absl::Status Add(const std::vector<uint64_t>& runs);

  // Reads the runs of one kernel. Do not add afterwards.
  absl::StatusOr<std::vector<uint64_t>> Read(uint32_t number);

 private:
  explicit RunRecords(TempRecords records) : records_(std::move(records)) {}
  TempRecords records_;
};

// Returns the Jaccard similarity of two sets of runs.
double Similarity(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b);

// A kernel without its texts: the part of its row that pages of other kernels need.
struct CatalogEntry {
  std::string id;
  int64_t offset = 0;
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
  double standing = 0;  // how far ahead it comes of others that fit as well
  double comment_ratio = 0;
  bool self_contained = false;
  bool documented = false;
  bool tested = false;
  bool compiles = false;
  bool strided = false;    // takes strides
  bool decorated = false;  // has a decorator of the repository, which may launch it
  Sketch sketch;

  bool backward() const;
  bool HasTag(absl::string_view tag) const;
};

// A kernel that the dataset dropped as a duplicate.
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
  std::vector<Duplicate> first;  // the first ones of the ledger, up to kMaxDuplicates
};
inline constexpr size_t kMaxDuplicates = 20;

// Returns the duplicates by the kept kernel's id; none if the folder has no ledger.
// INVALID_ARGUMENT: a line is not a row.
absl::StatusOr<absl::flat_hash_map<std::string, Duplicates>> ReadDuplicates(
    const std::string& dataset);

// A kept kernel that is similar to another one, or belongs to it.
struct Relative {
  uint32_t entry = 0;
  double similarity = 0;  // the similarity of the runs
  // The first of "similar", "same name", "same launcher" and "same file" that holds.
  const char* why = "";
};
inline constexpr size_t kMaxRelatives = 8;

// Returns the nearest relatives of each entry, the nearest first. Sketches find them, and their
// runs give the similarity.
absl::StatusOr<std::vector<std::vector<Relative>>> FindRelatives(
    const std::vector<CatalogEntry>& entries, RunRecords& runs);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_RELATIVES_RELATIVES_H_
