#include "client/evaluate/honesty/interpreter_only.h"

#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/evaluate/honesty/name_origins.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/calls.h"
#include "common/python/syntax/imports.h"

namespace kernelmill::client {
namespace {

using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;

// A kind of syntax for which Triton's code generator has no rule.
struct Unknown {
  Kind kind;
  absl::string_view what;
};

constexpr Unknown kUnknown[] = {
    {Kind::kTryStatement, "try"},
    {Kind::kMatchStatement, "match"},
    {Kind::kLambda, "a lambda"},
    {Kind::kFunctionDefinition, "a function within it"},
    {Kind::kClassDefinition, "a class within it"},
    {Kind::kImportStatement, "import"},
    {Kind::kImportFromStatement, "import"},
    {Kind::kGlobalStatement, "global"},
    {Kind::kNonlocalStatement, "nonlocal"},
    {Kind::kNamedExpression, ":="},
    {Kind::kDictionary, "a dictionary"},
    {Kind::kDictionaryComprehension, "a dictionary"},
    {Kind::kSetComprehension, "a set"},
    {Kind::kGeneratorExpression, "a generator"},
};

// Statements whose kinds the tree does not tell apart, by their first words.
constexpr absl::string_view kUnknownWords[] = {"break", "continue", "del", "yield", "await"};

// The builtins that Triton lets a kernel call.
constexpr absl::string_view kBuiltins[] = {"len",   "list",       "range",   "float",
                                           "int",   "isinstance", "getattr", "hasattr",
                                           "print", "min",        "max"};

// Packages whose functions the compiler cannot call. Others may hold Triton's functions; those of
// `math` take constants.
constexpr absl::string_view kPackages[] = {
    "numpy",    "torch",   "scipy",  "cupy",       "jax",       "pandas",    "os",
    "sys",      "io",      "time",   "random",     "ctypes",    "struct",    "operator",
    "copy",     "inspect", "gc",     "itertools",  "functools", "builtins",  "importlib",
    "warnings", "json",    "pickle", "subprocess", "threading", "statistics"};

// Parts of a dotted name below triton that lead to the interpreter, or to what it is made of.
constexpr absl::string_view kInner[] = {"interpreter", "_interpreter", "_C", "libtriton"};

// The interpreter's word for a tensor's array; a value of the compiler's IR on a GPU.
constexpr char kHandle[] = "handle";

absl::string_view Unquote(absl::string_view text) {
  const bool plain =
      text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  return plain ? text.substr(1, text.size() - 2) : absl::string_view();
}

bool IsIdentifier(absl::string_view text) {
  return !text.empty() && absl::c_all_of(text, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

// Returns whether a dotted name leads to the interpreter: triton.runtime.interpreter.
bool IsInner(absl::string_view dotted) {
  if (!IsUnder(dotted, "triton")) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(dotted, '.');
  return absl::c_any_of(parts,
                        [](absl::string_view part) { return absl::c_linear_search(kInner, part); });
}

class Finder {
 public:
  Finder(const python::ParsedText& text, const std::vector<NodeId>& functions)
      : text_(text), tree_(text.tree()), origins_(text), functions_(functions) {}

  std::vector<Finding> Find() && {
    for (const NodeId node : python::ImportsIn(tree_, 0)) ReadImport(node);
    for (const NodeId node : tree_.Of(Kind::kAttribute)) ReadAttribute(node);
    for (const NodeId node : tree_.Of(Kind::kString)) ReadString(node);
    for (const NodeId function : functions_) {
      const NodeId body = tree_.Child(function, Field::kBody);
      if (body != kNoNode) ReadBody(body);
    }
    return std::move(findings_);
  }

 private:
  void ReadImport(NodeId node) {
    for (const std::string& module : python::ImportedModules(tree_, node)) {
      if (IsInner(module)) return Add(node, "imports Triton's interpreter");
    }
    for (const auto& name : python::ImportedNames(tree_, node)) {
      if (IsInner(absl::StrCat(name.module(), ".", name.member()))) {
        return Add(node, "imports Triton's interpreter");
      }
    }
  }

  void ReadAttribute(NodeId node) {
    const NodeId name = tree_.Child(node, Field::kAttribute);
    if (name == kNoNode) return;
    if (IsInner(origins_.Resolve(node))) Add(node, "asks Triton's interpreter");
    if (tree_.GetText(name) == kHandle && !IsInBuiltin(node)) {
      Add(node, "reads the handle of a tensor");
    }
  }

  // The names may come in strings: getattr(x, "handle"), sys.modules["triton.runtime.interpreter"].
  void ReadString(NodeId node) {
    const absl::string_view text = Unquote(tree_.GetText(node));
    if (text == kHandle) Add(node, "reads the handle of a tensor");
    if (IsInner(text)) Add(node, "asks Triton's interpreter");
  }

  // Functions that Triton's compiler calls with its own state (@core.builtin, @core.extern) work on
  // handles of the compiler.
  bool IsInBuiltin(NodeId node) const {
    for (NodeId at = tree_[node].parent; at != kNoNode; at = tree_[at].parent) {
      if (tree_.GetKind(at) != Kind::kDecoratedDefinition) continue;
      for (const NodeId decorator : tree_.Of(Kind::kDecorator, at)) {
        const absl::string_view text = tree_.GetText(decorator);
        const std::string origin =
            text_.imports().Resolve(absl::StripAsciiWhitespace(text.substr(1)));
        if (tree_[decorator].parent == at && IsUnder(origin, "triton") &&
            (absl::EndsWith(origin, ".builtin") || absl::EndsWith(origin, ".extern"))) {
          return true;
        }
      }
    }
    return false;
  }

  void ReadBody(NodeId body) {
    for (const Unknown& unknown : kUnknown) {
      for (const NodeId node : tree_.Of(unknown.kind, body)) AddUnknown(node, unknown.what);
    }
    for (NodeId node = body; node < tree_[body].subtree_end; ++node) {
      if (tree_.GetKind(node) == Kind::kOther) ReadOther(node);
    }
    for (const NodeId node : tree_.Of(Kind::kAssignment, body)) ReadAssignment(node);
    for (const NodeId node : tree_.Of(Kind::kForStatement, body)) {
      const NodeId right = tree_.Child(node, Field::kRight);
      if (right != kNoNode && tree_.GetKind(right) != Kind::kCall) {
        Add(node, "loops over what is no range");
      }
    }
    for (const python::Call& call : text_.calls().In(body)) ReadCall(call);
    for (const NodeId node : tree_.Of(Kind::kIdentifier, body)) ReadName(node);
    for (const NodeId node : tree_.Of(Kind::kAttribute, body)) {
      const NodeId name = tree_.Child(node, Field::kAttribute);
      if (name != kNoNode && absl::StartsWith(tree_.GetText(name), "__")) {
        Add(node, absl::StrCat("reads ", tree_.GetText(name), " in a kernel"));
      }
    }
  }

  // The tree has no kind of its own for rare syntax.
  void ReadOther(NodeId node) {
    const absl::string_view text = tree_.GetText(node);
    const absl::string_view word =
        text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
    if (absl::c_linear_search(kUnknownWords, word)) AddUnknown(node, word);
    const bool braces = absl::StartsWith(text, "{") && absl::EndsWith(text, "}");
    if (braces && tree_.GetKind(tree_[node].parent) != Kind::kString) AddUnknown(node, "a set");
  }

  void ReadAssignment(NodeId node) {
    const NodeId left = tree_.Child(node, Field::kLeft);
    const NodeId right = tree_.Child(node, Field::kRight);
    if (right != kNoNode && tree_.GetKind(right) == Kind::kAssignment) {
      AddUnknown(node, "an assignment to several targets");
    }
    if (left != kNoNode && tree_.GetKind(left) == Kind::kAttribute) {
      AddUnknown(node, "an assignment to an attribute");
    }
  }

  void ReadCall(const python::Call& call) {
    if (call.function == kNoNode) return;
    const std::string origin = origins_.Resolve(call.function);
    if (origin.empty()) return;
    if (origin == "getattr") return ReadGetattr(call);
    if (python::IsBuiltin(origin) && !absl::c_linear_search(kBuiltins, origin)) {
      return Add(call.node, absl::StrCat("calls ", origin, " in a kernel"));
    }
    const absl::string_view package = absl::string_view(origin).substr(0, origin.find('.'));
    if (absl::StrContains(origin, ".") && absl::c_linear_search(kPackages, package)) {
      Add(call.node, absl::StrCat("calls ", origin, " in a kernel"));
    }
  }

  // A name that is computed may be any.
  void ReadGetattr(const python::Call& call) {
    const python::Arguments arguments = python::GetArguments(tree_, call.node);
    if (arguments.size() < 2) return;
    const absl::string_view name = Unquote(tree_.GetText(arguments[1].value));
    if (!IsIdentifier(name) || absl::StartsWith(name, "__")) {
      Add(call.node, "asks for a computed attribute in a kernel");
    }
  }

  // The compiler refuses a function of Python, whether it is called or passed on.
  void ReadName(NodeId node) {
    const NodeId parent = tree_[node].parent;
    const Kind kind = tree_.GetKind(parent);
    const Field field = tree_[node].field;
    if ((kind == Kind::kAttribute && field == Field::kAttribute) ||
        (kind == Kind::kKeywordArgument && field == Field::kName)) {
      return;
    }
    const absl::string_view name = tree_.GetText(node);
    const auto values = origins_.names().GetValues(name, node);
    if (values.empty() || !absl::c_all_of(values, [&](NodeId value) { return IsPython(value); })) {
      return;
    }
    Add(node, absl::StrCat(name, " is a function of Python, which no kernel can call"));
  }

  // Returns whether a value is a function that no decorator changes, at the module's level.
  bool IsPython(NodeId value) const {
    value = tree_.StripParentheses(value);
    const Kind kind = tree_.GetKind(value);
    if (kind == Kind::kLambda) return true;
    return kind == Kind::kFunctionDefinition && !absl::c_linear_search(functions_, value) &&
           tree_.GetKind(tree_[value].parent) != Kind::kDecoratedDefinition;
  }

  void AddUnknown(NodeId at, absl::string_view what) {
    Add(at, absl::StrCat("has ", what, " in a kernel, which Triton's compiler does not know"));
  }

  void Add(NodeId at, const std::string& what) {
    const int line = text_.lines().LineAt(tree_[at].start);
    if (!reported_.emplace(line, what).second) return;
    findings_.push_back({kInterpreterOnly, line, what});
  }

  const python::ParsedText& text_;
  const python::SyntaxTree& tree_;
  const NameOrigins origins_;
  const std::vector<NodeId>& functions_;
  std::set<std::pair<int, std::string>> reported_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindInterpreterOnly(const python::ParsedText& text,
                                         const std::vector<NodeId>& functions) {
  return Finder(text, functions).Find();
}

}  // namespace kernelmill::client
