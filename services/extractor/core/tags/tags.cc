#include "services/extractor/core/tags/tags.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "services/extractor/core/tags/code_text.h"
#include "services/extractor/core/tags/phrases.h"
#include "services/extractor/core/tags/tag_table.h"
#include "services/extractor/core/tags/value_flow.h"

namespace kernelmill::extractor {

// clang-format off
// The evidence, and the part of this file that reads it:
//
//   KernelFacts   the calls of the kernel and its helpers, and the values that its stores get
//   OtherNames    names around the kernel, in the order of their weight
//   Tagger        the steps; each may give tags that no step before gave
//
// A tag has one reason, the first. Steps look at the tags that are there already: a subject that is
// known ends the search in names, and structure mostly fills gaps.
// clang-format on

namespace {

using absl::string_view;

// The facts about the code of a linked kernel, and of the helpers that it reaches in its module.
struct KernelFacts {
  bool is_c = false;
  // A name that the kernel uses is not in its module, and may do anything.
  bool incomplete = false;
  // Last parts of the names of all called functions, those of helpers included; sorted, each once.
  std::vector<std::string> calls;
  uint32_t call_kinds = 0;   // a CallKind set of all calls
  int dots = 0;              // calls of the kind kDot
  bool only_places = false;  // all calls are stores, casts, or make indices
  bool has_loop = false;
  bool has_while = false;
  std::vector<ValueFlow::Store> stores;
  std::vector<ValueFlow::Store> atomics;
  bool loads = false;
  bool root_of_sum = false;

  bool Calls(uint32_t kinds) const { return (call_kinds & kinds) != 0; }
};

// Returns the kernel's text after its signature. A Python text is returned whole, because its
// decorators are statements that BodyStatements skips.
string_view BodyText(const v1::Kernel& kernel) {
  string_view text = kernel.source();
  if (!dsl::IsC(kernel.dsl())) return text;
  const size_t signature = text.find(kernel.signature());
  if (signature == string_view::npos) return text;
  return text.substr(signature + kernel.signature().size());
}

// Returns the statements after the kernel's own "def".
std::vector<TokenSpan> BodyStatements(const CodeText& code) {
  std::vector<TokenSpan> statements = code.Statements(code.all());
  if (code.is_c()) return statements;
  const auto def = std::find_if(statements.begin(), statements.end(), [&](TokenSpan statement) {
    return code[statement.begin] == "def" || code[statement.begin] == "async";
  });
  if (def != statements.end()) statements.erase(statements.begin(), def + 1);
  return statements;
}

// Returns the traits that a helper's result has, if the helper makes these calls.
ValueTraits HelperTraits(const CallCounts& calls) {
  ValueTraits traits = 0;
  for (const auto& [name, count] : calls) {
    const uint32_t kinds = GetCallKinds(name);
    if ((kinds & (kDot | kLoad)) != 0) traits |= kLoaded | kIndex;
    if ((kinds & kReduce) != 0) traits |= kReduced;
    if ((kinds & kScan) != 0) traits |= kScanned;
    if ((kinds & kRandomCall) != 0) traits |= kRandom;
  }
  return traits;
}

// The helpers that a kernel reaches by calls within its module. Follow() walks the call graph with
// a list of pending names; each helper is read once, so that recursion ends.
class Reach {
 public:
  Reach(const CodeText& module, string_view kernel) : module_(module), kernel_(kernel) {}

  // Starts at the kernel's own calls, and adds those of all helpers to them.
  void Follow(CallCounts& calls) {
    const auto functions = module_.Functions();
    std::vector<string_view> pending;
    for (const auto& [name, count] : calls) pending.push_back(name);
    while (!pending.empty()) {
      const string_view name = pending.back();
      pending.pop_back();
      const auto function = functions.find(name);
      if (name == kernel_ || function == functions.end() || !seen_.insert(name).second) continue;
      CallCounts called;
      module_.CountCalls(function->second, called);
      helpers_[name] = HelperTraits(called);
      for (const auto& [callee, count] : called) {
        pending.push_back(callee);
        calls[callee] += count;
      }
    }
  }

  const absl::flat_hash_map<string_view, ValueTraits>& helpers() const { return helpers_; }

 private:
  const CodeText& module_;
  const string_view kernel_;
  absl::flat_hash_set<string_view> seen_;
  absl::flat_hash_map<string_view, ValueTraits> helpers_;
};

// Sorted, so that the first call that matches, and with it the reason, is always the same.
void AddCalls(const CallCounts& calls, KernelFacts& facts) {
  facts.only_places = true;
  for (const auto& [name, count] : calls) {
    const uint32_t kinds = GetCallKinds(name);
    facts.call_kinds |= kinds;
    if ((kinds & kDot) != 0) facts.dots += count;
    if ((kinds & (kStore | kCast | kPlace)) == 0) facts.only_places = false;
    facts.calls.emplace_back(name);
  }
  std::sort(facts.calls.begin(), facts.calls.end());
}

// Reads the facts: calls from the kernel's own code and, through Reach, from its helpers; loads and
// stores from the kernel's own code, in which a helper's call has the traits of the helper's calls.
KernelFacts ReadFacts(const v1::Kernel& kernel) {
  const code::Language language = dsl::GetSyntax(kernel.dsl());
  const CodeText code(BodyText(kernel), language);
  const CodeText module(kernel.module(), language);
  KernelFacts facts;
  facts.is_c = code.is_c();
  facts.incomplete = !facts.is_c && kernel.free_names_size() > 0;
  const std::vector<TokenSpan> body = BodyStatements(code);
  CallCounts calls;
  if (!body.empty()) code.CountCalls({body.front().begin, code.size()}, calls);
  Reach reach(module, kernel.name());
  reach.Follow(calls);
  AddCalls(calls, facts);
  for (size_t at = 0; at < code.size(); ++at) {
    facts.has_while |= code[at] == "while";
    facts.has_loop |= code[at] == "while" || code[at] == "for";
  }
  absl::flat_hash_set<string_view> parameters;
  for (const v1::Parameter& parameter : kernel.parameters()) parameters.insert(parameter.name());
  const ValueFlow flow(code, body, parameters, reach.helpers());
  facts.stores = flow.stores();
  facts.atomics = flow.atomics();
  facts.loads = flow.loads();
  facts.root_of_sum = flow.root_of_sum();
  return facts;
}

bool Has(TagRule::List list, string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// NamePhrases numbers a phrase by the index of its rule, plus kOwn if the phrase counts in the
// kernel's own name only. There are fewer rules than kOwn.
constexpr int kOwn = 1000;

// Made once and never freed, as are the tables of this folder.
const Phrases& NamePhrases() {
  static const auto& phrases = *[] {
    auto* all = new Phrases;
    const absl::Span<const TagRule> rules = TagRules();
    for (size_t i = 0; i < rules.size(); ++i) {
      for (const string_view phrase : rules[i].words) all->Add(phrase, static_cast<int>(i));
      for (const string_view phrase : rules[i].own_words) {
        all->Add(phrase, static_cast<int>(i) + kOwn);
      }
    }
    for (const string_view phrase : OtherPhrases()) all->Add(phrase);
    return all;
  }();
  return phrases;
}

const Phrases& ParameterPhrases() {
  static const auto& phrases = *[] {
    auto* all = new Phrases;
    const absl::Span<const TagRule> rules = TagRules();
    for (size_t i = 0; i < rules.size(); ++i) {
      for (const string_view phrase : rules[i].parameters) all->Add(phrase, static_cast<int>(i));
    }
    return all;
  }();
  return phrases;
}

// Splits a Python qualname at its points, without "<locals>". Returns one part at least.
std::vector<string_view> SplitQualname(string_view qualname) {
  std::vector<string_view> parts = absl::StrSplit(qualname, '.');
  std::erase(parts, "<locals>");
  if (parts.empty()) parts.emplace_back();
  return parts;
}

// Returns the last name of a qualified C++ name.
string_view WithoutNamespaces(string_view name) {
  const size_t colon = name.rfind("::");
  return colon == string_view::npos ? name : name.substr(colon + 2);
}

// Returns the name of the function that launches the kernel; in CUDA that of the first launch.
// Empty if it is not known.
string_view LauncherName(const v1::Kernel& kernel) {
  if (kernel.has_launcher()) return WithoutNamespaces(kernel.launcher().qualname());
  if (kernel.cuda().launches().empty()) return "";
  return WithoutNamespaces(kernel.cuda().launches(0).host_function());
}

string_view Stem(string_view path) {
  const string_view name = BaseName(path);
  return name.substr(0, name.find('.'));
}

// Returns the text up to the first punctuation that a blank follows; cut to a bound.
string_view FirstSentence(string_view text) {
  constexpr size_t kMaxSentence = 200;
  text = absl::StripLeadingAsciiWhitespace(text).substr(0, kMaxSentence);
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    const bool ends = text[at] == '.' || text[at] == ':' || text[at] == ';';
    if (ends && absl::ascii_isspace(static_cast<unsigned char>(text[at + 1]))) {
      return text.substr(0, at);
    }
  }
  return text;
}

// Tags one kernel, step by step; tags.h has the order. The first reason that a tag gets is kept.
class Tagger {
 public:
  explicit Tagger(const v1::Kernel& kernel)
      : kernel_(kernel), facts_(ReadFacts(kernel)), rules_(TagRules()), reasons_(rules_.size()) {}

  void Run() {
    AddFromNames();
    AddFromParameters();
    AddFromCalls();
    AddFromStructure();
    AddBroader();
    AddDirection();
  }

  // For each rule the reason of its tag; empty if the kernel does not get the tag.
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  size_t FindRule(string_view tag) const {
    const auto found =
        std::lower_bound(rules_.begin(), rules_.end(), tag,
                         [](const TagRule& rule, string_view name) { return rule.tag < name; });
    return static_cast<size_t>(found - rules_.begin());
  }
  bool Tagged(string_view tag) const { return !reasons_[FindRule(tag)].empty(); }
  bool AnyTag() const {
    return std::any_of(reasons_.begin(), reasons_.end(),
                       [](const std::string& reason) { return !reason.empty(); });
  }
  // Returns whether a tag says what the kernel does, and not only how.
  bool SubjectKnown() const {
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!reasons_[i].empty() && !rules_[i].generic) return true;
    }
    return false;
  }
  // The first reason is kept.
  void Give(string_view tag, string_view reason) {
    std::string& held = reasons_[FindRule(tag)];
    if (held.empty()) held = std::string(reason);
  }

  // Reads names in the order of their weight, and stops as soon as one tells the subject.
  void AddFromNames() {
    AddFromName("name", kernel_.name());
    // Many kernels read a key-value cache. A kernel that is named for it does nothing else.
    if (SubjectKnown() || Tagged("kv_cache")) return;
    for (const auto& [where, text] : OtherNames()) {
      AddFromName(where, text);
      if (SubjectKnown()) return;
    }
  }

  // Names of functions and classes around come from the innermost outwards. C++ has none:
  // namespaces are no evidence.
  std::vector<std::pair<string_view, std::string>> OtherNames() const {
    std::vector<std::pair<string_view, std::string>> names;
    if (!facts_.is_c) {
      std::vector<string_view> around = SplitQualname(kernel_.qualname());
      around.pop_back();
      std::string text;
      for (auto part = around.rbegin(); part != around.rend(); ++part) {
        absl::StrAppend(&text, *part, " ");
      }
      names.emplace_back("around", std::move(text));
    }
    std::string launcher;
    for (const string_view part : SplitQualname(LauncherName(kernel_))) {
      absl::StrAppend(&launcher, part, " ");
    }
    names.emplace_back("launcher", std::move(launcher));
    names.emplace_back("file", std::string(Stem(kernel_.path())));
    names.emplace_back("docstring", std::string(FirstSentence(kernel_.docstring())));
    const std::vector<string_view> path = absl::StrSplit(kernel_.path(), '/');
    // The two folders next to the file; the topmost one is not among them.
    for (size_t up = 2; up <= 3 && up < path.size(); ++up) {
      names.emplace_back("folder", std::string(path[path.size() - up]));
    }
    return names;
  }

  // Adds the tags of the phrases in one name. Generic tags are not taken from remote names, or next
  // to others.
  void AddFromName(string_view where, string_view text) {
    const bool own = where == "name";
    const bool known = AnyTag();
    const std::vector<std::string> words = NameWords(text);
    for (const Phrases::Found& found : NamePhrases().FindIn(words)) {
      for (const int number : *found.numbers) {
        if (number >= kOwn && !own) continue;
        const size_t place = static_cast<size_t>(number % kOwn);
        const TagRule& rule = rules_[place];
        // A remote name tells the subject at most, and not how the kernel works.
        if (rule.generic && !own && (known || where == "docstring" || where == "folder")) continue;
        if (!reasons_[place].empty() || !Holds(rule, words, own)) continue;
        reasons_[place] = absl::StrCat(where, ":", found.phrase);
      }
    }
  }

  // Returns whether the kernel's code allows the tag of a rule whose phrase was found in `words`.
  bool Holds(const TagRule& rule, const std::vector<std::string>& words, bool own) const {
    const bool other = std::any_of(words.begin(), words.end(),
                                   [&](const std::string& word) { return Has(rule.unless, word); });
    if (other && facts_.dots == 0) return false;
    const KernelFacts& facts = facts_;
    if (rule.needs == Needs::kScores) {
      if (facts.is_c ? own : facts.incomplete) return true;
      return facts.Calls(kDot | kReduce | kExp);
    }
    if (facts.is_c) return true;
    if (rule.needs == Needs::kNoProduct) return facts.dots == 0;
    // A name that is not in the module may do what the rule needs.
    if (facts.incomplete) return true;
    switch (rule.needs) {
      case Needs::kProduct:
        return facts.Calls(kDot | kSum) || AnyValue(kAccumulated);
      case Needs::kReduction:
        return facts.Calls(kReduce) || !facts.atomics.empty() || AnyValue(kAccumulated);
      case Needs::kSelection:
        return facts.Calls(kSelect);
      case Needs::kConstant:
        return facts.stores.empty() ||
               AnyStore([](ValueFlow::Store store) { return (store.value & kLoaded) == 0; });
      default:
        return true;
    }
  }

  // Adds the tags of phrases in parameters' names, whatever tags there are already.
  void AddFromParameters() {
    for (const v1::Parameter& parameter : kernel_.parameters()) {
      for (const Phrases::Found& found : ParameterPhrases().FindIn(NameWords(parameter.name()))) {
        for (const int number : *found.numbers) {
          const string_view tag = rules_[static_cast<size_t>(number)].tag;
          // Kernels that only scale by the dropout's probability take it as well.
          if (tag == "dropout" && !facts_.Calls(kRandomCall)) continue;
          Give(tag, absl::StrCat("parameter:", found.phrase));
        }
      }
    }
  }

  // Calls that only one operation makes always count. Weak calls count only if no name or parameter
  // gave a tag.
  void AddFromCalls() {
    const bool known = AnyTag();
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!reasons_[i].empty()) continue;
      const TagRule& rule = rules_[i];
      // A scan that only computes addresses is no part of the operation. `sort` is the name of many
      // methods of C++ classes.
      if (rule.tag == "scan" && known && !AnyValue(kScanned)) continue;
      if (rule.tag == "sort" && facts_.is_c) continue;
      AddFromCalls(rule.calls, reasons_[i]);
      if (!known) AddFromCalls(rule.weak_calls, reasons_[i]);
    }
  }

  void AddFromCalls(TagRule::List patterns, std::string& reason) const {
    for (string_view pattern : patterns) {
      const bool prefix = absl::ConsumeSuffix(&pattern, "*");
      for (const std::string& call : facts_.calls) {
        if (!reason.empty()) return;
        if (call == pattern || (prefix && absl::StartsWith(call, pattern))) {
          reason = absl::StrCat("call:", call);
        }
      }
    }
  }

  template <typename Predicate>
  bool AnyStore(Predicate predicate) const {
    return std::any_of(facts_.stores.begin(), facts_.stores.end(), predicate);
  }
  bool AnyValue(ValueTraits traits) const {
    return AnyStore([&](ValueFlow::Store store) { return (store.value & traits) != 0; });
  }
  bool AnyAddress(ValueTraits traits) const {
    return AnyStore([&](ValueFlow::Store store) { return (store.address & traits) != 0; });
  }

  // Adds tags by the combination of calls and by the values that are stored.
  void AddFromStructure() {
    if (facts_.dots > 0) return AddProduct();
    const bool subject = SubjectKnown();
    if (!subject && !facts_.is_c && facts_.Calls(kExp) && facts_.Calls(kMax) &&
        facts_.Calls(kSum)) {
      return Give("softmax", "structure:exp+max+sum");
    }
    if (!subject && facts_.root_of_sum && !Tagged("reduction")) {
      return Give("norm", "structure:root_of_sum");
    }
    if (!AnyTag()) AddDataMovement();
    AddElementwise();
  }

  // Tags a kernel with a dot as a matmul, unless it has the tag of an operation made of dots.
  void AddProduct() {
    static constexpr string_view kMadeOfDots[] = {
        "attention",  "batched_gemm",   "convolution",      "fft",    "grouped_gemm", "hadamard",
        "kv_cache",   "linear_algebra", "linear_attention", "matmul", "rope",         "scan",
        "state_space"};
    // One of these explains the dot.
    for (const string_view tag : kMadeOfDots) {
      if (Tagged(tag)) return;
    }
    // softmax(q k) v is two dots with a stable softmax between them.
    const bool scores = facts_.dots >= 2 && facts_.Calls(kExp) && facts_.Calls(kMax);
    if (scores && !SubjectKnown()) return Give("attention", "structure:dot+exp+max+dot");
    Give("matmul", "structure:dot");
  }

  // Tags a kernel that has no tag by the values that flow into its stores and addresses.
  void AddDataMovement() {
    if (kernel_.dsl() == dsl::kPallas && facts_.Calls(kCopyCall) && !AnyValue(kComputed)) {
      return Give("copy", "structure:copies");
    }
    if (AnyValue(kReduced)) return Give("reduction", "structure:stores_reduced");
    if (AnyValue(kScanned)) return Give("scan", "structure:stores_scanned");
    if (!facts_.atomics.empty()) {
      // An atomic update at a place that was loaded.
      const bool scatters =
          std::any_of(facts_.atomics.begin(), facts_.atomics.end(),
                      [](ValueFlow::Store store) { return (store.address & kIndex) != 0; });
      if (scatters) Give("scatter", "structure:atomic_at_loaded");
      return;
    }
    if (facts_.has_while || facts_.stores.empty() || AnyValue(kComputed)) return;
    if (!AnyValue(kIndex)) {
      if (!AnyValue(kLoaded) && !facts_.is_c && !facts_.incomplete && !facts_.loads &&
          facts_.only_places) {
        Give("fill", "structure:stores_constant");
      }
    } else if (AnyValue(kGathered)) {
      Give("gather", "structure:loads_at_loaded");
    } else if (AnyAddress(kIndex)) {
      Give("scatter", "structure:stores_at_loaded");
    } else {
      Give("copy", "structure:stores_loaded");
    }
  }

  // Adds "elementwise" to a kernel without tags. Activations and jagged layouts do not count,
  // because a kernel can be elementwise as well as those.
  void AddElementwise() {
    for (size_t i = 0; i < rules_.size(); ++i) {
      const string_view tag = rules_[i].tag;
      if (!reasons_[i].empty() && tag != "activation" && tag != "jagged") return;
    }
    if (!facts_.atomics.empty() || facts_.has_while || facts_.Calls(kCrossLane)) return;
    if (facts_.has_loop && AnyValue(kAccumulated)) return;
    if (AnyValue(kReduced | kScanned | kGathered) || AnyAddress(kIndex)) return;
    const bool computes = AnyStore([](ValueFlow::Store store) {
      return (store.value & kComputed) != 0 && (store.value & kIndex) != 0;
    });
    if (computes) Give("elementwise", "structure:stores_computed");
  }

  // A tag with a broader one gives it its own reason.
  void AddBroader() {
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!rules_[i].also.empty() && !reasons_[i].empty()) Give(rules_[i].also, reasons_[i]);
    }
  }

  // The first of the names with a word for a direction decides.
  void AddDirection() {
    const std::vector<string_view> launcher = SplitQualname(LauncherName(kernel_));
    const std::pair<string_view, string_view> names[] = {
        {"name", kernel_.name()}, {"launcher", launcher.back()}, {"file", Stem(kernel_.path())}};
    for (const auto& [where, text] : names) {
      const std::vector<std::string> words = NameWords(text);
      for (const std::string& word : words) {
        if (Has(BackwardWords(), word)) return Give("backward", absl::StrCat(where, ":", word));
      }
      for (const std::string& word : words) {
        // A name that says forward ends the search: the names behind it do not make the kernel
        // backward.
        if (Has(ForwardWords(), word)) return;
      }
    }
  }

  const v1::Kernel& kernel_;
  const KernelFacts facts_;
  const absl::Span<const TagRule> rules_;
  std::vector<std::string> reasons_;
};

}  // namespace

// Tags come in the order of the table.
void AddTags(v1::Kernel& kernel) {
  Tagger tagger(kernel);
  tagger.Run();
  kernel.clear_tags();
  const absl::Span<const TagRule> rules = TagRules();
  for (size_t i = 0; i < rules.size(); ++i) {
    if (tagger.reasons()[i].empty()) continue;
    v1::Tag& tag = *kernel.add_tags();
    tag.set_name(std::string(rules[i].tag));
    tag.set_rule(tagger.reasons()[i]);
  }
}

}  // namespace kernelmill::extractor
