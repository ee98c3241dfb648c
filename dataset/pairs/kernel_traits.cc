// The basic idea: two kernels do the same where what names them says so. Three signals, each twice
// the weight of what both have over the weight of what either has, so from 0 to 1:
//
//   names       words of the kernels' names, and at half their weight those words of their files'
//               names that the other has too: of _fwd_kernel in flash_attn.py the file says more
//   operations  their tags, but for the direction, and for what the file's name says: that is in
//   the
//               first signal. What a kernel's code says, and not its name, is seen better of Triton
//               than of CUDA: such tags count where both have them. So does layer_norm where both
//               have the norm that comes with it: the other name is less exact, and no other
//               operation
//   parameters  what the parameters are called; of kernels with two names or more
//
// A word's weight is the number of bits of (kernels of the source / kernels that have it): "quant"
// says little where half of the kernels quantize.
//
//   score = (0.60 names + 0.25 operations + 0.15 parameters) / the weights of those there are
//
// A kernel of one of the languages may have no tags, or take one struct for all its parameters:
// then that signal is not there, which is not the same as being 0.

#include "dataset/pairs/kernel_traits.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/path.h"
#include "dataset/pairs/identifier_words.h"

namespace kernelmill::dataset {
namespace {

using absl::string_view;
using Numbers = std::vector<uint32_t>;

constexpr int kNamesWeight = 60;
constexpr int kOperationsWeight = 25;
constexpr int kParametersWeight = 15;
constexpr size_t kMinParameters = 2;
constexpr int kMinStatements = 2;
constexpr int kMaxParameters = 128;  // that are looked at
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

// The name of the path's file without its extension.
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

// Whether a CUDA kernel does something itself. One of a single statement hands on to another
// function; one of none is what the host sees of a kernel that is compiled for some GPUs alone.
bool DoesWork(const v1::Kernel& kernel) {
  if (kernel.dsl() != v1::DSL_CUDA) return true;
  const string_view source = kernel.source();
  const size_t signature = source.find(kernel.signature());
  const size_t body = signature == string_view::npos ? 0 : signature + kernel.signature().size();
  return std::count(source.begin() + body, source.end(), ';') >= kMinStatements;
}

Numbers Fold(const Numbers& written, Vocabularies& vocabularies) {
  const Vocabulary& raw = vocabularies.raw;
  Numbers folded;
  for (size_t i = 0; i < written.size(); ++i) {
    std::string word = raw.GetWord(written[i]);
    if (i + 1 < written.size()) {
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

// As the name says, else as the file's does.
bool IsBackward(const Vocabulary& words, const KernelTraits& traits) {
  if (Has(words, traits.name, kBackward)) return true;
  return !Has(words, traits.name, kForward) && Has(words, traits.file, kBackward);
}

// Sums of weights of words in one vocabulary.
class Weigher {
 public:
  Weigher(const Vocabulary& words, uint32_t kernels) : words_(words), kernels_(kernels) {}

  int64_t Of(uint32_t word) const { return words_.Weight(word, kernels_); }
  int64_t Sum(const Numbers& words) const {
    int64_t sum = 0;
    for (const uint32_t word : words) sum += Of(word);
    return sum;
  }

 private:
  const Vocabulary& words_;
  const uint32_t kernels_;
};

// In thousandths, of twice `common` over `total`.
int Likeness(int64_t common, int64_t total) {
  return total == 0 ? -1 : static_cast<int>(2000 * common / total);
}

int NamesLikeness(const Weigher& weigh, const KernelTraits& a, const KernelTraits& b) {
  int64_t common = 2 * weigh.Sum(Shared(a.name, b.name));
  int64_t total = 2 * (weigh.Sum(a.name) + weigh.Sum(b.name));
  // A word of a file's name weighs half, and nothing where the other kernel has it not.
  const int64_t file = weigh.Sum(Shared(a.file, b.name)) + weigh.Sum(Shared(a.name, b.file)) +
                       weigh.Sum(Shared(a.file, b.file));
  common += file;
  total += file + weigh.Sum(Shared(a.file, b.file));
  return std::max(Likeness(common, total), 0);
}

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
      if (!Contains(shared, tag) && !Contains(shared_rules, rule)) sum += weigh.Of(tag);
    }
    return sum;
  };
  return Likeness(weigh.Sum(shared), counted(cuda) + counted(triton));
}

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

int64_t Vocabulary::Weight(uint32_t number, uint32_t kernels) const {
  return std::max<int64_t>(std::bit_width(kernels / std::max(counts_[number], 1u)), 1);
}

KernelWords ReadWords(const v1::Kernel& kernel) {
  KernelWords words;
  words.cuda = kernel.dsl() == v1::DSL_CUDA;
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

void FoldTraits(Vocabularies& vocabularies, KernelTraits& traits) {
  traits.name = Fold(traits.name, vocabularies);
  traits.file = Fold(traits.file, vocabularies);
  std::erase_if(traits.file, [&](uint32_t word) { return Contains(traits.name, word); });
  traits.backward = IsBackward(vocabularies.words, traits);
  if (!traits.launched) return;
  ++vocabularies.kernels;
  for (const Numbers* words : {&traits.name, &traits.file}) {
    for (const uint32_t word : *words) vocabularies.words.Count(word);
  }
  for (const uint32_t tag : traits.tags) vocabularies.tags.Count(tag);
  for (const uint32_t name : traits.parameters) vocabularies.parameters.Count(name);
}

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
