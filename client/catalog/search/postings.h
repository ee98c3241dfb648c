#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_POSTINGS_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_POSTINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"

namespace kernelmill::client {

// What a word counts by the fields that have it. The ranking is BM25's with fields: a word's weight
// in a kernel is
//
//   t = the sum of the fields' weights + 3 c / (c + 2 (0.25 + 0.75 length / mean length))
//   weight = t / (t + 6) (1 + score / 5) / 1.2
//
// where c is how often the code has the word, length how many words the code has, and score the
// kernel's. The site's script multiplies it with the word's rarity, ln(1 + (N - n + 0.5) / (n +
// 0.5)).
enum FieldWeight : uint8_t {
  kNameWeight = 8,
  kTagWeight = 6,
  kDescriptionWeight = 3,  // docstring, summary, features
  kRepositoryWeight = 3,
  kPathWeight = 2,  // and the language
};

struct WordUse {
  uint8_t fields = 0;  // the sum of the weights of the fields that have the word
  uint8_t code = 0;    // how often the code has it; 255: that or more
};
using WordUses = absl::flat_hash_map<std::string, WordUse>;

// Which kernels have which word, with what weight: collected, sorted on disk, and written in
// shards.
//
// The basic idea: words and their kernels are kept in memory up to a number of entries, then
// written as a run that is sorted by word. Kernels come in their order, so that a word's list is
// its parts from all runs, one behind the other. The bytes do not depend on where runs end.
class Postings {
 public:
  // `run_entries`: how many entries (word and kernel) there are in memory at most, some 16 bytes
  // each.
  static absl::StatusOr<Postings> Create(const std::string& temp_parent, size_t run_entries);

  // The next kernel; `length`: how many words its code has; `score`: from 0 to 1.
  absl::Status Add(const WordUses& uses, uint32_t length, double score);

  // Writes data/postings/N.js and answers the first word of each shard. `places`: the number that
  // the site gives each kernel.
  absl::StatusOr<std::vector<std::string>> Write(const std::string& site,
                                                 const std::vector<uint32_t>& places);

 private:
  struct Entry {
    uint32_t kernel;
    WordUse use;
  };

  Postings(TempDir temp, size_t run_entries) : temp_(std::move(temp)), run_entries_(run_entries) {}
  absl::Status WriteRun();
  uint8_t Weight(const Entry& entry) const;
  std::string Encode(const std::vector<Entry>& list, size_t begin, size_t* end) const;

  TempDir temp_;
  size_t run_entries_;
  absl::flat_hash_map<std::string, std::vector<Entry>> words_;
  size_t entries_ = 0;  // in words_
  std::vector<std::string> runs_;
  // Each kernel's; while postings are written, by the site's numbers.
  std::vector<uint32_t> lengths_;
  std::vector<float> scores_;
  double mean_length_ = 1;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_POSTINGS_H_
