#include "services/compiler/core/failures.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/branches.h"
#include "services/compiler/core/refusals/harness_words.h"
#include "services/compiler/core/signature/rules.h"
#include "services/compiler/core/signature/second_guesses.h"

namespace kernelmill::compiler {

// Reads the messages of compilers. The basic idea: a wrong guess of ours must never count as an
// error of the kernel. An error therefore needs evidence: a message about code that Triton never
// takes, a target that alone refuses the try, or a signature without guesses. Everything else is
// unknown, with what was missing. The lists below are fragments of messages of Triton's versions; a
// message that no list knows is judged by the signature alone.

namespace {

template <size_t N>
bool ContainsAny(absl::string_view text, const absl::string_view (&fragments)[N]) {
  return std::any_of(std::begin(fragments), std::end(fragments),
                     [&](absl::string_view fragment) { return absl::StrContains(text, fragment); });
}

// Messages of Triton's frontend about code that it never takes.
constexpr absl::string_view kNeverTaken[] = {
    "unsupported AST node type",
    "Cannot access global variable",
    "got an unexpected keyword argument",
    "missing a required argument",
    "required positional argument",
    "takes no arguments",
    "positional arguments but",
    "takes from",
    "has been removed",
    "have been removed",
    "invalid syntax",
    "unexpected indent",
    "nested functions are not supported",
    "Unsupported function referenced",
    "Unsupported nested",
    "cannot import name",
    "cannot be used in a `triton.jit`",
    "cannot be a @triton.jit function",
    "libtriton.ir.builder' object has no attribute",
    "Did you forget to add @triton.jit",
    "'dtype' object is not callable",
    "__setitem__ is not supported",
    "unsupported tensor index: <triton.language.core.slice",
    "'tuple_type' object has no attribute",
    "isn't known in this MLIRContext",  // another vendor's operation
    "cannot be specified for loading block pointers",
    "invalid intrinsic shape",  // an AMD layout of another version
};

// Words of an error of a module that asks for a device, a driver or a file when it is loaded.
constexpr absl::string_view kDevice[] = {
    "driver", "CUDA",  "cuda", "GPU", "device", "No such file", "Permission denied",
    "HIP",    "active"};

// The name of the argument whose type or value is least certain, of those that the message speaks
// of if it does of any. If certainties are equal, the first argument counts; constexprs come first
// if the message is about shapes, and last if it is not.
std::string LeastCertain(const v1::KernelSignature& signature, absl::string_view message) {
  std::string found;
  // More than any Certainty.
  int least = 3;
  const auto offer = [&](absl::string_view what, absl::string_view name, absl::string_view rule) {
    // A name in the message wins over every certainty.
    const bool named = absl::StrContains(message, absl::StrCat("'", name, "'"));
    const int certainty = named ? -1 : static_cast<int>(GetCertainty(rule));
    if (certainty >= least) return;
    least = certainty;
    found = absl::StrCat(what, ":", name);
  };
  const bool of_shapes = IsAboutShapes(message);
  for (const bool constexprs : {of_shapes, !of_shapes}) {
    if (constexprs) {
      for (const v1::ConstexprValue& value : signature.constexprs())
        offer("constexpr", value.name(), value.rule());
    } else {
      for (const v1::ArgumentType& argument : signature.arguments())
        offer("type", argument.name(), argument.rule());
    }
  }
  return found;
}

bool IsGuessed(absl::string_view rule) { return GetCertainty(rule) == Certainty::kGuessed; }

bool HasGuessedConstexpr(const v1::KernelSignature& signature) {
  return std::any_of(signature.constexprs().begin(), signature.constexprs().end(),
                     [](const v1::ConstexprValue& value) { return IsGuessed(value.rule()); });
}

// An argument whose type begins so: "tensordesc", "(" of a tuple.
bool HasArgument(const v1::KernelSignature& signature, absl::string_view type) {
  return std::any_of(
      signature.arguments().begin(), signature.arguments().end(),
      [&](const v1::ArgumentType& argument) { return absl::StartsWith(argument.type(), type); });
}

bool HasGuess(const v1::KernelSignature& signature) {
  return HasGuessedConstexpr(signature) ||
         std::any_of(signature.arguments().begin(), signature.arguments().end(),
                     [](const v1::ArgumentType& argument) { return IsGuessed(argument.rule()); });
}

}  // namespace

// Returns whether a name of a condition has another value at another launch. A local name, and the
// parameter of a helper, may.
bool MayDiffer(const v1::KernelSignature& signature, const python::ParsedText& module,
               const python::Bindings& bindings, absl::string_view name) {
  for (const v1::ConstexprValue& value : signature.constexprs())
    if (value.name() == name) return MayDiffer(value.rule());
  for (const v1::ArgumentType& argument : signature.arguments())
    if (argument.name() == name) return MayDiffer(argument.rule());
  const auto imported = module.imports().Origins();
  return !bindings.Defines(name) && !python::IsBuiltin(name) &&
         std::none_of(imported.begin(), imported.end(),
                      [&](const auto& origin) { return origin.first == name; });
}

// Returns whether the compiler may not come to the line at another launch: the kernel may be right
// for all that it is launched with.
bool IsOfThisTry(absl::string_view text, int line, const v1::KernelSignature& signature) {
  if (line <= 0) return false;
  const auto module = python::ParsedText::Parse(text, python::StandardParser());
  if (!module.ok() || line > (*module)->lines().count()) return false;
  const python::SyntaxTree& tree = (*module)->tree();
  const size_t code = tree.text().find_first_not_of(" \t", (*module)->lines().Begin(line));
  if (code == absl::string_view::npos) return false;
  const python::Bindings bindings(tree);
  const std::vector<python::Branch> branches = python::FindBranches(tree, code);
  return std::any_of(branches.begin(), branches.end(), [&](const python::Branch& branch) {
    const auto names = tree.Of(python::Kind::kIdentifier, branch.condition);
    return std::any_of(names.begin(), names.end(), [&](python::NodeId name) {
      // x of a.x is no name.
      if (tree[name].field == python::Field::kAttribute) return false;
      return MayDiffer(signature, **module, bindings, tree.GetText(name));
    });
  });
}

// Returns whether any scope of the module binds the name; true as well if no parser reads the
// module.
bool Binds(absl::string_view module, absl::string_view name) {
  const auto parsed = python::ParsedText::Parse(module, python::StandardParser());
  return !parsed.ok() || python::Bindings((*parsed)->tree()).BindsAnywhere(name);
}

// The list comes last: our own stand-ins raise errors that read like those of broken code.
bool NoSignatureHelps(absl::string_view message) {
  // Our replacement for a package that is not installed beside the compiler.
  if (IsAboutStandIn(message)) return false;
  // An attribute of a value depends on what the value is; one of Triton's modules does not.
  const bool attribute = absl::StrContains(message, "has no attribute") &&
                         absl::StrContains(message, "module 'triton");
  return attribute || ContainsAny(message, kNeverTaken);
}

// A return that sets nothing leaves the result an error.
void JudgeFailure(absl::string_view module, const v1::KernelSignature& signature,
                  bool compiles_elsewhere, v1::CompileResult& result) {
  const absl::string_view message = result.message();
  if (absl::StartsWith(message, "no value for ") || absl::StartsWith(message, "neither a type ")) {
    return SetUnknown(LeastCertain(signature, message), result);
  }
  const std::string missing = FindMissing(result);
  // A stand-in may be a guess's.
  if (!missing.empty() && missing != "import") return SetUnknown(missing, result);
  if (compiles_elsewhere) return;
  if (IsOfThisTry(module, result.line(), signature)) {
    return SetUnknown(LeastCertain(signature, message), result);
  }
  // An instruction that the kernel writes itself.
  if (result.stage() == "assembler" && absl::StrContains(message, "not supported on .target")) {
    return;
  }
  if (result.stage() == "assembler" && absl::StrContains(message, "Unresolved extern function")) {
    return SetUnknown("library", result);
  }
  // Triton's own passes break on what the code does, whatever it is called with.
  if (result.stage() == "passes" && absl::StrContains(message, "destroyed but still has uses")) {
    return;
  }
  const bool of_guessed_tuple = HasArgument(signature, "(") && absl::StrContains(message, "tuple");
  if (result.stage() == "frontend" && !of_guessed_tuple && NoSignatureHelps(message)) return;
  // No constexpr was guessed.
  const bool told = !HasGuessedConstexpr(signature);
  // A name may be bound under a flag alone.
  if (const absl::string_view name = FindUndefinedName(message); !name.empty()) {
    if (told || !Binds(module, name)) return;
  }
  if (told && !HasArgument(signature, "tensordesc") && IsAboutShapes(message)) return;
  if (HasGuess(signature)) return SetUnknown(LeastCertain(signature, result.message()), result);
}

// An error is the default; the other rows of the header make it unknown or change its stage.
v1::CompileResult JudgeImport(const v1::ModuleImport& failed,
                              absl::Span<const absl::string_view> own) {
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("import");
  result.set_message(failed.error());
  result.set_line(failed.line());
  const absl::string_view error = failed.error();
  if (JudgeStageOfImport(error, result)) return result;
  const bool of_own = std::any_of(own.begin(), own.end(), [&](absl::string_view word) {
    return absl::StrContains(error, word);
  });
  const bool absent = absl::StartsWith(error, "ModuleNotFoundError") ||
                      absl::StartsWith(error, "ImportError") ||
                      absl::StartsWith(error, "AttributeError");
  // A stand-in that the module took for a value.
  const bool stand_in = absl::StrContains(error, "which is not installed");
  if (stand_in || (absent && !of_own)) {
    SetUnknown("import", result);
  } else if (ContainsAny(error, kDevice) && !of_own) {
    SetUnknown("import:device", result);
  }
  return result;
}

}  // namespace kernelmill::compiler
