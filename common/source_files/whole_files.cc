// The language of a whole file decides how rows are labelled and whether comments can be found.
// Names of languages are those that corpora of code use. The table has what occurs in repositories
// with kernels; other files have no language and are treated as text.
#include "common/source_files/whole_files.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "common/base/path.h"
#include "common/dsl/languages.h"

namespace kernelmill::source_files {
namespace {

struct Name {
  absl::string_view name;  // in lower case: an ending without its dot, or a whole name
  absl::string_view language;
};

constexpr Name kEndings[] = {
    {"py", "python"},
    {"pyi", "python"},
    {"pyx", "cython"},
    {"pxd", "cython"},
    {"c", "c"},
    {"h", "c++"},
    {"cc", "c++"},
    {"cpp", "c++"},
    {"cxx", "c++"},
    {"hh", "c++"},
    {"hpp", "c++"},
    {"hxx", "c++"},
    {"inc", "c++"},
    {"inl", "c++"},
    {"cu", "cuda"},
    {"cuh", "cuda"},
    {"hip", "hip"},
    {"cl", "opencl"},
    {"metal", "metal"},
    {"mlir", "mlir"},
    {"td", "tablegen"},
    {"ll", "llvm"},
    {"ptx", "ptx"},
    {"s", "assembly"},
    {"rs", "rust"},
    {"go", "go"},
    {"jl", "julia"},
    {"java", "java"},
    {"js", "javascript"},
    {"ts", "typescript"},
    {"sh", "shell"},
    {"bash", "shell"},
    {"cmake", "cmake"},
    {"mk", "make"},
    {"bzl", "starlark"},
    {"bazel", "starlark"},
    {"json", "json"},
    {"jsonl", "json"},
    {"yaml", "yaml"},
    {"yml", "yaml"},
    {"toml", "toml"},
    {"ini", "ini"},
    {"cfg", "ini"},
    {"xml", "xml"},
    {"html", "html"},
    {"css", "css"},
    {"sql", "sql"},
    {"md", "markdown"},
    {"rst", "restructuredtext"},
    {"txt", "text"},
    {"tex", "tex"},
    {"ipynb", "jupyter"},
    {"jinja", "jinja"},
    {"j2", "jinja"},
    {"proto", "protobuf"},
};

constexpr Name kNames[] = {
    {"cmakelists.txt", "cmake"}, {"makefile", "make"},      {"dockerfile", "dockerfile"},
    {"build", "starlark"},       {"workspace", "starlark"},
};

// Languages whose comments begin with "//".
constexpr absl::string_view kLikeC[] = {
    "c",    "c++", "cuda", "hip",        "opencl", "metal",    "mlir",      "tablegen",
    "rust", "go",  "java", "javascript", "css",    "protobuf", "typescript"};

constexpr absl::string_view kLikePython[] = {"python", "cython", "starlark"};

template <size_t count>
bool IsAmong(const absl::string_view (&words)[count], absl::string_view word) {
  return std::find(words, words + count, word) != words + count;
}

template <size_t count>
absl::string_view Find(const Name (&names)[count], absl::string_view name) {
  const auto* found =
      std::find_if(names, names + count, [&](const Name& entry) { return entry.name == name; });
  return found == names + count ? "" : found->language;
}

}  // namespace

absl::string_view WholeFileProblem(absl::string_view content) {
  if (content.size() > kMaxWholeFileBytes) return "too_large";
  if (content.find('\0') != absl::string_view::npos) return "binary";
  return absl::StripAsciiWhitespace(content).empty() ? "empty" : "";
}

absl::string_view LanguageOfFile(absl::string_view path) {
  const std::string name = absl::AsciiStrToLower(BaseName(path));
  const absl::string_view by_name = Find(kNames, name);
  if (!by_name.empty()) return by_name;
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : Find(kEndings, absl::string_view(name).substr(dot + 1));
}

// Unknown languages are lexed as Python, which only matters for where comments begin.
code::Language LexedAs(const v1::Kernel& kernel) {
  if (kernel.form() != v1::KERNEL_FORM_FILE) return dsl::GetSyntax(kernel.dsl());
  return IsAmong(kLikeC, LanguageOfFile(kernel.path())) ? code::Language::kC
                                                        : code::Language::kPython;
}

bool IsEmbedded(const v1::Kernel& kernel) {
  return kernel.has_json_pointer() || kernel.has_context();
}

bool IsLexed(absl::string_view language) {
  return IsAmong(kLikeC, language) || IsAmong(kLikePython, language);
}

}  // namespace kernelmill::source_files
