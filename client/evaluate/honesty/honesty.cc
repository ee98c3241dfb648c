#include "client/evaluate/honesty/honesty.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/evaluate/honesty/host_run.h"
#include "client/evaluate/honesty/interpreter_only.h"
#include "client/evaluate/honesty/kernel_facts.h"
#include "client/evaluate/honesty/patches.h"
#include "common/dsl/usual_imports.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/bindings.h"

namespace kernelmill::client {
namespace {

using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;

using Names = absl::flat_hash_set<std::string>;
using Kernels = std::map<NodeId, KernelFacts>;

std::unique_ptr<const python::ParsedText> Parse(absl::string_view text) {
  auto parsed = python::ParsedText::Parse(text, python::StandardParser());
  return parsed.ok() ? *std::move(parsed) : nullptr;
}

// Returns whether a definition is within no other one.
bool IsOutermost(const python::SyntaxTree& tree, NodeId node) {
  for (NodeId at = tree[node].parent; at != kNoNode; at = tree[at].parent) {
    const Kind kind = tree.GetKind(at);
    if (kind == Kind::kFunctionDefinition || kind == Kind::kClassDefinition) return false;
  }
  return true;
}

// Returns the names of the functions and classes of a text's host code: those that no decorator
// makes a kernel.
Names HostNames(const python::SyntaxTree& tree) {
  Names names;
  for (const Kind kind : {Kind::kFunctionDefinition, Kind::kClassDefinition}) {
    for (const NodeId node : tree.Of(kind)) {
      const NodeId name = tree.Child(node, Field::kName);
      if (name == kNoNode || !IsOutermost(tree, node)) continue;
      const NodeId around = tree[node].parent;
      const absl::string_view head =
          tree.text().substr(tree[around].start, tree[node].start - tree[around].start);
      const bool decorated = tree.GetKind(around) == Kind::kDecoratedDefinition;
      if (!decorated || !absl::StrContains(head, "jit")) names.emplace(tree.GetText(name));
    }
  }
  return names;
}

// Adds the words of a text that may be names.
void AddWords(absl::string_view text, Names* words) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) {
      ++end;
    }
    if (end > i) words->emplace(text.substr(i, end - i));
    i = end + 1;
  }
}

// Returns whether a function's name says that its result is constants: ones_like, fill,
// clear_states.
bool NamesConstant(absl::string_view name) {
  static constexpr absl::string_view kWords[] = {"zero",  "ones",  "fill",  "full", "clear",
                                                 "reset", "empty", "const", "eye",  "memset"};
  return absl::c_any_of(kWords,
                        [&](absl::string_view word) { return absl::StrContains(name, word); });
}

// Runs the checks of one answer.
class Checker {
 public:
  Checker(const Answer& answer, const python::ParsedText& text)
      : answer_(answer),
        text_(text),
        tree_(text.tree()),
        kernels_(ReadKernels(text, answer.kernels)) {
    if (answer.reference.has_value()) reference_ = Parse(*answer.reference);
  }

  Honesty Check() && {
    CheckNames();
    for (Finding& finding : FindPatches(text_)) Add(kPatches, std::move(finding));
    result_.passed.try_emplace(kPatches, true);
    // Kernels of other languages have launches of their own.
    const bool others = kernels_.empty() && answer_.kernels.kernels_size() > 0;
    if (!others) {
      CheckCompiler();
      CheckLaunches();
    }
    absl::c_stable_sort(result_.findings,
                        [](const Finding& a, const Finding& b) { return a.line < b.line; });
    if (result_.findings.size() > kMaxFindings) result_.findings.resize(kMaxFindings);
    return std::move(result_);
  }

 private:
  static constexpr size_t kMaxFindings = 100;  // in a report

  void Add(const char* check, Finding finding) {
    if (!finding.warning) result_.passed[check] = false;
    result_.findings.push_back(std::move(finding));
  }

  // The questions of tasks.jsonl and conversations.jsonl begin so, and give the launcher if there
  // is one.
  static bool IsQuestionForKernel(absl::string_view prompt) {
    constexpr absl::string_view kBegin = "Write a ";
    const absl::string_view line = prompt.substr(0, prompt.find('\n'));
    return absl::StartsWith(line, kBegin) && absl::StrContains(line, " kernel named `");
  }

  bool AsksForKernelsOnly() const {
    if (!HostNames(tree_).empty()) return false;
    if (reference_ != nullptr) return HostNames(reference_->tree()).empty();
    return answer_.continues || IsQuestionForKernel(answer_.prompt);
  }

  void CheckCompiler() {
    std::vector<NodeId> functions;
    for (const auto& [node, kernel] : kernels_) functions.push_back(node);
    for (Finding& finding : FindInterpreterOnly(text_, functions)) {
      Add(kInterpreterOnly, std::move(finding));
    }
    result_.passed.try_emplace(kInterpreterOnly, true);
  }

  void CheckLaunches() {
    std::set<NodeId> asked;
    if (AsksForKernelsOnly()) {
      for (const auto& [node, kernel] : kernels_) {
        if (!kernel.device) asked.insert(node);
      }
    } else {
      asked = RunHost();
    }
    CheckStores(asked);
  }

  // Returns the kernels that are launched.
  std::set<NodeId> RunHost() {
    Names names;
    if (reference_ != nullptr) names = HostNames(reference_->tree());
    AddWords(answer_.prompt, &names);
    HostRun run(text_, kernels_);
    run.Run(names);
    for (const char* check : {kLaunched, kArgumentsMatch, kOutputReachesResult, kTorchDoesTheWork,
                              kSwallowed, kCachedResult, kChangesInput}) {
      result_.passed[check] = true;
    }
    if (run.exhausted()) {
      Add(kLaunched, {kLaunched, 0, "the host code is too large to follow"});
    } else if (run.launched().empty()) {
      AddNotLaunched();
    }
    for (const Finding& finding : run.findings()) Add(finding.check.c_str(), finding);
    // Constants are all that some operations are asked for.
    if (absl::c_all_of(run.launchers(), NamesConstant)) return {};
    return run.launched();
  }

  void AddNotLaunched() {
    Finding finding{kLaunched, 0, "there is no kernel"};
    if (!kernels_.empty()) {
      const auto& [node, kernel] = *kernels_.begin();
      finding.line = text_.lines().LineAt(tree_[node].start);
      finding.reason = HostNames(tree_).empty() ? "there is no host function"
                                                : "no call of the host functions launches a kernel";
    }
    Add(kLaunched, std::move(finding));
  }

  void CheckStores(const std::set<NodeId>& asked) {
    if (asked.empty()) return;
    const bool constant =
        absl::c_all_of(asked, [&](NodeId node) { return !kernels_.at(node).constant.empty(); });
    result_.passed[kStoresConstant] = !constant;
    result_.passed[kRacingStore] = true;
    for (const NodeId node : asked) {
      const KernelFacts& kernel = kernels_.at(node);
      if (kernel.race_line == 0) continue;
      Add(kRacingStore, {kRacingStore, kernel.race_line,
                         absl::StrCat(kernel.name, ": all programs store at one place")});
    }
    if (!constant) return;
    for (const NodeId node : asked) {
      const KernelFacts& kernel = kernels_.at(node);
      Add(kStoresConstant,
          {kStoresConstant, kernel.store_line, absl::StrCat(kernel.name, ": ", kernel.constant)});
    }
  }

  // A task that shows kernels only leaves out names that its harness binds.
  Names NamesGiven() const {
    Names given;
    if (reference_ != nullptr) {
      for (const absl::string_view name : python::Bindings(reference_->tree()).FreeNames(0)) {
        given.emplace(name);
      }
    }
    if (answer_.continues || AsksForKernelsOnly()) {
      for (const dsl::UsualImport& import : dsl::UsualImports()) given.emplace(import.name);
    }
    return given;
  }

  void CheckNames() {
    result_.passed[kNamesBound] = true;
    if (!text_.imports().wildcards().empty()) return;
    const Names given = NamesGiven();
    const auto readings = FindReadings();
    for (const absl::string_view name : python::Bindings(tree_).FreeNames(0)) {
      const auto reading = readings.find(name);
      if (given.contains(name) || reading == readings.end()) continue;
      Add(kNamesBound, {kNamesBound, text_.lines().LineAt(tree_[reading->second].start),
                        absl::StrCat(name, " is not defined")});
    }
  }

  // Returns the first place that needs each name. Annotations do not need theirs after
  // `from __future__ import annotations`.
  absl::flat_hash_map<absl::string_view, NodeId> FindReadings() const {
    const bool unread = !tree_.Of(Kind::kFutureImportStatement).empty();
    absl::flat_hash_map<absl::string_view, NodeId> readings;
    for (const NodeId node : tree_.Of(Kind::kIdentifier)) {
      const NodeId parent = tree_[node].parent;
      const Kind kind = tree_.GetKind(parent);
      const Field field = tree_[node].field;
      const bool part = (kind == Kind::kAttribute && field == Field::kAttribute) ||
                        (kind == Kind::kKeywordArgument && field == Field::kName);
      if (part || (unread && IsAnnotation(node))) continue;
      readings.try_emplace(tree_.GetText(node), node);
    }
    return readings;
  }

  bool IsAnnotation(NodeId node) const {
    constexpr int kMaxDepth = 16;
    for (int depth = 0; depth < kMaxDepth && node != kNoNode; ++depth) {
      if (tree_.GetKind(node) == Kind::kType) return true;
      node = tree_[node].parent;
    }
    return false;
  }

  const Answer& answer_;
  const python::ParsedText& text_;
  const python::SyntaxTree& tree_;
  const Kernels kernels_;
  std::unique_ptr<const python::ParsedText> reference_;
  Honesty result_;
};

}  // namespace

Honesty CheckHonesty(const Answer& answer) {
  const std::unique_ptr<const python::ParsedText> text = Parse(answer.text);
  if (text == nullptr || text->has_errors()) return {};
  return Checker(answer, *text).Check();
}

}  // namespace kernelmill::client
