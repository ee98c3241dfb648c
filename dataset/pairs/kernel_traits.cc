// The basic idea: two kernels do the same if what people call them says so. There are six signals.
// Most are twice the weight of the shared words over the sum of the weights of both, so from 0 to
// 1:
//
// clang-format off
//   names       words of the kernels' names; and, with half the weight, words of their files' names
//               and of the classes around them that the other kernel has too: for _fwd_kernel in
//               flash_attn.py, the file says more
//   operations  their tags, except the direction and tags from the file's name, which belong to the
//               first signal. Tags from code are found more often for Triton than for CUDA, so they
//               count only if both kernels have them. The same holds for layer_norm if both have the
//               norm that comes with it: the other name is less exact, but no other operation
//   parameters  the names of parameters, if both kernels have at least two
//   path        words of their files' names and folders, without those that many kernels have
//   launcher    words of the names of the functions that launch them
//   tests       1 if a test or a reference is shared, else unknown
//
//   score = (0.40 names + 0.20 operations + 0.10 parameters + 0.15 path + 0.15 launcher + 0.20 tests)
//           / the sum of the factors of known signals
// clang-format on
//
// A word's weight is the number of bits of (kernels of the source / kernels that have it): "quant"
// says little if half of the kernels quantize. Names of languages are no words: ops/cutile/rope.py
// has the path of ops/rope.py.
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
#include "absl/strings/strip.h"
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
    {"act", "activation"},
    {"activations", "activation"},
    {"attention", "attn"},
    {"backward", "bwd"},
    {"bw", "bwd"},
    {"cat", "concat"},
    {"dequantize", "dequant"},
    {"embed", "embedding"},
    {"forward", "fwd"},
    {"fw", "fwd"},
    {"gemm", "matmul"},
    {"grad", "bwd"},
    {"ids", "index"},
    {"idx", "index"},
    {"indices", "index"},
    {"ln", "layernorm"},
    {"mm", "matmul"},
    {"quantization", "quant"},
    {"quantize", "quant"},
    {"rms", "rmsnorm"},
    {"rotary", "rope"},
};

// Words that say nothing about what a kernel does.
constexpr string_view kFillers[] = {
    "and",    "api",    "build",    "built",   "call",   "custom",   "device",    "dispatch",
    "entry",  "fn",     "for",      "from",    "func",   "function", "fuse",      "fused",
    "get",    "global", "gpu",      "host",    "impl",   "in",       "interface", "into",
    "invoke", "is",     "kernel",   "kernels", "launch", "launcher", "launchers", "main",
    "make",   "module", "naive",    "of",      "op",     "ops",      "opt",       "py",
    "python", "run",    "template", "the",     "to",     "v1",       "v2",        "v3",
    "v4",     "with",   "wrapper",
};

// Other words than the names of languages by which names say a language or a platform.
constexpr string_view kPlatforms[] = {
    "ascend", "ct",    "cu",   "cutedsl", "cutlass", "dsl",     "fly",
    "hip",    "metal", "musa", "rocm",    "tile",    "tilecpp", "tl",
};

// Words that are also written as two: layer_norm, soft_max.
constexpr string_view kCompounds[] = {"allgather", "allreduce", "groupnorm", "layernorm",
                                      "logsumexp", "rmsnorm",   "softmax",   "topk"};

// Words that say how a kernel works or for which chip.
constexpr string_view kVariants[] = {
    "2cta",      "aligned", "ampere", "autotuned", "blackwell", "block",       "blocked",
    "cluster",   "cta",     "fast",   "general",   "generic",   "hopper",      "ilp",
    "large",     "low",     "mfma",   "mma",       "novec",     "optimized",   "persistent",
    "pipelined", "simple",  "slow",   "small",     "smem",      "specialized", "tensorcore",
    "thread",    "threads", "tiled",  "tma",       "tuned",     "unaligned",   "unrolled",
    "vec",       "vec2",    "vec4",   "vec8",      "vector",    "vectorized",  "warp",
    "wgmma",     "wmma",    "ws",
};
constexpr string_view kChips[] = {"cdna", "gfx", "rdna", "sm"};

// Words that say how the input is laid out, or how precise it is. They count wherever a path has
// them.
constexpr string_view kInputs[] = {"fp8",   "int4",  "int8",   "jagged", "mxfp4",
                                   "mxfp8", "nvfp4", "ragged", "sparse", "varlen"};

// Words that say of code that it is a test.
constexpr string_view kTests[] = {"test", "tests"};

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

bool IsFiller(string_view word) {
  return word.size() < 2 || IsIn(kFillers, word) || IsIn(kPlatforms, word) ||
         dsl::FindLanguage(word) != nullptr;
}

bool IsVariant(string_view word) {
  if (IsIn(kVariants, word)) return true;
  // A chip: sm90, gfx942.
  return std::any_of(std::begin(kChips), std::end(kChips), [&](string_view chip) {
    return absl::StartsWith(word, chip) && word.size() > chip.size() && IsDigit(word[chip.size()]);
  });
}

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

constexpr int kNamesFactor = 40;
constexpr int kOperationsFactor = 20;
constexpr int kParametersFactor = 10;
constexpr int kPathFactor = 15;
constexpr int kLauncherFactor = 15;
constexpr int kTestsFactor = 20;
constexpr size_t kMinParameters = 2;
constexpr int kMinStatements = 2;
constexpr int kMaxParameters = 128;     // read of one kernel
constexpr size_t kTellingWords = 2;     // of a name, that tell the operation without the file's
constexpr size_t kMinCompound = 4;      // letters
constexpr uint32_t kCommonInPaths = 4;  // a word that a quarter of the kernels have in their paths

void SortOnce(Numbers& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

bool Contains(const Numbers& sorted, uint32_t number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

// Returns the words of `a` that `b` lacks.
Numbers Without(const Numbers& a, const Numbers& b) {
  Numbers rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

Numbers Interned(const std::vector<std::string>& words, Vocabulary& vocabulary) {
  Numbers numbers;
  for (const std::string& word : words) numbers.push_back(vocabulary.Intern(word));
  return numbers;
}

constexpr string_view kBackwardTag = "backward";

bool IsOfPath(const v1::Tag& tag) {
  return absl::StartsWith(tag.rule(), "file:") || absl::StartsWith(tag.rule(), "folder:");
}

bool IsOfCode(const v1::Tag& tag) {
  return absl::StartsWith(tag.rule(), "call:") || absl::StartsWith(tag.rule(), "structure:");
}

// Returns true if a kernel of a language of C does work itself. A kernel with a single statement,
// or without any "=", calls another function, or an object that it makes for that. One without
// statements is the host's view of a kernel that is compiled for some GPUs only.
bool DoesWork(const v1::Kernel& kernel) {
  if (!dsl::IsC(kernel.dsl())) return true;
  string_view body = kernel.source();
  const size_t signature = body.find(kernel.signature());
  if (signature != string_view::npos) body.remove_prefix(signature + kernel.signature().size());
  return std::count(body.begin(), body.end(), ';') >= kMinStatements &&
         absl::StrContains(body, '=');
}

// Returns true for the words that FindMarks() lists.
bool IsMark(string_view word) {
  return word.size() == 1 || (word.size() == 2 && word[0] == 'v' && IsDigit(word[1]));
}

// Maps the words as written to the words that are compared: two neighbours become their compound if
// the source also writes it as one word, synonyms become one word, and fillers are left out, marks
// only if `with_marks` is false. Needs the vocabulary of the whole source, so it comes after all
// kernels were added. Returns the words in their order.
Numbers Fold(const Numbers& written, Vocabularies& vocabularies, bool with_marks = false) {
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
    const bool marks = with_marks && IsMark(known);
    if (marks || (!IsFiller(known) && !IsVariant(known)))
      folded.push_back(vocabularies.words.Intern(known));
  }
  return folded;
}

bool Has(const Vocabulary& words, const Numbers& numbers, string_view word) {
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](uint32_t number) { return words.GetWord(number) == word; });
}

bool IsDirection(string_view word) { return word == kForward || word == kBackward; }

// Returns the words without those of direction.
Numbers WithoutDirection(const Vocabulary& words, Numbers numbers) {
  std::erase_if(numbers, [&](uint32_t number) { return IsDirection(words.GetWord(number)); });
  return numbers;
}

bool HasOperation(const Vocabulary& words, const Numbers& numbers) {
  return !WithoutDirection(words, numbers).empty();
}

// Decides by the first of these that says a direction: the kernel's name, its file's and the
// classes around it, its launcher. All directions of one of them must be backward.
bool IsBackward(const Vocabulary& words, const KernelTraits& traits) {
  for (const Numbers* said : {&traits.name, &traits.context, &traits.launcher}) {
    if (Has(words, *said, kBackward)) return true;
    if (Has(words, *said, kForward)) return false;
  }
  return false;
}

// Sums the weights of words.
class Weigher {
 public:
  Weigher(const Frequencies& frequencies, uint32_t kernels)
      : frequencies_(frequencies), kernels_(kernels) {}

  // Returns the binary logarithm of the word's rarity, at least 1. It is a whole number, so that
  // all machines agree.
  int64_t Weigh(uint32_t word) const {
    const uint32_t quotient = kernels_ / std::max(frequencies_.Get(word), 1u);
    return std::max<int64_t>(std::bit_width(quotient), 1);
  }
  int64_t Sum(const Numbers& words) const {
    int64_t sum = 0;
    for (const uint32_t word : words) sum += Weigh(word);
    return sum;
  }

 private:
  const Frequencies& frequencies_;
  const uint32_t kernels_;
};

// Returns twice `common` over `total`, in thousandths, or -1.
int Likeness(int64_t common, int64_t total) {
  return total == 0 ? -1 : static_cast<int>(2000 * common / total);
}

// Words of the kernel's name count twice, those around it once, so that all are whole numbers.
int NamesLikeness(const Weigher& weigh, const KernelTraits& a, const KernelTraits& b) {
  int64_t common = 2 * weigh.Sum(Shared(a.name, b.name));
  int64_t total = 2 * (weigh.Sum(a.name) + weigh.Sum(b.name));
  // A word of the context has half the weight, and none if the other kernel does not have it.
  const int64_t in_both = weigh.Sum(Shared(a.context, b.context));
  const int64_t context =
      weigh.Sum(Shared(a.context, b.name)) + weigh.Sum(Shared(a.name, b.context)) + in_both;
  common += context;
  total += context + in_both;
  return std::max(Likeness(common, total), 0);
}

// A tag that does not come from code counts against the kernels only if no shared tag came by the
// same rule.
int OperationsLikeness(const Weigher& weigh, const KernelTraits& a, const KernelTraits& b) {
  if (a.tags.empty() || b.tags.empty()) return -1;
  const Numbers shared = Shared(a.tags, b.tags);
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
  return Likeness(weigh.Sum(shared), counted(a) + counted(b));
}

int WordsLikeness(const Weigher& weigh, const Numbers& a, const Numbers& b) {
  if (a.empty() || b.empty()) return -1;
  return Likeness(weigh.Sum(Shared(a, b)), weigh.Sum(a) + weigh.Sum(b));
}

// One common parameter says little; kernels with fewer than two have no such signal.
int ParametersLikeness(const Weigher& weigh, const KernelTraits& a, const KernelTraits& b) {
  if (std::min(a.parameters.size(), b.parameters.size()) < kMinParameters) return -1;
  return WordsLikeness(weigh, a.parameters, b.parameters);
}

// Both are sorted.
bool HaveCommon(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& text) {
    return std::binary_search(b.begin(), b.end(), text);
  });
}

// Returns the words of a path that tell kernels apart.
Numbers TellingWords(const Vocabularies& vocabularies, const KernelTraits& traits) {
  Numbers words = traits.path;
  std::erase_if(words, [&](uint32_t word) {
    return vocabularies.in_paths.Get(word) * kCommonInPaths > vocabularies.kernels;
  });
  return words;
}

}  // namespace

Numbers Shared(const Numbers& a, const Numbers& b) {
  Numbers shared;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
  return shared;
}

Numbers United(const Numbers& a, const Numbers& b) {
  Numbers united;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(united));
  return united;
}

uint32_t Vocabulary::Intern(string_view word) {
  const auto [at, added] =
      numbers_.try_emplace(std::string(word), static_cast<uint32_t>(words_.size()));
  if (added) words_.emplace_back(word);
  return at->second;
}

void Frequencies::Count(const Numbers& words) {
  for (const uint32_t word : words) {
    if (word >= counts_.size()) counts_.resize(word + 1);
    ++counts_[word];
  }
}

KernelTraits::Marks FindMarks(const std::vector<std::string>& name) {
  KernelTraits::Marks marks;
  for (const std::string& word : name) {
    if (word.size() == 1) (IsDigit(word[0]) ? marks.digits : marks.letters).push_back(word);
    if (word.size() == 2 && word[0] == 'v' && IsDigit(word[1])) marks.versions.push_back(word);
  }
  for (auto* list : {&marks.letters, &marks.digits, &marks.versions}) {
    std::sort(list->begin(), list->end());
  }
  return marks;
}

// Reads what the score needs from the record. Tags about direction and tags from the path are left
// out: names say these already.
KernelWords ReadWords(const v1::Kernel& kernel) {
  KernelWords words;
  words.dsl = kernel.dsl();
  words.launched = kernel.role() == v1::KERNEL_ROLE_KERNEL && DoesWork(kernel);
  words.name = IdentifierWords(kernel.name());
  // d_gelu is gelu's derivative.
  if (absl::StartsWith(kernel.name(), "d_")) words.name.emplace_back(kBackward);
  string_view scope = kernel.qualname();
  if (absl::ConsumeSuffix(&scope, kernel.name())) words.scope = IdentifierWords(scope);
  const string_view path = kernel.path();
  const string_view file = BaseName(path);
  words.file = IdentifierWords(file.substr(0, file.find('.')));
  words.folders = IdentifierWords(path.substr(0, path.size() - file.size()));
  words.launcher = IdentifierWords(kernel.launcher().qualname());
  for (const auto* around : {&words.scope, &words.file, &words.folders, &words.launcher}) {
    words.in_test |= std::any_of(around->begin(), around->end(),
                                 [](const std::string& word) { return IsIn(kTests, word); });
  }
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
  traits.dsl = words.dsl;
  traits.launched = words.launched;
  traits.in_test = words.in_test;
  traits.name = Interned(words.name, vocabularies.raw);
  traits.marks = FindMarks(words.name);
  traits.tests = words.tests;
  traits.references = words.references;
  std::sort(traits.tests.begin(), traits.tests.end());
  std::sort(traits.references.begin(), traits.references.end());
  traits.scope = Interned(words.scope, vocabularies.raw);
  traits.context = Interned(words.file, vocabularies.raw);
  traits.path = Interned(words.folders, vocabularies.raw);
  traits.launcher = Interned(words.launcher, vocabularies.raw);
  for (const KernelWords::Tag& tag : words.tags) {
    const uint32_t word = vocabularies.tags.Intern(tag.name);
    traits.tags.push_back(word);
    if (tag.named) traits.named_tags.emplace_back(word, vocabularies.rules.Intern(tag.rule));
    const Numbers parts = Interned(IdentifierWords(tag.name), vocabularies.raw);
    traits.tag_words.insert(traits.tag_words.end(), parts.begin(), parts.end());
  }
  traits.parameters = Interned(words.parameters, vocabularies.parameters);
  SortOnce(traits.tags);
  SortOnce(traits.parameters);
  return traits;
}

// Counts the words of kernels that are launched only, since only these are compared.
void FoldTraits(Vocabularies& vocabularies, KernelTraits& traits) {
  traits.spelled = Fold(traits.name, vocabularies, true);
  for (Numbers* words : {&traits.name, &traits.scope, &traits.context, &traits.path,
                         &traits.launcher, &traits.tag_words}) {
    *words = Fold(*words, vocabularies);
  }
  traits.operation = traits.name;
  traits.operation.insert(traits.operation.end(), traits.scope.begin(), traits.scope.end());
  for (Numbers* words : {&traits.name, &traits.scope, &traits.context, &traits.path,
                         &traits.launcher, &traits.tag_words}) {
    SortOnce(*words);
  }
  // A method called `kernel` has the name of its class.
  if (WithoutDirection(vocabularies.words, traits.name).empty()) {
    traits.spelled.clear();
    traits.name = United(traits.name, traits.scope);
  }
  traits.file = traits.context;
  traits.path = United(traits.path, traits.file);
  traits.context = Without(United(traits.context, traits.scope), traits.name);
  traits.backward = IsBackward(vocabularies.words, traits);
  // Helpers would make words look more common than they are among kernels.
  if (!traits.launched) return;
  ++vocabularies.kernels;
  vocabularies.in_names.Count(United(traits.name, traits.context));
  vocabularies.in_paths.Count(traits.path);
  vocabularies.in_launchers.Count(traits.launcher);
  vocabularies.of_tags.Count(traits.tags);
  vocabularies.of_parameters.Count(traits.parameters);
}

// All numbers are integers in thousandths, so that scores do not depend on the machine.
PairScore Score(const Vocabularies& vocabularies, const KernelTraits& a, const KernelTraits& b) {
  const auto weigh = [&](const Frequencies& frequencies) {
    return Weigher(frequencies, vocabularies.kernels);
  };
  PairScore score;
  score.names = NamesLikeness(weigh(vocabularies.in_names), a, b);
  score.operations = OperationsLikeness(weigh(vocabularies.of_tags), a, b);
  score.parameters = ParametersLikeness(weigh(vocabularies.of_parameters), a, b);
  score.path = WordsLikeness(weigh(vocabularies.in_paths), TellingWords(vocabularies, a),
                             TellingWords(vocabularies, b));
  if (HasOperation(vocabularies.words, a.launcher) &&
      HasOperation(vocabularies.words, b.launcher)) {
    score.launcher = WordsLikeness(weigh(vocabularies.in_launchers), a.launcher, b.launcher);
  }
  if (HaveCommon(a.tests, b.tests) || HaveCommon(a.references, b.references)) score.tests = 1000;
  int sum = 0;
  int factors = 0;
  const std::pair<int, int> signals[] = {
      {kNamesFactor, score.names},           {kOperationsFactor, score.operations},
      {kParametersFactor, score.parameters}, {kPathFactor, score.path},
      {kLauncherFactor, score.launcher},     {kTestsFactor, score.tests}};
  for (const auto& [factor, signal] : signals) {
    if (signal < 0) continue;
    sum += factor * signal;
    factors += factor;
  }
  score.total = sum / factors;
  return score;
}

bool NamesExplainEachOther(const Vocabularies& vocabularies, const KernelTraits& a,
                           const KernelTraits& b) {
  const auto differ = [](const std::vector<std::string>& x, const std::vector<std::string>& y) {
    return !x.empty() && !y.empty() && x != y;
  };
  if (a.marks.digits != b.marks.digits || differ(a.marks.letters, b.marks.letters) ||
      differ(a.marks.versions, b.marks.versions)) {
    return false;
  }
  const Numbers shared = WithoutDirection(vocabularies.words, Shared(a.name, b.name));
  const auto explains = [&](const KernelTraits& named, const KernelTraits& other) {
    Numbers rest = shared.size() < kTellingWords ? United(named.name, named.file) : named.name;
    rest = WithoutDirection(vocabularies.words, std::move(rest));
    for (const uint32_t word : named.path) {
      if (IsIn(kInputs, vocabularies.words.GetWord(word))) rest.push_back(word);
    }
    SortOnce(rest);
    for (const Numbers* words :
         {&other.name, &other.context, &other.path, &other.launcher, &other.tag_words}) {
      rest = Without(rest, *words);
    }
    return rest.empty();
  };
  return explains(a, b) && explains(b, a);
}

}  // namespace kernelmill::dataset
