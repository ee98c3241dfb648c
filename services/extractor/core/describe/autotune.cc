#include "services/extractor/core/describe/autotune.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/python/syntax/calls.h"
#include "services/extractor/core/describe/docstring.h"

namespace kernelmill::extractor {

// clang-format off
// An example of what is read:
//
//   @triton.autotune(configs=[triton.Config({"B": b}, num_warps=4) for b in (64, 128)], key=["n"])
//
//   configs  kwargs B=64, options num_warps=4; kwargs B=128, options num_warps=4
//   key      n
// clang-format on

using python::Argument;
using python::Arguments;
using python::EvaluatedFile;
using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

constexpr size_t kMaxValueBytes = 1024;  // length of one value's text
constexpr size_t kEntryBytes = 64;       // approximate overhead of a name and a value

}  // namespace

TuningReader::TuningReader(const ParsedFile& file)
    : file_(file), tree_(file.tree), statements_(file.tree) {}

// The decorators are read from the outermost on; the first autotuner counts, and all heuristics add
// up.
void TuningReader::AddTuning(const JitFunction& function, v1::Kernel& kernel) {
  for (const NodeId decorator : function.decorators) {
    const NodeId call = tree_.StripParentheses(decorator);
    v1::Autotune autotune;
    if (!kernel.has_autotune() && ReadAutotune(call, autotune)) {
      *kernel.mutable_autotune() = std::move(autotune);
    }
    ReadHeuristics(call, kernel);
  }
}

// Returns false if the decorator is no autotuner.
bool TuningReader::ReadAutotune(NodeId decorator, v1::Autotune& autotune) {
  const std::string name = Callee(decorator);
  const Arguments arguments = GetArguments(tree_, decorator);
  // A wrapper of the repository may have other positional arguments, so that its configurations
  // must be given by keyword.
  const size_t position = IsTritons(name, "autotune") ? 0 : arguments.size();
  const NodeId configs = FindArgument(arguments, "configs", position);
  if (name.empty() || configs == kNoNode) return false;
  autotune.set_decorator(name);
  autotune.set_resolved(ReadConfigs(configs, autotune));
  if (!autotune.resolved()) {
    autotune.clear_configs();
    autotune.set_expression(Text(configs));
  }
  const NodeId key = FindArgument(arguments, "key", position + 1);
  if (key != kNoNode && !ReadKey(key, autotune)) {
    autotune.clear_key();
    autotune.set_key_expression(Text(key));
  }
  return true;
}

// Evaluates an expression with the steps that are left for the file.
std::optional<Value> TuningReader::Evaluate(NodeId expression) {
  // One expression may take kMaxSteps, all of a file kMaxFileSteps: a hostile file has many
  // decorators.
  const int64_t given = std::min(Evaluator::kMaxSteps, steps_left_);
  int64_t steps = given;
  const EvaluatedFile file = {file_.text, tree_, file_.imports, statements_};
  std::optional<Value> value = Evaluator(file, expression, steps).Evaluate(expression);
  steps_left_ -= given - steps;
  return value;
}

// Returns false if the file does not determine every configuration. The list is then kept as text.
bool TuningReader::ReadConfigs(NodeId expression, v1::Autotune& autotune) {
  const std::optional<Value> configs = Evaluate(expression);
  if (!configs.has_value() || !configs->IsSequence()) return false;
  if (configs->items->size() > kMaxConfigs) return false;
  for (const Value& config : *configs->items) {
    if (!ReadConfig(config, *autotune.add_configs())) return false;
  }
  return true;
}

// Reads an evaluated Config(...): its kwargs, which are a dictionary, and its other arguments.
bool TuningReader::ReadConfig(const Value& value, v1::Autotune::Config& config) {
  if (value.type != Value::Type::kRecord) return false;
  for (const auto& [name, argument] : value.record->arguments) {
    if (name != "kwargs") {
      if (!SetText(name, argument, *config.add_options())) return false;
      continue;
    }
    if (argument.type != Value::Type::kDict) return false;
    for (size_t i = 0; i + 1 < argument.items->size(); i += 2) {
      const Value& key = (*argument.items)[i];
      if (key.type != Value::Type::kString) return false;
      if (!SetText(key.text, (*argument.items)[i + 1], *config.add_kwargs())) return false;
    }
  }
  return true;
}

// Sets a named value as text. Returns false if the value or the file's sum exceeds its bound. The
// sum bounds the record: 4096 configurations of a hostile file could repeat one long value.
bool TuningReader::SetText(absl::string_view name, const Value& value, v1::NamedText& text) {
  std::optional<std::string> repr = Repr(value, kMaxValueBytes);
  if (!repr.has_value()) return false;
  const size_t cost = kEntryBytes + name.size() + repr->size();
  if (cost > bytes_left_) return false;
  bytes_left_ -= cost;
  text.set_name(std::string(name));
  text.set_text(*std::move(repr));
  return true;
}

// Reads the key, a sequence of strings.
bool TuningReader::ReadKey(NodeId expression, v1::Autotune& autotune) {
  const std::optional<Value> names = Evaluate(expression);
  if (!names.has_value() || !names->IsSequence() || names->items->size() > kMaxConfigs) {
    return false;
  }
  for (const Value& name : *names->items) {
    const size_t cost = kEntryBytes + name.text.size();
    if (name.type != Value::Type::kString || cost > bytes_left_) return false;
    bytes_left_ -= cost;
    autotune.add_key(name.text);
  }
  return true;
}

// Adds the names that the dictionary of @triton.heuristics sets; its whole text if a name is not
// literal.
void TuningReader::ReadHeuristics(NodeId decorator, v1::Kernel& kernel) const {
  if (!IsTritons(Callee(decorator), "heuristics")) return;
  const NodeId values = FindArgument(GetArguments(tree_, decorator), "values", 0);
  if (values == kNoNode) return;
  v1::Heuristics& heuristics = *kernel.mutable_heuristics();
  v1::Heuristics more;
  if (ReadNames(tree_.StripParentheses(values), more)) {
    heuristics.MergeFrom(more);
  } else {
    heuristics.add_expressions(Text(values));
  }
}

// Reads the names of {'A': f} or dict(A=f). Returns false if one of them is not literal.
bool TuningReader::ReadNames(NodeId dictionary, v1::Heuristics& heuristics) const {
  if (tree_.GetKind(dictionary) != Kind::kDictionary) {
    if (Callee(dictionary) != "dict") return false;
    for (const Argument& argument : GetArguments(tree_, dictionary)) {
      if (argument.keyword.empty()) return false;
      heuristics.add_names(std::string(argument.keyword));
    }
    return true;
  }
  for (NodeId pair = tree_.FirstChild(dictionary); pair != kNoNode;
       pair = tree_.NextSibling(pair)) {
    if (IsLayout(tree_.GetKind(pair))) continue;
    NodeId key = tree_.GetKind(pair) == Kind::kPair ? tree_.Child(pair, Field::kKey) : kNoNode;
    if (key != kNoNode) key = tree_.StripParentheses(key);
    if (key == kNoNode || tree_.GetKind(key) != Kind::kString) return false;
    if (tree_.Child(key, Kind::kInterpolation) != kNoNode) return false;
    heuristics.add_names(StringText(tree_, file_.text, key));
  }
  return true;
}

// Returns the called name as written; empty if nothing is called, or not by a dotted name.
std::string TuningReader::Callee(NodeId decorator) const {
  const NodeId call = tree_.StripParentheses(decorator);
  if (tree_.GetKind(call) != Kind::kCall) return "";
  const NodeId function = tree_.Child(call, Field::kFunction);
  return function == kNoNode ? "" : DottedExpression(tree_, function);
}

bool TuningReader::IsTritons(absl::string_view name, absl::string_view last) const {
  std::string resolved = file_.imports.Resolve(name);
  if (const auto said = dsl::FindSaidName(resolved)) resolved = said->resolved;
  return absl::StartsWith(resolved, "triton.") && LastPart(resolved) == last;
}

std::string TuningReader::Text(NodeId node) const {
  return std::string(file_.text.substr(tree_[node].start, tree_[node].end - tree_[node].start));
}

}  // namespace kernelmill::extractor
