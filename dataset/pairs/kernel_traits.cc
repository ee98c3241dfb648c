// The basic idea: two kernels do the same if their names say so. There are three signals. Each is
// twice the weight of the shared words over the sum of the weights of both, so from 0 to 1:
//
// clang-format off
//   names       words of the kernels' names; and, with half the weight, words of their files' names
//               that the other kernel has too: for _fwd_kernel in flash_attn.py, the file says more
//   operations  their tags, except the direction and tags from the file's name, which belong to the
//               first signal. Tags from code are found more often for Triton than for CUDA, so they
//               count only if both kernels have them. The same holds for layer_norm if both have the
//               norm that comes with it: the other name is less exact, but no other operation
//   parameters  the names of parameters, if both kernels have at least two
//
//   score = (0.60 names + 0.25 operations + 0.15 parameters) / the sum of the factors of known signals
// clang-format on
//
// A word's weight is the number of bits of (kernels of the source / kernels that have it): "quant"
// says little if half of the kernels quantize.
//
// A kernel may have no tags, or take one struct for all its parameters. Then that signal is
// unknown, which differs from 0.

#include "dataset/pairs/kernel_traits.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/path.h"
#include "common/dsl/languages.h"

namespace kernelmill::dataset {
namespace {

using absl::string_view;

constexpr size_t kMaxWords = 32;
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kLongWord = 5;  // letters; shorter ones with digits are names: fp8, int4

// Sorted by the first.
constexpr std::pair<string_view, string_view> kSynonyms[] = {
    {"act", "activation"},  {"attention", "attn"},     {"backward", "bwd"},
    {"bw", "bwd"},          {"cat", "concat"},         {"dequantize", "dequant"},
    {"embed", "embedding"}, {"forward", "fwd"},        {"fw", "fwd"},
    {"gemm", "matmul"},     {"grad", "bwd"},           {"ids", "index"},
    {"idx", "index"},       {"indices", "index"},      {"ln", "layernorm"},
    {"mm", "matmul"},       {"quantization", "quant"}, {"quantize", "quant"},
    {"rms", "rmsnorm"},     {"rotary", "rope"},
};

// Words that say nothing about what a kernel does.
constexpr string_view kFillers[] = {
    "and",      "cu",     "cuda",    "device", "fn",  "for", "from", "func",
    "function", "fuse",   "fused",   "global", "gpu", "hip", "impl", "in",
    "is",       "kernel", "kernels", "naive",  "of",  "op",  "ops",  "opt",
    "the",      "to",     "triton",  "v1",     "v2",  "v3",  "v4",   "with",
};

// Words that are also written as two: layer_norm, soft_max.
constexpr string_view kCompounds[] = {"allgather", "allreduce", "groupnorm", "layernorm",
                                      "logsumexp", "rmsnorm",   "softmax",   "topk"};

// Words of parameters' names that say how a value is passed and not what it is.
constexpr string_view kPassing[] = {"d", "n", "num", "p", "pointer", "ptr", "size", "stride"};

template <size_t N>
bool IsIn(const string_view (&words)[N], string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool IsUpper(char c) { return absl::ascii_isupper(static_cast<unsigned char>(c)); }
bool IsLower(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }
bool IsAlnum(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// Returns true if a word begins at the capital name[i], which follows a letter or a digit.
bool BeginsWord(string_view name, size_t i) {
  if (!IsUpper(name[i])) return false;
  if (!IsUpper(name[i - 1])) return true;
  return i + 1 < name.size() && IsLower(name[i + 1]);
}

// Cuts the number off a long word, which counts variants (softmax2); short words keep it.
std::string Finished(std::string word) {
  size_t letters = word.size();
  while (letters > 0 && IsDigit(word[letters - 1])) --letters;
  const bool only_letters = std::none_of(word.begin(), word.begin() + letters, IsDigit);
  if (only_letters && letters >= kLongWord) word.resize(letters);
  return word;
}

}  // namespace

// Cuts an identifier at everything that is no letter or digit, and before a capital that begins a
// word: "RMSNormFwd" has the words rms, norm, fwd.
std::vector<std::string> IdentifierWords(string_view name) {
  name = name.substr(0, kMaxNameBytes);
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && words.size() < kMaxWords) words.push_back(Finished(std::move(word)));
    word.clear();
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (!IsAlnum(name[i]) || (!word.empty() && BeginsWord(name, i))) end_word();
    if (IsAlnum(name[i])) word += absl::ascii_tolower(static_cast<unsigned char>(name[i]));
  }
  end_word();
  return words;
}

string_view FoldSynonym(string_view word) {
  const auto at = std::lower_bound(std::begin(kSynonyms), std::end(kSynonyms), word,
                                   [](const std::pair<string_view, string_view>& entry,
                                      string_view w) { return entry.first < w; });
  return at != std::end(kSynonyms) && at->first == word ? at->second : word;
}

bool IsKnownCompound(string_view word) { return IsIn(kCompounds, word); }

bool IsFiller(string_view word) { return word.size() < 2 || IsIn(kFillers, word); }

// Returns the words of a parameter's name without those about passing; empty if nothing is left,
// and for the sizes of blocks, which every kernel has.
std::string FoldParameter(string_view name) {
  std::string folded;
  for (const std::string& word : IdentifierWords(name)) {
    if (folded.empty() && word == "block") return "";
    if (!IsIn(kPassing, word)) absl::StrAppend(&folded, folded.empty() ? "" : "_", word);
  }
  return folded;
}

namespace {

using absl::string_view;
using Numbers = std::vector<uint32_t>;

constexpr int kNamesWeight = 60;
constexpr int kOperationsWeight = 25;
constexpr int kParametersWeight = 15;
constexpr size_t kMinParameters = 2;
constexpr int kMinStatements = 2;
constexpr int kMaxParameters = 128;  // read of one kernel
constexpr size_t kMinCompound = 4;   // letters

void SortOnce(Numbers& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

bool Contains(const Numbers& sorted, uint32_t number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

Numbers Shared(const Numbers& a, const Numbers& b) {
  Numbers shared;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
  return shared;
}

Numbers Interned(const std::vector<std::string>& words, Vocabulary& vocabulary) {
  Numbers numbers;
  for (const std::string& word : words) numbers.push_back(vocabulary.Intern(word));
  return numbers;
}

// Returns the name of the path's file without its extension.
string_view FindStem(string_view path) {
  const string_view name = BaseName(path);
  return name.substr(0, name.find('.'));
}

constexpr string_view kBackwardTag = "backward";

bool IsOfPath(const v1::Tag& tag) {
  return absl::StartsWith(tag.rule(), "file:") || absl::StartsWith(tag.rule(), "folder:");
}

bool IsOfCode(const v1::Tag& tag) {
  return absl::StartsWith(tag.rule(), "call:") || absl::StartsWith(tag.rule(), "structure:");
}

// Returns true if a CUDA kernel does work itself. A kernel with a single statement calls another
// function. One without statements is the host's view of a kernel that is compiled for some GPUs
// only.
bool DoesWork(const v1::Kernel& kernel) {
  if (!dsl::IsC(kernel.dsl())) return true;
  const string_view source = kernel.source();
  const size_t signature = source.find(kernel.signature());
  const size_t body = signature == string_view::npos ? 0 : signature + kernel.signature().size();
  return std::count(source.begin() + body, source.end(), ';') >= kMinStatements;
}

// Maps the words as written to the words that are compared: two neighbours become their compound if
// the source also writes it as one word, synonyms become one word, and fillers are left out. Needs
// the vocabulary of the whole source, so it comes after all kernels were added.
Numbers Fold(const Numbers& written, Vocabularies& vocabularies) {
  const Vocabulary& raw = vocabularies.raw;
  Numbers folded;
  for (size_t i = 0; i < written.size(); ++i) {
    std::string word = raw.GetWord(written[i]);
    if (i + 1 < written.size()) {
      // Joins greedily: the second word cannot be part of another compound.
      std::string compound = absl::StrCat(word, raw.GetWord(written[i + 1]));
      if (compound.size() >= kMinCompound && (raw.Has(compound) || IsKnownCompound(compound))) {
        word = std::move(compound);
        ++i;
      }
    }
    const string_view known = FoldSynonym(word);
    if (!IsFiller(known)) folded.push_back(vocabularies.words.Intern(known));
  }
  SortOnce(folded);
  return folded;
}

bool Has(const Vocabulary& words, const Numbers& numbers, string_view word) {
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](uint32_t number) { return words.GetWord(number) == word; });
}

// Decides by the kernel's name, or else by its file's.
bool IsBackward(const Vocabulary& words, const KernelTraits& traits) {
  if (Has(words, traits.name, kBackward)) return true;
  return !Has(words, traits.name, kForward) && Has(words, traits.file, kBackward);
}

// A function object that sums the weights of words of one vocabulary.
class Weigher {
 public:
  Weigher(const Vocabulary& words, uint32_t kernels) : words_(words), kernels_(kernels) {}

  int64_t Weigh(uint32_t word) const { return words_.Weight(word, kernels_); }
  int64_t Sum(const Numbers& words) const {
    int64_t sum = 0;
    for (const uint32_t word : words) sum += Weigh(word);
    return sum;
  }

 private:
  const Vocabulary& words_;
  const uint32_t kernels_;
};

// Returns twice `common` over `total`, in thousandths, or -1.
int Likeness(int64_t common, int64_t total) {
  return total == 0 ? -1 : static_cast<int>(2000 * common / total);
}

// Words of the kernel's name count twice, those of the file's name once, so that all are whole
// numbers.
int NamesLikeness(const Weigher& weigh, const KernelTraits& a, const KernelTraits& b) {
  int64_t common = 2 * weigh.Sum(Shared(a.name, b.name));
  int64_t total = 2 * (weigh.Sum(a.name) + weigh.Sum(b.name));
  // A word of a file's name has half the weight, and none if the other kernel does not have it.
  const int64_t file = weigh.Sum(Shared(a.file, b.name)) + weigh.Sum(Shared(a.name, b.file)) +
                       weigh.Sum(Shared(a.file, b.file));
  common += file;
  total += file + weigh.Sum(Shared(a.file, b.file));
  return std::max(Likeness(common, total), 0);
}

// A tag that does not come from code counts against the kernels only if no shared tag came by the
// same rule.
int OperationsLikeness(const Weigher& weigh, const KernelTraits& cuda, const KernelTraits& triton) {
  if (cuda.tags.empty() || triton.tags.empty()) return -1;
  const Numbers shared = Shared(cuda.tags, triton.tags);
  const auto counted = [&](const KernelTraits& traits) {
    Numbers shared_rules;
    for (const auto& [tag, rule] : traits.named_tags) {
      if (Contains(shared, tag)) shared_rules.push_back(rule);
    }
    SortOnce(shared_rules);
    int64_t sum = weigh.Sum(shared);
    for (const auto& [tag, rule] : traits.named_tags) {
      if (!Contains(shared, tag) && !Contains(shared_rules, rule)) sum += weigh.Weigh(tag);
    }
    return sum;
  };
  return Likeness(weigh.Sum(shared), counted(cuda) + counted(triton));
}

// One common parameter says little; kernels with fewer than two have no such signal.
int ParametersLikeness(const Weigher& weigh, const KernelTraits& a, const KernelTraits& b) {
  if (std::min(a.parameters.size(), b.parameters.size()) < kMinParameters) return -1;
  return Likeness(weigh.Sum(Shared(a.parameters, b.parameters)),
                  weigh.Sum(a.parameters) + weigh.Sum(b.parameters));
}

}  // namespace

uint32_t Vocabulary::Intern(string_view word) {
  const auto [at, added] =
      numbers_.try_emplace(std::string(word), static_cast<uint32_t>(words_.size()));
  if (added) {
    words_.emplace_back(word);
    counts_.push_back(0);
  }
  return at->second;
}

// The number of bits of the quotient, at least 1: an integer logarithm, which is the same on every
// machine.
int64_t Vocabulary::Weight(uint32_t number, uint32_t kernels) const {
  return std::max<int64_t>(std::bit_width(kernels / std::max(counts_[number], 1u)), 1);
}

// Reads what the score needs from the record. Tags about direction and tags from the path are left
// out: names say these already.
KernelWords ReadWords(const v1::Kernel& kernel) {
  KernelWords words;
  words.cuda = dsl::IsC(kernel.dsl());
  words.launched = kernel.role() == v1::KERNEL_ROLE_KERNEL && DoesWork(kernel);
  words.name = IdentifierWords(kernel.name());
  // d_gelu is gelu's derivative.
  if (absl::StartsWith(kernel.name(), "d_")) words.name.emplace_back(kBackward);
  words.file = IdentifierWords(FindStem(kernel.path()));
  for (const v1::Tag& tag : kernel.tags()) {
    if (tag.name() == kBackwardTag || IsOfPath(tag)) continue;
    words.tags.push_back({tag.name(), tag.rule(), !IsOfCode(tag)});
  }
  const int parameters = std::min(kernel.parameters_size(), kMaxParameters);
  for (int i = 0; i < parameters; ++i) {
    if (kernel.parameters(i).role() == v1::PARAMETER_ROLE_CONSTEXPR) continue;
    std::string name = FoldParameter(kernel.parameters(i).name());
    if (!name.empty()) words.parameters.push_back(std::move(name));
  }
  return words;
}

// Words are interned as written; FoldTraits folds them once all kernels of the source are there.
KernelTraits InternWords(uint32_t number, const KernelWords& words, Vocabularies& vocabularies) {
  KernelTraits traits;
  traits.number = number;
  traits.cuda = words.cuda;
  traits.launched = words.launched;
  traits.name = Interned(words.name, vocabularies.raw);
  traits.file = Interned(words.file, vocabularies.raw);
  for (const KernelWords::Tag& tag : words.tags) {
    const uint32_t word = vocabularies.tags.Intern(tag.name);
    traits.tags.push_back(word);
    if (tag.named) traits.named_tags.emplace_back(word, vocabularies.rules.Intern(tag.rule));
  }
  traits.parameters = Interned(words.parameters, vocabularies.parameters);
  SortOnce(traits.tags);
  SortOnce(traits.parameters);
  return traits;
}

// Counts the words of kernels that are launched only, since only these are compared.
void FoldTraits(Vocabularies& vocabularies, KernelTraits& traits) {
  traits.name = Fold(traits.name, vocabularies);
  traits.file = Fold(traits.file, vocabularies);
  std::erase_if(traits.file, [&](uint32_t word) { return Contains(traits.name, word); });
  traits.backward = IsBackward(vocabularies.words, traits);
  // Helpers would make words look more common than they are among kernels.
  if (!traits.launched) return;
  ++vocabularies.kernels;
  for (const Numbers* words : {&traits.name, &traits.file}) {
    for (const uint32_t word : *words) vocabularies.words.Count(word);
  }
  for (const uint32_t tag : traits.tags) vocabularies.tags.Count(tag);
  for (const uint32_t name : traits.parameters) vocabularies.parameters.Count(name);
}

// All numbers are integers in thousandths, so that scores do not depend on the machine.
PairScore Score(const Vocabularies& vocabularies, const KernelTraits& cuda,
                const KernelTraits& triton) {
  const uint32_t kernels = vocabularies.kernels;
  PairScore score;
  score.names = NamesLikeness(Weigher(vocabularies.words, kernels), cuda, triton);
  score.operations = OperationsLikeness(Weigher(vocabularies.tags, kernels), cuda, triton);
  score.parameters = ParametersLikeness(Weigher(vocabularies.parameters, kernels), cuda, triton);
  int sum = kNamesWeight * score.names;
  int weights = kNamesWeight;
  if (score.operations >= 0) {
    sum += kOperationsWeight * score.operations;
    weights += kOperationsWeight;
  }
  if (score.parameters >= 0) {
    sum += kParametersWeight * score.parameters;
    weights += kParametersWeight;
  }
  score.total = sum / weights;
  return score;
}

}  // namespace kernelmill::dataset
