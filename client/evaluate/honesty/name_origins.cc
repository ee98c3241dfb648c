#include "client/evaluate/honesty/name_origins.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/calls.h"

namespace kernelmill::client {

using python::Kind;
using python::NodeId;

std::string NameOrigins::Resolve(NodeId node, int depth) const {
  const python::SyntaxTree& tree = text_.tree();
  const std::string dotted = python::DottedExpression(tree, node);
  if (dotted.empty() || depth > 4) return "";
  std::string origin = text_.imports().Origin(dotted);
  if (!origin.empty()) return origin;
  const absl::string_view first = absl::string_view(dotted).substr(0, dotted.find('.'));
  const std::string rest = dotted.substr(first.size());
  const auto values = names_.GetValues(first, node);
  if (values.size() == 1) {
    const NodeId value = tree.StripParentheses(values[0]);
    if (tree.GetKind(value) == Kind::kCall) {
      const python::Call& call = text_.calls().At(value);
      const python::Arguments arguments = python::GetArguments(tree, value);
      if (call.resolved == "importlib.import_module" || call.resolved == "__import__") {
        if (arguments.empty()) return "";
        absl::string_view module = tree.GetText(arguments[0].value);
        if (module.size() > 2) return absl::StrCat(module.substr(1, module.size() - 2), rest);
      }
      return "";
    }
    origin = Resolve(value, depth + 1);
    return origin.empty() ? "" : origin + rest;
  }
  if (!values.empty() || names_.IsParameter(first, node)) return "";
  return python::IsBuiltin(first) ? (rest.empty() ? dotted : absl::StrCat("builtins.", dotted))
                                  : "";
}

bool IsUnder(absl::string_view dotted, absl::string_view prefix) {
  return dotted == prefix || (absl::StartsWith(dotted, prefix) && dotted[prefix.size()] == '.');
}

}  // namespace kernelmill::client
