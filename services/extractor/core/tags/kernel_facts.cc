#include "services/extractor/core/tags/kernel_facts.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/code/lexer.h"
#include "services/extractor/core/tags/call_kinds.h"
#include "services/extractor/core/tags/code_text.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;

// The kernel's text from its signature's end; of Python from its decorators, which are statements.
string_view BodyOf(const v1::Kernel& kernel) {
  string_view text = kernel.source();
  if (kernel.dsl() != v1::DSL_CUDA) return text;
  const size_t signature = text.find(kernel.signature());
  if (signature == string_view::npos) return text;
  return text.substr(signature + kernel.signature().size());
}

// Those after its own "def".
std::vector<TokenSpan> BodyStatements(const CodeText& code) {
  std::vector<TokenSpan> statements = code.Statements(code.all());
  if (code.is_c()) return statements;
  const auto def = std::find_if(statements.begin(), statements.end(), [&](TokenSpan statement) {
    return code[statement.begin] == "def" || code[statement.begin] == "async";
  });
  if (def != statements.end()) statements.erase(statements.begin(), def + 1);
  return statements;
}

// What a call of a function brings that itself makes these calls.
ValueTraits TraitsOfHelper(const CallCounts& calls) {
  ValueTraits traits = 0;
  for (const auto& [name, count] : calls) {
    const uint32_t kinds = CallKindsOf(name);
    if ((kinds & (kDot | kLoad)) != 0) traits |= kLoaded | kIndex;
    if ((kinds & kReduce) != 0) traits |= kReduced;
    if ((kinds & kScan) != 0) traits |= kScanned;
    if ((kinds & kRandomCall) != 0) traits |= kRandom;
  }
  return traits;
}

// Follows calls from the kernel into the functions of its module.
class Reach {
 public:
  Reach(const CodeText& module, string_view kernel) : module_(module), kernel_(kernel) {}

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
      helpers_[name] = TraitsOfHelper(called);
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

void AddCalls(const CallCounts& calls, KernelFacts& facts) {
  facts.only_places = true;
  for (const auto& [name, count] : calls) {
    const uint32_t kinds = CallKindsOf(name);
    facts.call_kinds |= kinds;
    if ((kinds & kDot) != 0) facts.dots += count;
    if ((kinds & (kStore | kCast | kPlace)) == 0) facts.only_places = false;
    facts.calls.emplace_back(name);
  }
  std::sort(facts.calls.begin(), facts.calls.end());
}

}  // namespace

KernelFacts FactsOf(const v1::Kernel& kernel) {
  const code::Language language = code::ToLanguage(kernel.dsl());
  const CodeText code(BodyOf(kernel), language);
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

}  // namespace kernelmill::extractor
