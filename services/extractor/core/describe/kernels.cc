#include "services/extractor/core/describe/kernels.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "common/code/brackets.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "services/extractor/core/describe/autotune.h"
#include "services/extractor/core/describe/docstring.h"
#include "services/extractor/core/describe/parameters.h"

namespace kernelmill::extractor {

using python::Call;
using python::CountIndentation;
using python::Field;
using python::Kind;
using python::kNoNode;

namespace {

// Returns bytes of the file, not of the parser's copy.
absl::string_view Bytes(const ParsedFile& file, size_t begin, size_t end) {
  return file.text.substr(begin, end - begin);
}

// Returns the text from `def`, or `async`, to the colon; in broken code without a colon to the end
// of the parameters.
absl::string_view Signature(const ParsedFile& file, NodeId definition) {
  const SyntaxTree& tree = file.tree;
  size_t end = tree[definition].start;
  for (NodeId child = tree.FirstChild(definition); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (tree[child].field == Field::kBody) break;
    if (tree.GetKind(child) != Kind::kComment) end = tree[child].end;
    if (tree.GetText(child) == ":") break;
  }
  return Bytes(file, tree[definition].start, end);
}

// Returns the resolved dotted names that the body calls; sorted, each once. Calls of anything but a
// dotted name are left out.
std::vector<absl::string_view> ListCalls(const ParsedFile& file, NodeId definition) {
  std::vector<absl::string_view> calls;
  const NodeId body = file.tree.Child(definition, Field::kBody);
  if (body == kNoNode) return calls;
  for (const Call& call : file.calls.In(body)) {
    if (!call.name.empty()) calls.push_back(call.resolved);
  }
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

// Counts the leaves of the tree without comments. A string is one token; code in its braces is
// counted separately.
int CountTokens(const SyntaxTree& tree, NodeId root) {
  int tokens = 0;
  NodeId node = root;
  while (node < tree[root].subtree_end) {
    const Kind kind = tree.GetKind(node);
    if (kind == Kind::kString && tree.Child(node, Kind::kInterpolation) == kNoNode) {
      ++tokens;
      node = tree[node].subtree_end;
      continue;
    }
    const bool is_code = kind != Kind::kComment && kind != Kind::kLineContinuation;
    if (tree.IsLeaf(node) && is_code && tree[node].start < tree[node].end) ++tokens;
    ++node;
  }
  return tokens;
}

// Returns whether the parser found an error below `root`, or would have found one: ParsedText
// replaces brackets that nothing closes.
bool HasError(const ParsedFile& file, NodeId root) {
  const SyntaxTree& tree = file.tree;
  // The tree of a repaired text has no error at the bracket, so that its bytes are compared with
  // the file's.
  const bool repaired = tree.text().data() != file.text.data();
  for (size_t at = tree[root].start; repaired && at < tree[root].end; ++at) {
    const char c = file.text[at];
    if (code::IsOpeningBracket(c) && tree.text()[at] != c) return true;
  }
  if (!tree.has_errors()) return false;
  for (NodeId node = root; node < tree[root].subtree_end; ++node) {
    if (tree.GetKind(node) == Kind::kError || tree[node].missing) return true;
  }
  return false;
}

// Returns whether the call writes memory: store, tma_store, atomic_add.
bool Stores(absl::string_view call) {
  const absl::string_view last = LastPart(call);
  return last == "store" || absl::EndsWith(last, "_store") || absl::StartsWith(last, "atomic_");
}

// A launcher of the same file; the link stage adds those of other files.
void AddLauncher(const Launches& launches, const JitFunction& function, v1::Kernel& kernel) {
  std::optional<v1::Launcher> launcher = launches.FindLauncher(function.definition);
  if (!launcher.has_value()) return;
  *kernel.mutable_launcher() = *std::move(launcher);
  kernel.mutable_launcher()->set_path(kernel.path());
}

// Returns whether a call calls a function of Triton, or the result of one: triton.autotune(...)(f).
bool CallsTriton(const ParsedFile& file, NodeId call) {
  NodeId function = file.tree.Child(call, Field::kFunction);
  if (function != kNoNode && file.tree.GetKind(function) == Kind::kCall) {
    function = file.tree.Child(function, Field::kFunction);
  }
  return function != kNoNode &&
         absl::StartsWith(file.imports.Resolve(DottedExpression(file.tree, function)), "triton.");
}

// Returns Kernel.applied_line: the line of f = triton.jit(f), also within other calls of Triton. 0
// if the statement has another form. The link stage finds the statement by this line.
int ApplicationLine(const ParsedFile& file, const JitFunction& function) {
  constexpr int kMaxCalls = 16;
  const SyntaxTree& tree = file.tree;
  NodeId value = function.applied_by;
  for (int calls = 0; calls < kMaxCalls; ++calls) {
    const NodeId parent = tree[value].parent;
    if (parent == kNoNode || tree[value].field == Field::kRight) break;
    if (tree.GetKind(parent) != Kind::kArgumentList || !CallsTriton(file, tree[parent].parent)) {
      return 0;
    }
    value = tree[parent].parent;
  }
  const NodeId assignment = tree[value].parent;
  if (assignment == kNoNode || tree.GetKind(assignment) != Kind::kAssignment) return 0;
  const NodeId left = tree.Child(assignment, Field::kLeft);
  const NodeId statement = tree[assignment].parent;
  // A statement of the module that assigns to one name.
  const bool plain = left != kNoNode && tree.GetKind(left) == Kind::kIdentifier &&
                     tree.GetKind(statement) == Kind::kExpressionStatement &&
                     tree[statement].parent == 0;
  return plain ? file.lines.LineAt(tree[statement].start) : 0;
}

// Sets the path, the lines and the source, which is whole lines of the file.
void AddPlace(const ParsedFile& file, const JitFunction& function, v1::Kernel& kernel) {
  const size_t begin = file.lines.Begin(function.first_line);
  const absl::string_view source = Bytes(file, begin, file.lines.End(function.last_line));
  kernel.set_path(std::string(file.path));
  kernel.set_first_line(function.first_line);
  kernel.set_last_line(function.last_line);
  kernel.set_first_byte(static_cast<int64_t>(begin));
  kernel.set_source(std::string(source));
  kernel.set_sha256(Sha256Hex(source));
  kernel.set_column(static_cast<int32_t>(CountIndentation(source)));
}

}  // namespace

// Ends at the first block or lambda. A call in a decorator or in a condition is returned itself.
NodeId StatementAround(const SyntaxTree& tree, NodeId call) {
  constexpr int kMaxDepth = 64;  // real statements are nested less
  NodeId node = call;
  for (int depth = 0; depth < kMaxDepth && node != kNoNode; ++depth) {
    const Kind kind = tree.GetKind(node);
    if (kind == Kind::kExpressionStatement || kind == Kind::kReturnStatement) return node;
    if (kind == Kind::kBlock || kind == Kind::kLambda) break;
    node = tree[node].parent;
  }
  return call;
}

// A kernel that calls itself is not used by another.
absl::flat_hash_set<std::string> UsedByOthers(const std::vector<v1::Kernel>& kernels) {
  absl::flat_hash_set<std::string> used;
  for (const v1::Kernel& kernel : kernels) {
    for (const std::string& call : kernel.calls()) {
      if (call != kernel.name() && call != kernel.qualname()) used.insert(call);
    }
    for (const std::string& name : kernel.free_names()) {
      if (name != kernel.name()) used.insert(name);
    }
  }
  return used;
}

bool CallsLaunch(const v1::Kernel& kernel) {
  return absl::StrContains(kernel.source(), ".launch(");
}

// Returns whether some maker of the language makes host functions.
bool HasHostFunctions(const dsl::Language& language) {
  return std::any_of(language.makers.begin(), language.makers.end(), [](const dsl::Makers& makers) {
    return makers.role == dsl::MakerRole::kHostOrDevice;
  });
}

// Returns the role that the kernel's maker gives it; unspecified if the code around decides. A
// wrapper is taken for the language's first maker, unless the function launches kernels.
v1::KernelRole RoleByMaker(const v1::Kernel& kernel) {
  const dsl::Language* const language = dsl::FindLanguage(kernel.dsl());
  if (language == nullptr || language->makers.empty()) return v1::KERNEL_ROLE_UNSPECIFIED;
  const dsl::Makers* const makers = dsl::FindMakers(kernel.found_by());
  if (makers == nullptr && HasHostFunctions(*language) && CallsLaunch(kernel)) {
    return v1::KERNEL_ROLE_HOST;
  }
  switch (makers == nullptr ? language->makers.front().role : makers->role) {
    case dsl::MakerRole::kFromUse:
      return v1::KERNEL_ROLE_UNSPECIFIED;
    case dsl::MakerRole::kKernel:
      return v1::KERNEL_ROLE_KERNEL;
    case dsl::MakerRole::kDevice:
      return v1::KERNEL_ROLE_DEVICE;
    case dsl::MakerRole::kHostOrDevice:
      return CallsLaunch(kernel) ? v1::KERNEL_ROLE_HOST : v1::KERNEL_ROLE_DEVICE;
  }
  return v1::KERNEL_ROLE_UNSPECIFIED;
}

// Returns whether a decorator says device=True, as Numba has it.
bool IsDeclaredDevice(const v1::Kernel& kernel) {
  return std::any_of(
      kernel.decorators().begin(), kernel.decorators().end(),
      [](const std::string& decorator) { return absl::StrContains(decorator, "device=True"); });
}

// In Triton a launch is the surest sign and comes first. The calls of the body come last.
v1::KernelRole DecideRole(const v1::Kernel& kernel, const FunctionUse& use,
                          const absl::flat_hash_set<std::string>& used) {
  if (kernel.dsl() == dsl::kPallas) {
    return use.in_kernel ? v1::KERNEL_ROLE_DEVICE : v1::KERNEL_ROLE_KERNEL;
  }
  const v1::KernelRole by_maker = RoleByMaker(kernel);
  if (by_maker != v1::KERNEL_ROLE_UNSPECIFIED) return by_maker;
  if (use.launched) return v1::KERNEL_ROLE_KERNEL;
  const bool is_method = kernel.parameters_size() > 0 && kernel.parameters(0).name() == "self";
  if (is_method || used.contains(kernel.name()) || used.contains(kernel.qualname())) {
    return v1::KERNEL_ROLE_DEVICE;
  }
  const dsl::Language* const language = dsl::FindLanguage(kernel.dsl());
  if (language != nullptr && language->kernels_return_nothing) {
    return use.returns_value || IsDeclaredDevice(kernel) ? v1::KERNEL_ROLE_DEVICE
                                                         : v1::KERNEL_ROLE_KERNEL;
  }
  if (language != nullptr && language->runs_by_call) return v1::KERNEL_ROLE_KERNEL;
  const bool works_alone = std::any_of(
      kernel.calls().begin(), kernel.calls().end(),
      [](const std::string& call) { return LastPart(call) == "program_id" || Stores(call); });
  return works_alone ? v1::KERNEL_ROLE_KERNEL : v1::KERNEL_ROLE_DEVICE;
}

// Texts are bytes of the file, never of the parser's repaired copy.
v1::Kernel DescribeKernel(const ParsedFile& file, const JitFunction& function,
                          const KernelReaders& readers) {
  const SyntaxTree& tree = file.tree;
  v1::Kernel kernel;
  AddPlace(file, function, kernel);
  const NodeId name = tree.Child(function.definition, Field::kName);
  if (name != kNoNode) kernel.set_name(std::string(tree.GetText(name)));
  kernel.set_qualname(QualifiedName(tree, function.definition));
  kernel.set_dsl(std::string(function.dsl));
  kernel.set_form(function.form);
  kernel.set_found_by(function.found_by);
  if (function.applied_by != kNoNode) {
    const NodeId statement = StatementAround(tree, function.applied_by);
    kernel.set_applied_by(std::string(Bytes(file, tree[statement].start, tree[statement].end)));
    kernel.set_applied_line(ApplicationLine(file, function));
  }
  kernel.set_signature(std::string(Signature(file, function.definition)));
  for (const NodeId decorator : function.decorators) {
    kernel.add_decorators(std::string(Bytes(file, tree[decorator].start, tree[decorator].end)));
  }
  readers.parameters.AddParameters(function, kernel);
  readers.tuning.AddTuning(function, kernel);
  for (const absl::string_view call : ListCalls(file, function.definition)) {
    kernel.add_calls(std::string(call));
  }
  for (const absl::string_view free : file.bindings.FreeNames(function.decorated)) {
    kernel.add_free_names(std::string(free));
  }
  for (const absl::string_view feature : readers.features.FindFeatures(function.definition)) {
    kernel.add_features(std::string(feature));
  }
  AddLauncher(readers.launches, function, kernel);
  kernel.set_tokens(CountTokens(tree, function.decorated));
  kernel.set_parse_error(HasError(file, function.decorated));
  // The offset of the body is within the source, also in broken code in which the body begins
  // behind it.
  const Body body = ReadBody(tree, file.lines, function.definition);
  kernel.set_docstring(StringText(tree, file.text, body.docstring));
  const size_t end = static_cast<size_t>(kernel.first_byte()) + kernel.source().size();
  kernel.set_body_offset(
      static_cast<int32_t>(std::min(body.begin, end) - static_cast<size_t>(kernel.first_byte())));
  return kernel;
}

}  // namespace kernelmill::extractor
