// The target of a kernel, the basic idea: code for one vendor's hardware is kept in folders with
// that vendor's name, or calls something that only that vendor has. Each rule collects all targets
// that it sees; it only decides if there is exactly one, since code that mentions two vendors
// usually chooses between them.
#include "services/validator/core/quality/target.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "services/validator/core/quality/text_signals.h"

namespace kernelmill::validator {
namespace {

struct Entry {
  absl::string_view text;
  absl::string_view target;
};

// Whole words of folders, files and names.
constexpr Entry kWords[] = {{"nvidia", "nvidia"},    {"hopper", "nvidia"},
                            {"blackwell", "nvidia"}, {"mgpu", "nvidia"},
                            {"amd", "amd"},          {"amdgpu", "amd"},
                            {"rocm", "amd"},         {"hip", "amd"},
                            {"intel", "intel"},      {"xpu", "intel"},
                            {"tpu", "tpu"},          {"arm", "arm"},
                            {"ascend", "ascend"},    {"npu", "ascend"},
                            {"cann", "ascend"},      {"cambricon", "cambricon"},
                            {"mlu", "cambricon"},    {"kunlunxin", "kunlunxin"},
                            {"kunlun", "kunlunxin"}, {"mthreads", "mthreads"},
                            {"musa", "mthreads"},    {"iluvatar", "iluvatar"},
                            {"corex", "iluvatar"},   {"metax", "metax"},
                            {"maca", "metax"},       {"hygon", "hygon"},
                            {"dcu", "hygon"},        {"enflame", "enflame"},
                            {"gcu", "enflame"},      {"tsingmicro", "tsingmicro"},
                            {"aipu", "aipu"},        {"hcu", "hygon"},
                            {"thead", "thead"},      {"ppu", "thead"},
                            {"sunrise", "sunrise"},  {"spacemit", "spacemit"},
                            {"biren", "biren"}};

// Before a number: gfx942, cdna3, sm80, tcgen05.
constexpr Entry kNumbered[] = {
    {"gfx", "amd"}, {"cdna", "amd"}, {"rdna", "amd"}, {"sm", "nvidia"}, {"tcgen", "nvidia"}};

// Parts of the dotted names of calls. Mathematics is left out: extra.cuda.libdevice was the only
// way to write it for every GPU.
constexpr Entry kCalls[] = {{"extra.cuda", "nvidia"},
                            {"extra.hip", "amd"},
                            {"extra.cann", "ascend"},
                            {"extra.ascend", "ascend"},
                            {"extra.mlu", "cambricon"},
                            {"extra.musa", "mthreads"},
                            {"language.nvidia", "nvidia"},
                            {"language.amd", "amd"},
                            {"pallas.tpu", "tpu"},
                            {"pallas.mosaic_gpu", "nvidia"},
                            {"tlx.async_dot", "nvidia"},
                            {"tlx.async_dot_wait", "nvidia"},
                            {"tlx.async_descriptor_load", "nvidia"},
                            {"tlx.barrier_expect_bytes", "nvidia"},
                            {"mosaic.gpu", "nvidia"}};
constexpr absl::string_view kMathematics = "libdevice";
constexpr size_t kMaxImport = 1000;  // bytes of a line

constexpr Entry kPackages[] = {{"torch_npu", "ascend"},
                               {"torch_mlu", "cambricon"},
                               {"torch_musa", "mthreads"},
                               {"triton.backends.mlu", "cambricon"},
                               {"triton.language.extra.cann", "ascend"},
                               {"triton.language.extra.mlu", "cambricon"},
                               {"intel_extension_for_pytorch", "intel"}};

// PTX: the part of an instruction before its first dot. AMD: the beginning of an instruction.
constexpr absl::string_view kPtx[] = {
    "abs",      "add",      "and",       "atom",    "bar",       "bfe",  "bfi",
    "bfind",    "brev",     "clz",       "cos",     "cp",        "cvt",  "cvta",
    "div",      "dp4a",     "elect",     "ex2",     "fence",     "fma",  "griddepcontrol",
    "isspacep", "ld",       "ldmatrix",  "lg2",     "lop3",      "mad",  "mapa",
    "match",    "max",      "mbarrier",  "membar",  "min",       "mma",  "mov",
    "mul",      "multimem", "nanosleep", "neg",     "not",       "or",   "popc",
    "prefetch", "prmt",     "rcp",       "red",     "redux",     "rem",  "rsqrt",
    "selp",     "setp",     "shfl",      "shl",     "shr",       "sin",  "sqrt",
    "st",       "sub",      "tanh",      "tcgen05", "vabsdiff4", "vote", "wgmma",
    "xor"};
constexpr absl::string_view kAmdInstructions[] = {"s_", "v_", "ds_", "buffer_", "global_", "flat_"};

// Collects targets, and gives the target if there is only one.
class Only {
 public:
  void Add(absl::string_view target) {
    if (!target.empty()) targets_.insert(target);
  }
  bool empty() const { return targets_.empty(); }
  absl::string_view Target() const {
    return targets_.size() == 1 ? *targets_.begin() : absl::string_view();
  }

 private:
  std::set<absl::string_view> targets_;
};

absl::string_view TargetOfName(absl::string_view name) {
  Only only;
  for (const std::string& word : WordsOfName(name)) only.Add(TargetOfWord(word));
  return only.Target();
}

// Returns whether the folder `at` is a vendor's: FlagGems, its forks and its plugins keep the code
// of each vendor in `backend/_VENDOR/`, and vendors come whose names no list has yet.
bool IsVendorFolder(const std::vector<absl::string_view>& segments, size_t at) {
  const absl::string_view name = segments[at];
  return at > 0 && at + 1 < segments.size() && segments[at - 1] == "backend" && name.size() > 1 &&
         name[0] == '_' && absl::ascii_isalpha(name[1]);
}

// Returns whether the dotted name has these whole parts, one after another.
bool HasParts(absl::string_view dotted, absl::string_view parts) {
  for (size_t at = dotted.find(parts); at != absl::string_view::npos;
       at = dotted.find(parts, at + 1)) {
    const size_t end = at + parts.size();
    const bool begins = at == 0 || dotted[at - 1] == '.';
    if (begins && (end == dotted.size() || dotted[end] == '.')) return true;
  }
  return false;
}

// Returns the target of the first entry of kCalls whose parts the call's name has.
absl::string_view TargetOfCall(absl::string_view call) {
  if (HasParts(call, kMathematics)) return "";
  for (const Entry& entry : kCalls) {
    if (HasParts(call, entry.text)) return entry.target;
  }
  return "";
}

// Returns the target of the calls that have one, with the first of them. The call that makes the
// kernel (jax.experimental.pallas.mosaic_gpu.kernel) counts too. `mixed`: they have several
// targets.
Label FromCalls(const v1::Kernel& kernel, bool* mixed) {
  Only only;
  absl::string_view first;
  const auto add = [&](absl::string_view call) {
    const absl::string_view target = TargetOfCall(call);
    only.Add(target);
    if (first.empty() && !target.empty()) first = call;
  };
  add(kernel.found_by());
  for (const std::string& call : kernel.calls()) add(call);
  *mixed = !only.empty() && only.Target().empty();
  return {std::string(only.Target()), RuleText("call", first)};
}

// Returns the dotted names that an import statement's line binds: "import a.b" gives a.b, "from a
// import b as c" a.b, "from a import (" a.
std::vector<std::string> ImportedNames(absl::string_view line) {
  std::string module;
  std::vector<std::string> names;
  bool from = false, members = false, renames = false, open = false;
  for (const code::Token& token : code::Lex(line, code::Language::kPython)) {
    const bool dot = token.text == "." && token.kind == code::Token::kOperator;
    if (token.text == "from") {
      from = true;
    } else if (token.text == "import") {
      members = true;
    } else if (token.text == "as") {
      renames = true;
    } else if (token.text == ",") {
      renames = open = false;
    } else if (renames || (token.kind != code::Token::kName && !dot)) {
      continue;
    } else if (from && !members) {
      absl::StrAppend(&module, token.text);
    } else if (dot || open) {
      if (!names.empty()) absl::StrAppend(&names.back(), token.text);
      open = dot;
    } else {
      names.push_back(module.empty() ? std::string(token.text)
                                     : absl::StrCat(module, ".", token.text));
    }
  }
  if (names.empty() && !module.empty()) names.push_back(module);
  return names;
}

// Returns the vendor of the first package that only one vendor has.
Label FromImports(const v1::Kernel& kernel) {
  for (const std::string& statement : kernel.imports()) {
    for (const std::string& module : ImportedNames(statement)) {
      for (const Entry& entry : kPackages) {
        if (module == entry.text || absl::StartsWith(module, absl::StrCat(entry.text, ".")))
          return {std::string(entry.target), RuleText("import", module)};
      }
    }
  }
  return {};
}

// Returns the vendor of an instruction, "cvt.rn.bf16.f32" or "s_waitcnt".
absl::string_view FindVendor(absl::string_view instruction) {
  const size_t dot = instruction.find('.');
  if (dot != absl::string_view::npos && absl::c_linear_search(kPtx, instruction.substr(0, dot)) &&
      dot + 1 < instruction.size() && absl::ascii_isalnum(instruction[dot + 1])) {
    return "nvidia";
  }
  const bool amd =
      std::any_of(std::begin(kAmdInstructions), std::end(kAmdInstructions),
                  [&](absl::string_view prefix) { return absl::StartsWith(instruction, prefix); });
  return amd ? "amd" : "";
}

// CUDA and HIP: the beginning of a header that the module includes. ATen and c10 are left out,
// since their builds rename cuda to hip.
constexpr Entry kHeaders[] = {
    {"hip/", "amd"},       {"hipcub/", "amd"},   {"rocprim/", "amd"},
    {"ck/", "amd"},        {"ck_tile/", "amd"},  {"cuda", "nvidia"},
    {"cub/", "nvidia"},    {"cute/", "nvidia"},  {"cutlass/", "nvidia"},
    {"nvshmem", "nvidia"}, {"curand", "nvidia"}, {"cooperative_groups", "nvidia"},
    {"mma.h", "nvidia"}};

// Returns the header of an #include; empty for another line.
absl::string_view IncludedHeader(absl::string_view line) {
  const size_t begin = line.find_first_of("<\"");
  const size_t end =
      begin == absl::string_view::npos ? begin : line.find_first_of(">\"", begin + 1);
  return end == absl::string_view::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

// Returns the vendor of all headers in kHeaders, with the first of them.
Label FromIncludes(const v1::Kernel& kernel) {
  Only only;
  absl::string_view first;
  for (const std::string& line : kernel.imports()) {
    const absl::string_view header = IncludedHeader(line);
    for (const Entry& entry : kHeaders) {
      if (!absl::StartsWith(header, entry.text)) continue;
      only.Add(entry.target);
      if (first.empty()) first = header;
    }
  }
  return {std::string(only.Target()), RuleText("import", first)};
}

// Splits a string of assembly into words.
std::vector<absl::string_view> WordsOfAssembly(absl::string_view text) {
  return absl::StrSplit(text, absl::ByAnyChar(" \t\r\n;{}\"'\\@"), absl::SkipEmpty());
}

// Returns the target of asm statements, or of LLVM's builtins for AMD.
Label FromCudaCode(const v1::Kernel& kernel) {
  constexpr absl::string_view kAmdBuiltin = "__builtin_amdgcn_";
  Only only;
  Label first;
  const auto add = [&](absl::string_view target, absl::string_view rule, absl::string_view text) {
    only.Add(target);
    if (first.rule.empty() && !target.empty()) first.rule = RuleText(rule, text);
  };
  int depth = -1;  // nesting of parentheses in an asm statement; -1 outside of one
  for (const code::Token& token : code::Lex(kernel.source(), code::Language::kC)) {
    if (token.kind == code::Token::kName) {
      if (absl::StartsWith(token.text, kAmdBuiltin)) add("amd", "call", token.text);
      if (token.text == "asm" || token.text == "__asm__" || token.text == "__asm") depth = 0;
    } else if (token.kind == code::Token::kString && depth > 0) {
      for (const absl::string_view word : WordsOfAssembly(token.text))
        add(FindVendor(word), "asm", word);
    } else if (token.text == "(" && depth >= 0) {
      ++depth;
    } else if ((token.text == ")" && depth > 0 && --depth == 0) || token.text == ";") {
      depth = -1;
    }
  }
  first.word = std::string(only.Target());
  return first;
}

bool AssemblesInline(const std::vector<code::Token>& tokens) {
  return absl::c_any_of(tokens, [](const code::Token& token) {
    return token.kind == code::Token::kName && absl::StartsWith(token.text, "inline_asm");
  });
}

// Returns the target of the strings of a function that has inline assembly, without its docstring.
Label FromAssembly(const v1::Kernel& kernel) {
  const std::vector<code::Token> tokens = code::Lex(kernel.source(), dsl::GetSyntax(kernel.dsl()));
  if (!AssemblesInline(tokens)) return {};
  Only only;
  absl::string_view first;
  for (const code::Token& token : tokens) {
    if (token.kind != code::Token::kString || token.begins_statement) continue;
    for (const absl::string_view word : WordsOfAssembly(token.text)) {
      const absl::string_view vendor = FindVendor(word);
      only.Add(vendor);
      if (first.empty() && !vendor.empty()) first = word;
    }
  }
  return {std::string(only.Target()), RuleText("asm", first)};
}

}  // namespace

// Numbered words must have a number of the vendor's form: sm80, gfx942, cdna3.
absl::string_view TargetOfWord(absl::string_view word) {
  for (const Entry& entry : kWords) {
    if (word == entry.text) return entry.target;
  }
  for (const Entry& entry : kNumbered) {
    if (!absl::StartsWith(word, entry.text)) continue;
    const absl::string_view number = word.substr(entry.text.size());
    const bool two = number.size() >= 2 && absl::ascii_isdigit(number[1]);
    // "sm8" is not an architecture, "cdna3" is.
    if (number.empty() || !absl::ascii_isdigit(number[0])) continue;
    if (entry.text != "sm" || (two && number.size() <= 4)) return entry.target;
  }
  return "";
}

// Returns the target of the file's import statements. Lines are read without a parser, since the
// file may have errors.
Label TargetOfImports(absl::string_view file) {
  Only only;
  std::string first;
  for (absl::string_view line : absl::StrSplit(file, absl::ByAnyChar("\r\n"))) {
    line = absl::StripLeadingAsciiWhitespace(line);
    if (!absl::StartsWith(line, "from ") && !absl::StartsWith(line, "import ")) continue;
    for (const std::string& name : ImportedNames(line.substr(0, kMaxImport))) {
      const absl::string_view target = TargetOfCall(name);
      only.Add(target);
      if (first.empty() && !target.empty()) first = name;
    }
  }
  if (only.Target().empty()) return {};
  return {std::string(only.Target()), RuleText("file", first)};
}

// A path or a name decides before the code does: the code of a backend often calls only common
// functions. CUDA has rules of its own: it is NVIDIA's unless something says HIP. A language that
// is made for one vendor says so last.
Label FindTarget(const v1::Kernel& kernel, const Label& imports) {
  const std::vector<absl::string_view> segments = Segments(kernel.path());
  for (size_t i = segments.size(); i-- > 0;) {
    const absl::string_view target = TargetOfName(segments[i]);
    if (!target.empty()) return {std::string(target), RuleText("path", segments[i])};
    if (IsVendorFolder(segments, i)) return {"other", RuleText("path", segments[i])};
  }
  const absl::string_view named = TargetOfName(kernel.name());
  if (!named.empty()) return {std::string(named), RuleText("name", kernel.name())};
  bool mixed = false;
  Label label = FromCalls(kernel, &mixed);
  if (mixed) return {"generic", ""};
  const dsl::Language* const language = dsl::FindLanguage(kernel.dsl());
  const bool own = kernel.dsl() != dsl::kTriton;
  if (kernel.dsl() == dsl::kCuda) {
    if (label.word.empty()) label = FromCudaCode(kernel);
    if (label.word.empty()) label = FromIncludes(kernel);
    return label.word.empty() ? Label{"nvidia", "language:cuda"} : label;
  }
  if (label.word.empty()) label = FromImports(kernel);
  if (label.word.empty()) label = FromAssembly(kernel);
  if (label.word.empty() && own) label = imports;
  if (label.word.empty() && language != nullptr && !language->target.empty()) {
    return {std::string(language->target), absl::StrCat("language:", language->name)};
  }
  return label.word.empty() ? Label{"generic", ""} : label;
}

}  // namespace kernelmill::validator
