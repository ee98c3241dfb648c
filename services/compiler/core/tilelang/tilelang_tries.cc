#include "services/compiler/core/tilelang/tilelang_tries.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/python/syntax/functions.h"
#include "services/compiler/core/signature/read_text.h"

namespace kernelmill::compiler::tilelang {

// The basic idea: a kernel's tensors have their shapes and types in its text, as expressions of
// the parameters of the functions around it. So numbers, types and flags are all that it needs.

using absl::string_view;
using python::Function;
using python::FunctionParameter;

namespace {

// One of the tries: the values that stand for guesses.
struct Guesses {
  string_view type;
  string_view block;
  string_view dimension;
  string_view size;
  bool flag;
};

constexpr Guesses kTries[] = {
    {"'float16'", "64", "128", "1024", false},  {"'float32'", "32", "64", "1024", false},
    {"'bfloat16'", "128", "128", "4096", true}, {"'float16'", "16", "64", "256", true},
    {"'float32'", "64", "256", "512", false},
};

// Numbers by parts of a name in lower case; the first row that holds counts.
struct NumberRule {
  string_view fragment;
  string_view value;
};

constexpr NumberRule kNumbers[] = {
    {"thread", "128"},   {"npt", "8"},     {"stage", "2"},     {"stride", "1"},     {"pad", "1"},
    {"dilation", "1"},   {"kernel_", "3"}, {"_in", "64"},      {"_out", "64"},      {"batch", "2"},
    {"group_size", "8"}, {"groups", "1"},  {"kv_group", "1"},  {"split", "4"},      {"topk", "4"},
    {"top_k", "4"},      {"expert", "8"},  {"num_sms", "132"}, {"sm_count", "132"}, {"mult", "4"},
    {"num_heads", "8"},  {"n_heads", "8"}, {"heads", "8"},
};

bool Contains(string_view name, string_view fragment) { return absl::StrContains(name, fragment); }

std::string MakeNumber(string_view name, const Guesses& guesses) {
  for (const NumberRule& rule : kNumbers) {
    if (Contains(name, rule.fragment)) return std::string(rule.value);
  }
  if (Contains(name, "block") || Contains(name, "tile") || Contains(name, "chunk")) {
    return std::string(guesses.block);
  }
  if (Contains(name, "dim") || name == "d") return std::string(guesses.dimension);
  if (name == "head" || name == "h") return "8";
  return std::string(guesses.size);
}

struct Value {
  std::string text;  // empty: no rule gives one
  std::string rule;
};

Value MakeValue(const FunctionParameter& parameter, const Guesses& guesses) {
  const std::string name = absl::AsciiStrToLower(parameter.name);
  const string_view annotation = parameter.annotation;
  const string_view type = annotation.substr(annotation.rfind('.') + 1);
  if (Contains(name, "dtype") || type == "dtype") {
    if (Contains(name, "acc")) return {"'float32'", "guess:type"};
    return {std::string(guesses.type), "guess:type"};
  }
  const bool is_flag = absl::StartsWith(name, "is_") || absl::StartsWith(name, "has_") ||
                       absl::StartsWith(name, "use_") || absl::StartsWith(name, "enable_") ||
                       Contains(name, "causal");
  if (annotation == "bool" || (annotation.empty() && is_flag)) {
    return {guesses.flag ? "True" : "False", "guess:flag"};
  }
  const bool is_float = Contains(name, "eps") || Contains(name, "scale") ||
                        Contains(name, "softcap") || Contains(name, "threshold") ||
                        absl::EndsWith(name, "_val");
  if (annotation == "float" || (annotation.empty() && is_float)) return {"1.0", "guess:float"};
  const bool is_function = Contains(name, "func") || Contains(name, "op_kind");
  if (annotation == "int" || (annotation.empty() && !is_function)) {
    return {MakeNumber(name, guesses), "guess:int"};
  }
  return {};
}

// `functions`: the kernel and those around it, outermost first.
v1::KernelSignature MakeOne(const std::vector<const Function*>& functions, const Guesses& guesses,
                            std::string& missing) {
  v1::KernelSignature made;
  absl::flat_hash_set<string_view> known;
  for (const Function* function : functions) {
    for (const FunctionParameter& parameter : function->parameters) {
      const bool is_given = parameter.default_value == nullptr &&
                            !absl::StartsWith(parameter.name, "*") &&
                            known.insert(parameter.name).second;
      if (!is_given) continue;
      const Value value = MakeValue(parameter, guesses);
      if (value.text.empty() && missing.empty()) {
        missing = absl::StrCat("constexpr:", parameter.name);
      }
      AddConstant(parameter.name, value.text, value.rule, made);
    }
  }
  return made;
}

}  // namespace

absl::StatusOr<Tries> MakeTilelangTries(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(const ReadText module, ReadText::Read(kernel.module()));
  std::vector<const Function*> functions;
  const string_view path = kernel.qualname().empty() ? kernel.name() : kernel.qualname();
  for (const string_view name : absl::StrSplit(path, '.')) {
    const Function* const function = module.functions().Find(name);
    if (function == nullptr) return Tries{{}, "function"};
    functions.push_back(function);
  }
  return MakeTries(kTries, [&functions](const Guesses& guesses, std::string& missing) {
    return MakeOne(functions, guesses, missing);
  });
}

}  // namespace kernelmill::compiler::tilelang
