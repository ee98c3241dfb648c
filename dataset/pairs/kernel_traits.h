#ifndef KERNELMILL_DATASET_PAIRS_KERNEL_TRAITS_H_
#define KERNELMILL_DATASET_PAIRS_KERNEL_TRAITS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// Words by number, and of how many kernels each is.
class Vocabulary {
 public:
  uint32_t Intern(absl::string_view word);
  // Whether any word was interned so.
  bool Has(absl::string_view word) const { return numbers_.contains(std::string(word)); }
  const std::string& GetWord(uint32_t number) const { return words_[number]; }

  void Count(uint32_t number) { ++counts_[number]; }
  // How much it says that two of `kernels` share the word: the more the rarer it is, by its binary
  // logarithm. In whole numbers, so that no two machines differ.
  int64_t Weight(uint32_t number, uint32_t kernels) const;

  size_t size() const { return words_.size(); }

 private:
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::vector<std::string> words_;
  std::vector<uint32_t> counts_;
};

// What pairs are made by, of one kernel, as words.
struct KernelWords {
  struct Tag {
    std::string name;
    std::string rule;
    bool named = false;  // what it is called gave it the tag, and not what its code does
  };
  bool cuda = false;
  bool launched = false;  // as KernelTraits.launched
  std::vector<std::string> name;
  std::vector<std::string> file;
  std::vector<Tag> tags;
  std::vector<std::string> parameters;
};

// A function of the kernel; thread-safe.
KernelWords ReadWords(const v1::Kernel& kernel);

// The same as numbers in the vocabularies, sorted, each once, unless
// said otherwise.
struct KernelTraits {
  uint32_t number = 0;  // of the kernel in its dataset
  bool cuda = false;
  // Launched and no mere wrapper, and so one to find partners of. The others count for no word's
  // weight.
  bool launched = false;
  bool backward = false;
  std::vector<uint32_t> name;  // words of its name; in its order until they are folded
  std::vector<uint32_t> file;  // words of its file's name that its own has not; likewise
  std::vector<uint32_t> tags;
  // Those tags that names gave it, and not what its code does: each with its rule, which gives a
  // broader tag as well (norm beside layer_norm). In any order.
  std::vector<std::pair<uint32_t, uint32_t>> named_tags;
  std::vector<uint32_t> parameters;
};

// The vocabularies of the kernels of one source.
struct Vocabularies {
  Vocabulary raw;    // words as identifiers have them
  Vocabulary words;  // folded ones
  Vocabulary tags;
  Vocabulary rules;  // of named tags
  Vocabulary parameters;
  uint32_t kernels = 0;  // that were counted
};

// The traits of a kernel, its words as written.
KernelTraits InternWords(uint32_t number, const KernelWords& words, Vocabularies& vocabularies);

// Once all kernels of the source are read: two words that another name writes as one become that
// one (layer_norm: layernorm), synonyms fold, fillers go; then counts its traits.
void FoldTraits(Vocabularies& vocabularies, KernelTraits& traits);

// How alike two kernels are, in thousandths; -1: nothing can be said.
struct PairScore {
  int total = 0;
  int names = 0;
  int operations = -1;
  int parameters = -1;
};

// Scores a CUDA kernel and a Triton kernel, folded; the formula stands in the .cc.
PairScore Score(const Vocabularies& vocabularies, const KernelTraits& cuda,
                const KernelTraits& triton);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PAIRS_KERNEL_TRAITS_H_
