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

// Returns the words of an identifier or a file's name, in lower case: LayerNormBackward2 and
// layer_norm_backward have the same. Words are separated by anything but letters and digits, and
// before a capital that begins a word (QKNorm: qk, norm). Digits stay with their word (fp8,
// conv1d), except digits that only number a long one. Returns at most 32 words.
std::vector<std::string> IdentifierWords(absl::string_view name);

// Returns the common word for synonyms, "fwd" for "forward", and other words unchanged.
absl::string_view FoldSynonym(absl::string_view word);

// Returns true for two words that are known to be one: "layernorm", "topk".
bool IsKnownCompound(absl::string_view word);

// Returns true if the word does not tell what a kernel does: "kernel", "cuda", "impl", a single
// letter.
bool IsFiller(absl::string_view word);

// "forward" and "backward", folded.
inline constexpr absl::string_view kForward = "fwd";
inline constexpr absl::string_view kBackward = "bwd";

// Returns a parameter's name without the words that only say how it is passed: x_ptr, X and
// stride_x become x. Empty for a parameter without a specific name, such as a block's size.
std::string FoldParameter(absl::string_view name);

// A list of numbered words, with the number of kernels that have each. Not thread-safe.
class Vocabulary {
 public:
  uint32_t Intern(absl::string_view word);
  // Returns true if the word was interned.
  bool Has(absl::string_view word) const { return numbers_.contains(std::string(word)); }
  const std::string& GetWord(uint32_t number) const { return words_[number]; }

  void Count(uint32_t number) { ++counts_[number]; }
  // Returns the weight of the word if two of `kernels` share it: the binary logarithm of its
  // rarity. It is a whole number, so that all machines agree.
  int64_t Weight(uint32_t number, uint32_t kernels) const;

  size_t size() const { return words_.size(); }

 private:
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::vector<std::string> words_;
  std::vector<uint32_t> counts_;
};

// The words of one kernel by which pairs are found.
struct KernelWords {
  struct Tag {
    std::string name;
    std::string rule;
    bool named = false;  // the tag comes from the kernel's name and not from its code
  };
  bool cuda = false;
  bool launched = false;  // as KernelTraits.launched
  std::vector<std::string> name;
  std::vector<std::string> file;
  std::vector<Tag> tags;
  std::vector<std::string> parameters;
};

// Reads the words of a kernel. A pure function, and so thread-safe.
KernelWords ReadWords(const v1::Kernel& kernel);

// The same words as numbers in the vocabularies. Lists are sorted, each number once, except where a
// comment says otherwise.
struct KernelTraits {
  uint32_t number = 0;  // the kernel's number in its dataset
  bool cuda = false;
  // True for a launched kernel that is more than a wrapper. Only these get partners, and only these
  // count for the weights of words.
  bool launched = false;
  bool backward = false;
  std::vector<uint32_t> name;  // its name; in order until FoldTraits()
  std::vector<uint32_t> file;  // words of its file's name that its name lacks; the same
  std::vector<uint32_t> tags;
  // The tags that come from names, with their rules, in any order. A rule often gives a broader tag
  // too (norm beside layer_norm).
  std::vector<std::pair<uint32_t, uint32_t>> named_tags;
  std::vector<uint32_t> parameters;
};

// The vocabularies of the kernels of one source.
struct Vocabularies {
  Vocabulary raw;    // words as identifiers have them
  Vocabulary words;  // folded words
  Vocabulary tags;
  Vocabulary rules;  // the rules of named tags
  Vocabulary parameters;
  uint32_t kernels = 0;  // the number of counted kernels
};

// Returns the traits of a kernel, with its words as written.
KernelTraits InternWords(uint32_t number, const KernelWords& words, Vocabularies& vocabularies);

// Folds a kernel's words and counts its traits. Two words become one if another name writes them as
// one (layer_norm: layernorm), synonyms become equal, and fillers are dropped. Call it after all
// kernels of the source were interned.
void FoldTraits(Vocabularies& vocabularies, KernelTraits& traits);

// The similarity of two kernels, in thousandths; -1 if nothing is known.
struct PairScore {
  int total = 0;
  int names = 0;
  int operations = -1;
  int parameters = -1;
};

// Scores a CUDA kernel and a Triton kernel after FoldTraits(). The .cc has the formula.
PairScore Score(const Vocabularies& vocabularies, const KernelTraits& cuda,
                const KernelTraits& triton);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PAIRS_KERNEL_TRAITS_H_
