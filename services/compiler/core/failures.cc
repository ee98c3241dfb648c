#include "services/compiler/core/failures.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/compiler/core/signature/rules.h"

namespace kernelmill::compiler {
namespace {

template <size_t N>
bool ContainsAny(absl::string_view text, const absl::string_view (&fragments)[N]) {
  return std::any_of(std::begin(fragments), std::end(fragments),
                     [&](absl::string_view fragment) { return absl::StrContains(text, fragment); });
}

// What Triton's frontend says of code that it never takes.
constexpr absl::string_view kNeverTaken[] = {
    "is not defined",
    "unsupported AST node type",
    "has no attribute",
    "Cannot access global variable",
    "got an unexpected keyword argument",
    "missing a required argument",
    "required positional argument",
    "takes no arguments",
    "positional arguments but",
    "takes from",
    "has been removed",
    "is deprecated and",
    "invalid syntax",
    "unexpected indent",
    "nested functions are not supported",
    "Unsupported function referenced",
    "Unsupported nested",
    "cannot import name",
    "Loop-carried variable",
    "cannot be used in a `triton.jit`",
    "Did you forget to add @triton.jit",
};

constexpr absl::string_view kDevice[] = {
    "driver", "CUDA",  "cuda", "GPU", "device", "No such file", "Permission denied",
    "HIP",    "active"};

// The name of the argument whose type or value is least certain, of those that the message speaks
// of if it does of any.
std::string LeastCertain(const v1::KernelSignature& signature, absl::string_view message) {
  std::string found;
  int least = 3;
  const auto offer = [&](absl::string_view what, absl::string_view name, absl::string_view rule) {
    const bool named = absl::StrContains(message, absl::StrCat("'", name, "'"));
    const int certainty = named ? -1 : static_cast<int>(CertaintyOf(rule));
    if (certainty >= least) return;
    least = certainty;
    found = absl::StrCat(what, ":", name);
  };
  for (const v1::ArgumentType& argument : signature.arguments())
    offer("type", argument.name(), argument.rule());
  for (const v1::ConstexprValue& value : signature.constexprs())
    offer("constexpr", value.name(), value.rule());
  return found;
}

bool HasGuess(const v1::KernelSignature& signature) {
  const auto guessed = [](const auto& one) {
    return CertaintyOf(one.rule()) == Certainty::kGuessed;
  };
  return std::any_of(signature.arguments().begin(), signature.arguments().end(), guessed) ||
         std::any_of(signature.constexprs().begin(), signature.constexprs().end(), guessed);
}

void SetUnknown(std::string missing, v1::CompileResult& result) {
  result.set_status(v1::COMPILE_STATUS_UNKNOWN);
  result.set_missing(std::move(missing));
}

}  // namespace

bool NoSignatureHelps(absl::string_view message) { return ContainsAny(message, kNeverTaken); }

void JudgeFailure(const v1::KernelSignature& signature, bool compiles_elsewhere,
                  v1::CompileResult& result) {
  if (result.stage() == "constexpr")
    return SetUnknown(LeastCertain(signature, result.message()), result);
  if (compiles_elsewhere) return;
  if (result.stage() == "frontend" && NoSignatureHelps(result.message())) return;
  if (HasGuess(signature)) return SetUnknown(LeastCertain(signature, result.message()), result);
}

v1::CompileResult JudgeImport(const v1::ModuleImport& failed) {
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("import");
  result.set_message(failed.error());
  result.set_line(failed.line());
  const absl::string_view error = failed.error();
  const bool of_triton = absl::StrContains(error, "triton");
  const bool absent = absl::StartsWith(error, "ModuleNotFoundError") ||
                      absl::StartsWith(error, "ImportError") ||
                      absl::StartsWith(error, "AttributeError");
  if (absent && !of_triton) {
    SetUnknown("import", result);
  } else if (ContainsAny(error, kDevice) && !of_triton) {
    SetUnknown("import:device", result);
  }
  return result;
}

}  // namespace kernelmill::compiler
