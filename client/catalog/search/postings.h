#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_POSTINGS_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_POSTINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"

namespace kernelmill::client {

// The ranking is BM25 with fields: a word's weight in a kernel is
//
//   t = the sum of the fields' weights + 3 c / (c + 2 (0.25 + 0.75 length / mean length))
//   weight = t / (t + 8) standing
//
// with c the word's count in the code, length the number of words in the code, and standing the
// kernel's own (kernel_words.h). The site's script multiplies it with the word's rarity, ln(1 + (N
// - n + 0.5) / (n + 0.5)).

// The unit of WordUse::fields.
inline constexpr double kFieldUnit = 1.0 / 6;

// The uses of one word in one kernel.
struct WordUse {
  uint8_t fields = 0;  // the sum of the weights of the fields that have the word, in kFieldUnit
  uint8_t code = 0;    // the count in the code; 255: that or more
};
using WordUses = absl::flat_hash_map<std::string, WordUse>;

// The inverted index: for each word its kernels with the word's weight. It is collected, sorted on
// disk, and written in shards.
//
// The basic idea: words and their kernels are kept in memory up to a number of entries, then
// written as a run that is sorted by word. Kernels arrive in order, so that a word's list is the
// concatenation of its parts in all runs. The bytes do not depend on the ends of runs. Not
// thread-safe.
class Postings {
 public:
  // `run_entries` is the limit of entries (word and kernel) in memory, some 16 bytes each.
  static absl::StatusOr<Postings> Create(const std::string& temp_parent, size_t run_entries);

  // Adds the next kernel. `length` is the number of words in its code, `standing` is from 0 to 1.
  absl::Status Add(const WordUses& uses, uint32_t length, double standing);

  // Writes data/postings/N.js and returns the first word of each shard. `places` has the site's
  // number of each kernel.
  absl::StatusOr<std::vector<std::string>> Write(const std::string& site,
                                                 const std::vector<uint32_t>& places);
  // Writes data/vocabulary.js: the words that names, tags and descriptions have, the most frequent
  // first, for the spelling of queries. Call it after Write.
  absl::Status WriteVocabulary(const std::string& site);

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
  size_t entries_ = 0;  // the entries in words_
  std::vector<std::string> runs_;
  // By kernel; Write changes to the site's numbers.
  std::vector<uint32_t> lengths_;
  std::vector<float> standings_;
  double mean_length_ = 1;
  std::vector<std::pair<uint32_t, std::string>> vocabulary_;  // words with their kernels
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_POSTINGS_H_
