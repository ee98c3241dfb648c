// Which words a kernel is found by, and with which weight: docs/architecture/catalog.md has the
// table.
//
// The basic idea: a name says what a kernel does in few words, so that a word in a short name
// weighs more than one in a long name. `_rms_norm_kernel` is found before
// `_fused_rms_norm_mxfp8_quant_kernel` by "rms norm", although both have the words. The same holds
// for tags and for the name of the file.

#include "client/catalog/search/kernel_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/catalog/search/words.h"

namespace kernelmill::client {
namespace {

// Different words of one kernel's code that are indexed. The bound keeps a generated file of any
// size from filling the postings.
constexpr size_t kMaxCodeWords = 4000;
constexpr size_t kMaxDocstring = 600;  // bytes: the beginning says what a kernel does

constexpr double kNameWeight = 8;
constexpr double kTagWeight = 6;
constexpr double kLauncherWeight = 4;
constexpr double kConceptWeight = 4;
constexpr double kFileWeight = 3;
constexpr double kDescriptionWeight = 3;  // docstring, summary
constexpr double kFeatureWeight = 2;
constexpr double kLanguageWeight = 2;
constexpr double kParameterWeight = 1.5;
constexpr double kRepositoryWeight = 1;
constexpr double kFolderWeight = 1;
constexpr double kScopeWeight = 0.5;  // the classes or namespaces of a qualified name

// Words of names that do not tell kernels apart.
constexpr std::array<absl::string_view, 21> kNeutralWords = {
    "cuda",    "do", "fn",  "forward", "func", "fwd",    "gluon", "impl", "inner", "jit", "kernel",
    "kernels", "op", "ops", "pallas",  "py",   "triton", "v1",    "v2",   "v3",    "v4"};

bool IsNumber(absl::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return absl::ascii_isdigit(c); });
}

enum class Pairs { kNo, kYes };

using WordSet = absl::flat_hash_set<std::string>;

// Adds the words of a field, each once. With kYes two neighbours also count as one word, so that
// `layernorm` finds `layer_norm`.
void AddWords(absl::string_view text, Pairs pairs, WordSet* words) {
  const std::vector<std::string> all = Words(text);
  words->insert(all.begin(), all.end());
  if (pairs == Pairs::kNo) return;
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    std::string pair = absl::StrCat(all[i], all[i + 1]);
    if (pair.size() <= kMaxWord) words->insert(std::move(pair));
  }
}

// Returns how many words of a name tell it apart; at least 1.
double CountTelling(absl::string_view name) {
  WordSet words;
  AddWords(name, Pairs::kNo, &words);
  const auto telling = std::count_if(words.begin(), words.end(), [](const std::string& word) {
    return !IsStopWord(word) &&
           std::find(kNeutralWords.begin(), kNeutralWords.end(), word) == kNeutralWords.end();
  });
  return std::max<double>(1, static_cast<double>(telling));
}

// A name of two telling words has the full weight.
double WeightOfName(absl::string_view name, double weight) {
  return weight / (0.5 + 0.25 * CountTelling(name));
}

// Collects the weights of words in units of kFieldUnit.
class Fields {
 public:
  void Add(absl::string_view text, double weight, Pairs pairs = Pairs::kYes) {
    WordSet words;
    AddWords(text, pairs, &words);
    Add(words, weight);
  }

  void Add(const WordSet& words, double weight) {
    for (const std::string& word : words) {
      if (!IsStopWord(word)) weights_[word] += weight;
    }
  }

  WordUses ToUses() const {
    WordUses uses;
    for (const auto& [word, weight] : weights_) {
      uses[word].fields =
          static_cast<uint8_t>(std::clamp(std::round(weight / kFieldUnit), 1.0, 255.0));
    }
    return uses;
  }

 private:
  absl::flat_hash_map<std::string, double> weights_;
};

// Returns the last part of a qualified name, of Python or C++.
absl::string_view OwnName(absl::string_view qualname) {
  const size_t at = qualname.find_last_of(".:");
  return at == absl::string_view::npos ? qualname : qualname.substr(at + 1);
}

// Attention that keeps a running maximum and adds up blocks: what people call flash attention,
// whatever its name is. `code` has the words of its source.
bool IsFlashAttention(const v1::KernelRow& kernel, const std::vector<std::string>& code) {
  if (!HasTag(kernel, "attention") || HasTag(kernel, "backward")) return false;
  const absl::flat_hash_set<absl::string_view> words(code.begin(), code.end());
  return words.contains("dot") && (words.contains("exp") || words.contains("exp2")) &&
         (words.contains("max") || words.contains("maximum")) &&
         (absl::StrContains(kernel.source(), "for ") ||
          absl::StrContains(kernel.source(), "while "));
}

void AddTags(const v1::KernelRow& kernel, Fields* fields) {
  // `norm` comes with each kind of norm, and `backward` is a direction.
  const auto telling =
      std::count_if(kernel.tags().begin(), kernel.tags().end(),
                    [](const auto& tag) { return tag != "backward" && tag != "norm"; });
  const double weight =
      kTagWeight / (0.5 + 0.5 * std::max<double>(1, static_cast<double>(telling)));
  for (const std::string& tag : kernel.tags()) fields->Add(tag, weight);
}

void AddPlace(const v1::KernelRow& kernel, Fields* fields) {
  fields->Add(kernel.repository(), kRepositoryWeight, Pairs::kNo);
  const absl::string_view path = kernel.path();
  const size_t slash = path.rfind('/');
  const absl::string_view file = slash == absl::string_view::npos ? path : path.substr(slash + 1);
  const absl::string_view stem = file.substr(0, file.find('.'));
  fields->Add(stem, WeightOfName(stem, kFileWeight));
  fields->Add(path.substr(0, path.size() - file.size()), kFolderWeight, Pairs::kNo);
  fields->Add(kernel.dsl(), kLanguageWeight, Pairs::kNo);
}

Fields CollectFields(const v1::KernelRow& kernel, absl::string_view summary) {
  Fields fields;
  const absl::string_view own = OwnName(kernel.qualname());
  fields.Add(own, WeightOfName(own, kNameWeight));
  fields.Add(kernel.qualname(), kScopeWeight);
  if (kernel.has_launcher() && ListTestFiles(kernel).empty()) {
    const absl::string_view launcher = OwnName(kernel.launcher().qualname());
    fields.Add(launcher, WeightOfName(launcher, kLauncherWeight));
  }
  AddTags(kernel, &fields);
  WordSet description;
  AddWords(absl::string_view(kernel.docstring()).substr(0, kMaxDocstring), Pairs::kNo,
           &description);
  AddWords(summary, Pairs::kNo, &description);
  fields.Add(description, kDescriptionWeight);
  for (const std::string& feature : kernel.features()) fields.Add(feature, kFeatureWeight);
  AddPlace(kernel, &fields);
  // A flag such as IS_RMS_NORM or an optional pointer says what a kernel can do.
  WordSet parameters;
  for (const auto& parameter : kernel.parameters()) {
    AddWords(parameter.name(), Pairs::kYes, &parameters);
  }
  fields.Add(parameters, kParameterWeight);
  return fields;
}

}  // namespace

double Standing(const v1::KernelRow& kernel) {
  double standing = (1 + kernel.quality().score() / 5) / 1.2;
  const std::string& kind = kernel.kind();
  if (kernel.role() == v1::KERNEL_ROLE_DEVICE || kind == "helper") standing *= 0.6;
  if (kind == "test" || kind == "broken" || kind == "generated") standing *= 0.6;
  if (kind == "benchmark" || kind == "example") standing *= 0.8;
  const std::string& target = kernel.target();
  if (!target.empty() && target != "nvidia" && target != "generic") standing *= 0.7;
  if (HasTag(kernel, "backward")) standing *= 0.85;
  if (kernel.tags_size() > 3) standing *= 0.95;
  return standing;
}

KernelWords CollectWords(const v1::KernelRow& kernel, absl::string_view summary) {
  const std::vector<std::string> code = Words(kernel.source());
  Fields fields = CollectFields(kernel, summary);
  if (IsFlashAttention(kernel, code)) fields.Add("flash attention online softmax", kConceptWeight);
  KernelWords made{.uses = fields.ToUses()};
  size_t different = 0;
  for (const std::string& word : code) {
    // Numbers in code are mostly sizes and offsets: they would only fill the postings.
    if (IsStopWord(word) || IsNumber(word)) continue;
    ++made.length;
    // After the limit only words that are in the index already are counted further.
    if (different == kMaxCodeWords && !made.uses.contains(word)) continue;
    WordUse& use = made.uses[word];
    if (use.code == 0) ++different;
    // The count is one byte; the ranking hardly changes above that.
    if (use.code < 255) ++use.code;
  }
  return made;
}

}  // namespace kernelmill::client
