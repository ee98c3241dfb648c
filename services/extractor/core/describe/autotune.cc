#include "services/extractor/core/describe/autotune.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "common/base/text.h"
#include "services/extractor/core/describe/docstring.h"
#include "services/extractor/core/syntax/calls.h"

namespace kernelmill::extractor {
namespace {

using NamedTexts = std::vector<v1::NamedText>;

// What Config's first parameters are called, in every version of Triton.
constexpr absl::string_view kConfigParameters[] = {"kwargs", "num_warps", "num_stages"};

class TuningReader {
 public:
  explicit TuningReader(const ParsedFile& file) : file_(file), tree_(file.tree) {}

  // Whether it is one.
  bool ReadAutotune(NodeId decorator, v1::Autotune& autotune) const {
    const std::string name = Callee(decorator);
    const Arguments arguments = ArgumentsOf(tree_, decorator);
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

  void ReadHeuristics(NodeId decorator, v1::Kernel& kernel) const {
    const std::string name = Callee(decorator);
    if (!IsTritons(name, "heuristics")) return;
    const NodeId values = FindArgument(ArgumentsOf(tree_, decorator), "values", 0);
    if (values == kNoNode) return;
    v1::Heuristics& heuristics = *kernel.mutable_heuristics();
    const std::optional<NamedTexts> entries = ReadDictionary(values);
    if (!entries.has_value()) {
      heuristics.add_expressions(Text(values));
      return;
    }
    for (const v1::NamedText& entry : *entries) heuristics.add_names(entry.name());
  }

 private:
  // The called name as written; empty if that is no dotted name or nothing is called.
  std::string Callee(NodeId decorator) const {
    const NodeId call = tree_.StripParentheses(decorator);
    if (tree_.KindOf(call) != Kind::kCall) return "";
    const NodeId function = tree_.Child(call, Field::kFunction);
    return function == kNoNode ? "" : DottedExpression(tree_, function);
  }

  bool IsTritons(absl::string_view name, absl::string_view last) const {
    const std::string resolved = file_.imports.Resolve(name);
    return absl::StartsWith(resolved, "triton.") && LastPart(resolved) == last;
  }

  std::string Text(NodeId node) const {
    return std::string(file_.text.substr(tree_[node].start, tree_[node].end - tree_[node].start));
  }

  std::optional<std::string> StringContent(NodeId node) const {
    node = tree_.StripParentheses(node);
    if (tree_.KindOf(node) != Kind::kString) return std::nullopt;
    if (tree_.Child(node, Kind::kInterpolation) != kNoNode) return std::nullopt;
    return DocstringText(tree_, file_.text, node);
  }

  static v1::NamedText Named(absl::string_view name, std::string text) {
    v1::NamedText named;
    named.set_name(std::string(name));
    named.set_text(std::move(text));
    return named;
  }

  // {'A': 1} or dict(A=1); nothing where a name in it is not literal.
  std::optional<NamedTexts> ReadDictionary(NodeId node) const {
    node = tree_.StripParentheses(node);
    if (tree_.KindOf(node) == Kind::kDictionary) return ReadPairs(node);
    if (Callee(node) != "dict") return std::nullopt;
    NamedTexts entries;
    for (const Argument& argument : ArgumentsOf(tree_, node)) {
      if (argument.keyword.empty()) return std::nullopt;
      entries.push_back(Named(argument.keyword, Text(argument.value)));
    }
    return entries;
  }

  std::optional<NamedTexts> ReadPairs(NodeId dictionary) const {
    NamedTexts entries;
    for (NodeId pair = tree_.FirstChild(dictionary); pair != kNoNode;
         pair = tree_.NextSibling(pair)) {
      if (IsLayout(tree_.KindOf(pair))) continue;
      if (tree_.KindOf(pair) != Kind::kPair) return std::nullopt;
      const NodeId key = tree_.Child(pair, Field::kKey);
      const NodeId value = tree_.Child(pair, Field::kValue);
      if (key == kNoNode || value == kNoNode) return std::nullopt;
      const std::optional<std::string> name = StringContent(key);
      if (!name.has_value()) return std::nullopt;
      entries.push_back(Named(*name, Text(value)));
    }
    return entries;
  }

  // The elements of a list or tuple; nothing for any other expression.
  std::optional<std::vector<NodeId>> Elements(NodeId node) const {
    node = tree_.StripParentheses(node);
    if (tree_.KindOf(node) != Kind::kList && tree_.KindOf(node) != Kind::kTuple) {
      return std::nullopt;
    }
    std::vector<NodeId> elements;
    for (NodeId child = tree_.FirstChild(node); child != kNoNode;
         child = tree_.NextSibling(child)) {
      if (!IsLayout(tree_.KindOf(child))) elements.push_back(child);
    }
    return elements;
  }

  bool ReadConfigs(NodeId node, v1::Autotune& autotune) const {
    const std::optional<std::vector<NodeId>> elements = Elements(node);
    if (!elements.has_value()) return false;
    for (const NodeId element : *elements) {
      if (!ReadConfig(element, *autotune.add_configs())) return false;
    }
    return true;
  }

  bool ReadConfig(NodeId element, v1::Autotune::Config& config) const {
    const NodeId call = tree_.StripParentheses(element);
    if (LastPart(Callee(call)) != "Config") return false;
    size_t position = 0;
    for (const Argument& argument : ArgumentsOf(tree_, call)) {
      absl::string_view name = argument.keyword;
      if (name.empty()) {
        const bool is_splat = absl::StartsWith(tree_.TextOf(argument.value), "*");
        if (is_splat || position == std::size(kConfigParameters)) return false;
        name = kConfigParameters[position++];
      }
      if (!AddToConfig(name, argument.value, config)) return false;
    }
    return true;
  }

  bool AddToConfig(absl::string_view name, NodeId value, v1::Autotune::Config& config) const {
    if (name != "kwargs") {
      *config.add_options() = Named(name, Text(value));
      return true;
    }
    std::optional<NamedTexts> entries = ReadDictionary(value);
    if (!entries.has_value()) return false;
    for (v1::NamedText& entry : *entries) *config.add_kwargs() = std::move(entry);
    return true;
  }

  bool ReadKey(NodeId node, v1::Autotune& autotune) const {
    const std::optional<std::vector<NodeId>> elements = Elements(node);
    if (!elements.has_value()) return false;
    for (const NodeId element : *elements) {
      std::optional<std::string> name = StringContent(element);
      if (!name.has_value()) return false;
      autotune.add_key(*std::move(name));
    }
    return true;
  }

  const ParsedFile& file_;
  const SyntaxTree& tree_;
};

}  // namespace

void AddTuning(const ParsedFile& file, const JitFunction& function, v1::Kernel& kernel) {
  const TuningReader reader(file);
  for (const NodeId decorator : function.decorators) {
    const NodeId call = file.tree.StripParentheses(decorator);
    v1::Autotune autotune;
    if (!kernel.has_autotune() && reader.ReadAutotune(call, autotune)) {
      *kernel.mutable_autotune() = std::move(autotune);
    }
    reader.ReadHeuristics(call, kernel);
  }
}

}  // namespace kernelmill::extractor
