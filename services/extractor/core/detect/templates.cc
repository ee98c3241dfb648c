#include "services/extractor/core/detect/templates.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "common/python/syntax/local_names.h"
#include "common/python/syntax/syntax_tree.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {

// clang-format off
// A template in a string, as PyTorch has them:
//
//   mm = TritonTemplate(name="mm", grid=mm_grid, source=r"""{{def_kernel("A", "B")}} ... """)
//
// The source may also be a name that the literal was assigned to above. It is no Python until it is
// filled in, so that nothing of it is parsed.
// clang-format on

using python::CountIndentation;
using python::Field;
using python::Kind;
using python::kNoNode;
using python::LocalNames;
using python::NodeId;
using python::SyntaxTree;

namespace {

constexpr absl::string_view kFileEnd = ".jinja";
constexpr absl::string_view kOps = "tl.";  // a template for Triton uses its language

// Returns an argument of TritonTemplate(name, grid, source) by its name or its position.
NodeId ArgumentNode(const SyntaxTree& tree, NodeId call, absl::string_view name, int position) {
  const NodeId arguments = tree.Child(call, Field::kArguments);
  if (arguments == kNoNode) return kNoNode;
  for (NodeId child = tree.FirstChild(arguments); child != kNoNode;
       child = tree.NextSibling(child)) {
    if (IsLayout(tree.GetKind(child))) continue;
    if (tree.GetKind(child) == Kind::kKeywordArgument) {
      const NodeId key = tree.Child(child, Field::kName);
      if (key != kNoNode && tree.GetText(key) == name) return tree.Child(child, Field::kValue);
    } else if (position-- == 0) {
      return child;
    }
  }
  return kNoNode;
}

// Returns the content of the literals below `root`, from the first one's begin to the last one's
// end.
absl::string_view GetLiterals(const SyntaxTree& tree, NodeId root) {
  size_t begin = 0;
  size_t end = 0;
  for (NodeId node = root; node < tree[root].subtree_end; ++node) {
    if (tree.GetKind(node) == Kind::kStringStart && begin == 0) begin = tree[node].end;
    if (tree.GetKind(node) == Kind::kStringEnd && !tree[node].missing) end = tree[node].start;
  }
  return begin < end ? tree.text().substr(begin, end - begin) : absl::string_view();
}

// Returns the expression itself, or the value that its name was last assigned above. A name without
// an assignment above stays a name.
NodeId FindValue(const SyntaxTree& tree, const LocalNames& names, NodeId expression) {
  const NodeId node = tree.StripParentheses(expression);
  if (tree.GetKind(node) != Kind::kIdentifier) return node;
  NodeId value = node;
  for (const NodeId candidate : names.GetValues(tree.GetText(node), node)) {
    if (candidate < node) value = candidate;
  }
  return value;
}

// Returns whether the call makes a template, and the class's resolved name in `found_by`.
bool IsTemplateCall(const ParsedText& file, NodeId node, std::string* found_by) {
  const SyntaxTree& tree = file.tree();
  if (tree.GetKind(node) != Kind::kCall) return false;
  const NodeId function = tree.Child(node, Field::kFunction);
  if (function == kNoNode) return false;
  *found_by = file.imports().Resolve(DottedExpression(tree, function));
  return *found_by == dsl::kTemplateClass ||
         absl::EndsWith(*found_by, absl::StrCat(".", dsl::kTemplateClass));
}

}  // namespace

// A record needs whole lines of its own, so that of templates that share a line only the first is
// kept.
std::vector<KernelTemplate> FindTemplates(const ParsedText& file) {
  std::vector<KernelTemplate> found;
  if (!MayHoldTemplates(file.text())) return found;
  const SyntaxTree& tree = file.tree();
  const LocalNames names(tree);
  std::string found_by;
  for (NodeId node = 0; node < tree.size(); ++node) {
    if (!IsTemplateCall(file, node, &found_by)) continue;
    const NodeId argument = ArgumentNode(tree, node, "source", 2);
    if (argument == kNoNode) continue;
    const absl::string_view source = GetLiterals(tree, FindValue(tree, names, argument));
    if (!absl::StrContains(source, kOps)) continue;
    const size_t begin = static_cast<size_t>(source.data() - tree.text().data());
    const NodeId name = ArgumentNode(tree, node, "name", 0);
    found.push_back({begin, file.lines().LineAt(begin), file.lines().LineAt(begin + source.size()),
                     name == kNoNode ? "" : std::string(GetLiterals(tree, name)),
                     std::move(found_by)});
  }
  // The calls are in the order of the text, their strings need not be: a name may hold one.
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.content_begin < b.content_begin; });
  int last_line = 0;
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const KernelTemplate& next) {
                               // The templates are sorted, so that one that shares a line begins
                               // before the end of the last that is kept.
                               const bool shared = next.first_line <= last_line;
                               if (!shared) last_line = next.last_line;
                               return shared;
                             }),
              found.end());
  return found;
}

bool IsTemplateFile(absl::string_view path, absl::string_view text) {
  // The fetcher leaves out files without a marker, so the same file is ignored here.
  return absl::EndsWith(path, kFileEnd) && absl::StrContains(text, kOps) &&
         dsl::HasMarkerOf(dsl::kTriton, text);
}

KernelTemplate MakeFileTemplate(absl::string_view path, const LineIndex& lines) {
  const absl::string_view file = BaseName(path);
  return {0, 1, lines.count(), std::string(file.substr(0, file.find('.'))),
          std::string(kFileEnd.substr(1))};
}

// The source is whole lines of the file, with the code before and after the string on its lines.
v1::Kernel DescribeTemplate(absl::string_view path, absl::string_view text, const LineIndex& lines,
                            const KernelTemplate& found) {
  const size_t begin = lines.Begin(found.first_line);
  const absl::string_view source = text.substr(begin, lines.End(found.last_line) - begin);
  v1::Kernel kernel;
  kernel.set_name(found.name);
  kernel.set_qualname(found.name);
  kernel.set_dsl(dsl::kTriton);
  kernel.set_form(v1::KERNEL_FORM_TEMPLATE);
  kernel.set_found_by(found.found_by);
  kernel.set_path(std::string(path));
  kernel.set_first_line(found.first_line);
  kernel.set_last_line(found.last_line);
  kernel.set_first_byte(static_cast<int64_t>(begin));
  kernel.set_source(std::string(source));
  kernel.set_sha256(Sha256Hex(source));
  kernel.set_column(static_cast<int32_t>(CountIndentation(source)));
  kernel.set_string_begin(static_cast<int64_t>(found.content_begin));
  return kernel;
}

bool MayHoldTemplates(absl::string_view text) { return Contains(text, dsl::kTemplateClass); }

}  // namespace kernelmill::extractor
