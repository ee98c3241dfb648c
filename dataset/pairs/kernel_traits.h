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

// Returns true if the word says how a kernel works or for which chip, and not what it computes:
// "persistent", "vectorized", "sm90".
bool IsVariant(absl::string_view word);

// A list of numbered words. Not thread-safe.
class Vocabulary {
 public:
  uint32_t Intern(absl::string_view word);
  // Returns true if the word was interned.
  bool Has(absl::string_view word) const { return numbers_.contains(std::string(word)); }
  const std::string& GetWord(uint32_t number) const { return words_[number]; }

  size_t size() const { return words_.size(); }

 private:
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::vector<std::string> words_;
};

// How many kernels have each word of a vocabulary, by its number. Not thread-safe.
class Frequencies {
 public:
  // Counts a kernel that has these words, each once.
  void Count(const std::vector<uint32_t>& words);
  uint32_t Get(uint32_t word) const { return word < counts_.size() ? counts_[word] : 0; }

 private:
  std::vector<uint32_t> counts_;
};

// The words of one kernel by which pairs are found.
struct KernelWords {
  struct Tag {
    std::string name;
    std::string rule;
    bool named = false;  // the tag comes from the kernel's name and not from its code
  };
  std::string dsl;
  bool launched = false;  // as KernelTraits.launched
  bool in_test = false;   // as KernelTraits.in_test
  std::vector<std::string> name;
  std::vector<std::string> scope;    // the classes and functions around it
  std::vector<std::string> file;     // its file's name
  std::vector<std::string> folders;  // the folders that the file is in
  std::vector<std::string> launcher;
  std::vector<Tag> tags;
  std::vector<std::string> parameters;
  // Tests that reach the kernel, and the references that they compare it with; any texts.
  // ReadWords() leaves them empty.
  std::vector<std::string> tests;
  std::vector<std::string> references;
};

// Reads the words of a kernel. A pure function, and so thread-safe.
KernelWords ReadWords(const v1::Kernel& kernel);

// Return the numbers that are in both of two sorted lists, or in either; sorted, each once.
std::vector<uint32_t> Shared(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b);
std::vector<uint32_t> United(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b);

// The same words as numbers in the vocabularies. Lists are sorted, each number once, except where a
// comment says otherwise.
struct KernelTraits {
  using Numbers = std::vector<uint32_t>;

  uint32_t number = 0;  // the kernel's number in its dataset
  std::string dsl;
  // True for a launched kernel that is more than a wrapper. Only these get partners, and only these
  // count for the weights of words.
  bool launched = false;
  // True if a folder, the file's name or a function around it says "test".
  bool in_test = false;
  bool backward = false;
  Numbers name;       // its name, and if that says nothing, what is around it
  Numbers operation;  // its name and what is around it, in their order
  // Its name's words in their order, also those of `marks`; empty if the name says nothing.
  Numbers spelled;
  Numbers context;  // words of its file's name, and of what is around it, that its name lacks
  Numbers file;     // its file's name
  Numbers path;     // its file's name and folders
  Numbers launcher;
  Numbers scope;      // the classes and functions around it
  Numbers tag_words;  // its tags
  Numbers tags;
  // The tags that come from names, with their rules, in any order. A rule often gives a broader tag
  // too (norm beside layer_norm).
  std::vector<std::pair<uint32_t, uint32_t>> named_tags;
  Numbers parameters;
  // Words of its name that tell variants apart, each list sorted.
  struct Marks {
    std::vector<std::string> letters;   // single ones
    std::vector<std::string> digits;    // single ones
    std::vector<std::string> versions;  // v1, v2
  };
  Marks marks;
  std::vector<std::string> tests;
  std::vector<std::string> references;
};

// The vocabularies of the kernels of one source, and how many kernels have each word.
struct Vocabularies {
  Vocabulary raw;    // words as identifiers have them
  Vocabulary words;  // folded words
  Vocabulary tags;
  Vocabulary rules;  // the rules of named tags
  Vocabulary parameters;
  Frequencies in_names;  // counts `words` in names and contexts
  Frequencies in_paths;
  Frequencies in_launchers;
  Frequencies of_tags;
  Frequencies of_parameters;
  uint32_t kernels = 0;  // the number of counted kernels
};

// Returns the traits of a kernel, with its words as written.
KernelTraits InternWords(uint32_t number, const KernelWords& words, Vocabularies& vocabularies);

// Folds a kernel's words and counts its traits. Two words become one if another name writes them as
// one (layer_norm: layernorm), synonyms become equal, and fillers, languages and variants are
// dropped. Call it after all kernels of the source were interned.
void FoldTraits(Vocabularies& vocabularies, KernelTraits& traits);

// The similarity of two kernels, in thousandths; -1 if nothing is known.
struct PairScore {
  int total = 0;
  int names = 0;
  int operations = -1;
  int parameters = -1;
  int path = -1;
  int launcher = -1;
  int tests = -1;  // 1000 if a test or a reference is shared; it says nothing if none is
};

// Scores two kernels of different languages after FoldTraits(). The .cc has the formula.
PairScore Score(const Vocabularies& vocabularies, const KernelTraits& a, const KernelTraits& b);

// Returns true if every word of each kernel's name is somewhere at the other one, and if the names
// share a single word or none, those of its file's name too: a word that the other lacks (quant,
// gather) is mostly another operation. The same holds for words of the path about the input's
// layout or precision (varlen, fp8). Names with different digits, or with different letters or
// versions if both have some (chunk_h, chunk_o), do not explain each other.
bool NamesExplainEachOther(const Vocabularies& vocabularies, const KernelTraits& a,
                           const KernelTraits& b);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PAIRS_KERNEL_TRAITS_H_
