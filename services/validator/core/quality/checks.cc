// The checks are deliberately shallow: names and calls, not meaning. A kernel with a mask argument
// passes has_bounds_masking even if the mask is wrong. They sort out code that cannot be a complete
// kernel; compilers and people judge the rest. A check that cannot apply to a kernel is exempt
// instead of failed (Exemption), so that requiring a check does not throw out whole languages.
#include "services/validator/core/quality/checks.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "services/validator/core/quality/code_facts.h"

namespace kernelmill::validator {
namespace {

v1::RuleResult MakeRule(absl::string_view check, v1::RuleResult::Outcome outcome,
                        std::string reason = "") {
  v1::RuleResult result;
  result.set_rule(std::string(check));
  result.set_outcome(outcome);
  result.set_reason(std::move(reason));
  return result;
}

const v1::CompileResult* FindFirst(v1::CompileStatus status, const v1::CompiledKernel& compiled) {
  const auto found =
      std::find_if(compiled.results().begin(), compiled.results().end(),
                   [&](const v1::CompileResult& result) { return result.status() == status; });
  return found == compiled.results().end() ? nullptr : &*found;
}

// Returns the outcome of a kernel about which compilers could not tell anything.
v1::RuleResult Untold(absl::string_view check, const v1::CompiledKernel& compiled) {
  if (!compiled.not_attempted().empty()) {
    return MakeRule(check, v1::RuleResult::OUTCOME_EXEMPT,
                    absl::StrCat("not compiled: ", compiled.not_attempted()));
  }
  const v1::CompileResult* unknown = FindFirst(v1::COMPILE_STATUS_UNKNOWN, compiled);
  return MakeRule(
      check, v1::RuleResult::OUTCOME_EXEMPT,
      absl::StrCat("unknown: ", unknown == nullptr ? "no result" : unknown->missing().c_str()));
}

// Passes if any compiler compiled it for any target; fails if none did and one refused it.
v1::RuleResult Compiles(absl::string_view check, const v1::CompiledKernel& compiled) {
  if (FindFirst(v1::COMPILE_STATUS_OK, compiled) != nullptr) {
    return MakeRule(check, v1::RuleResult::OUTCOME_PASS);
  }
  const v1::CompileResult* error = FindFirst(v1::COMPILE_STATUS_ERROR, compiled);
  if (error == nullptr) return Untold(check, compiled);
  // The compiler's message may quote the source, and a secret in it.
  return MakeRule(check, v1::RuleResult::OUTCOME_FAIL,
                  absl::StrCat(error->stage(), ": ", error->toolchain(), " for ", error->target()));
}

// Returns whether the module could not be loaded because something is missing that is not its own.
bool IsForeign(const v1::ModuleImport& failed, const v1::CompiledKernel& compiled) {
  return std::any_of(compiled.results().begin(), compiled.results().end(),
                     [&](const v1::CompileResult& result) {
                       return result.toolchain() == failed.toolchain() &&
                              result.status() == v1::COMPILE_STATUS_UNKNOWN;
                     });
}

// Passes if any toolchain loaded the module; fails if one could not because of the module itself.
v1::RuleResult Imports(absl::string_view check, const v1::CompiledKernel& compiled) {
  const v1::ModuleImport* failed = nullptr;
  for (const v1::ModuleImport& one : compiled.imports()) {
    if (one.ok()) return MakeRule(check, v1::RuleResult::OUTCOME_PASS);
    if (failed == nullptr && !IsForeign(one, compiled)) failed = &one;
  }
  if (failed == nullptr) return Untold(check, compiled);
  return MakeRule(check, v1::RuleResult::OUTCOME_FAIL,
                  absl::StrCat("import: ", failed->toolchain()));
}

}  // namespace

v1::RuleResult CompilerRule(absl::string_view check, const v1::CompiledKernel& compiled) {
  return check == "compiles" ? Compiles(check, compiled) : Imports(check, compiled);
}

namespace {

using code::Language;
using code::Lex;
using code::Token;

template <typename List>
bool IsIn(const List& list, absl::string_view word) {
  return absl::c_any_of(list, [&](absl::string_view entry) { return entry == word; });
}

// Returns other names of jit: "jit as kernel" in an import statement makes kernel one.
std::set<std::string> JitAliases(const v1::Kernel& kernel) {
  std::set<std::string> aliases;
  for (const std::string& statement : kernel.imports()) {
    const std::vector<Token> tokens = Lex(statement, Language::kPython);
    for (size_t i = 2; i < tokens.size(); ++i) {
      if (tokens[i - 2].text == "jit" && tokens[i - 1].text == "as") {
        aliases.emplace(tokens[i].text);
      }
    }
  }
  return aliases;
}

// Returns the dotted name at the beginning of a decorator's text.
std::string DecoratorName(absl::string_view decorator) {
  std::string name;
  for (const Token& token : Lex(decorator, Language::kPython)) {
    const bool part =
        token.kind == Token::kName || (token.kind == Token::kOperator && token.text == ".");
    if (token.kind == Token::kComment) continue;
    if (!part) break;
    absl::StrAppend(&name, token.text);
  }
  return name;
}

// Returns whether something makes the function a kernel: an own decorator that ends in jit and
// belongs to Triton or to a project's wrapper.
bool HasJit(const v1::Kernel& kernel) {
  // The extractor found the jit in a wrapper or a call, which this text does not show.
  const bool elsewhere =
      kernel.form() == v1::KERNEL_FORM_WRAPPED || kernel.form() == v1::KERNEL_FORM_CALLED;
  if (elsewhere && kernel.dsl() != dsl::kPallas) return true;
  const std::set<std::string> aliases = JitAliases(kernel);
  return absl::c_any_of(kernel.decorators(), [&](absl::string_view decorator) {
    const std::string name = DecoratorName(decorator);
    if (aliases.contains(name)) return true;
    const absl::string_view last = LastPart(name);
    return (last == "jit" || absl::EndsWith(last, "_jit")) && !dsl::IsOtherJit(FirstPart(name));
  });
}

// Returns whether a call of this name keeps accesses within bounds by itself.
bool IsMasking(absl::string_view name) {
  const absl::string_view last = LastPart(name);
  if (last == "masked_load" || last == "masked_store") return true;
  if (last == "where")
    return !IsIn(std::vector<absl::string_view>{"np", "numpy", "torch"}, FirstPart(name));
  return IsDescriptorAccess(name);
}

// Returns whether a call of this name loads or stores.
bool IsMemoryAccess(absl::string_view name) {
  static constexpr const char* kNames[] = {"load",         "store",        "make_block_ptr",
                                           "buffer_load",  "buffer_store", "masked_load",
                                           "masked_store", "gather",       "scatter"};
  const absl::string_view last = LastPart(name);
  return IsIn(kNames, last) || absl::StartsWith(last, "atomic_") ||
         absl::StartsWith(last, "buffer_atomic_") || absl::StartsWith(last, "async_copy_") ||
         IsDescriptorAccess(name);
}

// Returns whether a name is that of a block's size: BLOCK, BLOCK_M, BLOCKSIZE, XBLOCK, N_BLOCK,
// X_BLOCK_SIZE, block_size; not block_ptr.
bool IsBlockSize(absl::string_view name) {
  if (absl::StartsWith(name, "BLOCK") || absl::EndsWith(name, "BLOCK") ||
      absl::StrContains(name, "_BLOCK_")) {
    return true;
  }
  if (absl::StartsWith(name, "block_ptr")) return false;
  return absl::StartsWith(name, "block_") || absl::EndsWith(name, "_block_size") ||
         name == "blocksize";
}

// Returns whether the kernel has such a name, or a constexpr of any name that shapes a tile: BT,
// HEAD_DIM.
bool HasBlockSize(const v1::Kernel& kernel, const CodeFacts& closure) {
  const CodeFacts own = ReadCode(kernel.source());
  std::set<absl::string_view> constants(closure.constexpr_names.begin(),
                                        closure.constexpr_names.end());
  constants.insert(own.constexpr_names.begin(), own.constexpr_names.end());
  for (const v1::Parameter& parameter : kernel.parameters()) {
    if (IsBlockSize(parameter.name())) return true;
    if (parameter.role() == v1::PARAMETER_ROLE_CONSTEXPR) constants.insert(parameter.name());
  }
  const auto constant = [&](absl::string_view name) { return constants.contains(name); };
  return absl::c_any_of(own.names, IsBlockSize) || absl::c_any_of(own.tile_names, constant) ||
         absl::c_any_of(closure.tile_names, constant);
}

}  // namespace

// The module has the kernel with its helpers, so a helper that masks for its caller counts.
CodeFacts ReadClosure(const v1::Kernel& kernel) {
  if (!kernel.module().empty()) return ReadCode(kernel.module());
  const absl::string_view source = kernel.source();
  const int64_t offset = kernel.body_offset();
  const bool inside = offset > 0 && offset <= static_cast<int64_t>(source.size());
  return ReadCode(inside ? source.substr(offset) : source);
}

// Fills in the checks that the code alone decides. `closure` is the code of the whole module; calls
// in either count.
v1::Checks CheckKernel(const v1::Kernel& kernel, const CodeFacts& closure) {
  const auto calls_any = [&](bool (*matches)(absl::string_view)) {
    return absl::c_any_of(kernel.calls(), matches) ||
           absl::c_any_of(closure.calls, [&](const Call& call) { return matches(call.callee); });
  };
  v1::Checks checks;
  checks.set_has_triton_jit(HasJit(kernel));
  checks.set_has_bounds_masking(calls_any(IsMasking) || absl::c_any_of(closure.calls, IsMasked));
  checks.set_has_program_id(
      calls_any([](absl::string_view name) { return LastPart(name) == "program_id"; }));
  checks.set_has_block_size(HasBlockSize(kernel, closure));
  checks.set_has_load_store(calls_any(IsMemoryAccess));
  checks.set_has_docstring(!absl::StripAsciiWhitespace(kernel.docstring()).empty());
  checks.set_parses(!kernel.parse_error());
  checks.set_self_contained(kernel.self_contained());
  return checks;
}

// The checks are the fields of the message, in its order, so that a new check needs no second list.
const std::vector<std::string>& CheckNames() {
  static const auto* const names = [] {
    auto* list = new std::vector<std::string>;
    const google::protobuf::Descriptor& descriptor = *v1::Checks::descriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      list->push_back(descriptor.field(i)->name());
    }
    return list;
  }();
  return *names;
}

absl::Status CheckIsKnown(absl::string_view check) {
  if (IsIn(CheckNames(), check)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("quality.require: unknown check \"", check, "\""));
}

bool Passes(const v1::Checks& checks, absl::string_view check) {
  const auto* field = v1::Checks::descriptor()->FindFieldByName(std::string(check));
  return field != nullptr && checks.GetReflection()->GetBool(checks, field);
}

// The has_ checks were made for Triton. They do not apply to CUDA and, except for the docstring, to
// other languages: in Pallas, for example, BlockSpec does what masks and program_id do.
absl::string_view Exemption(absl::string_view check, const v1::Kernel& kernel) {
  if (kernel.form() == v1::KERNEL_FORM_FILE) {
    const bool of_files =
        check == "license_permissive" || check == "handwritten" || check == "readable";
    return of_files ? "" : "whole file";
  }
  if (!absl::StartsWith(check, "has_")) return "";
  const dsl::Language* const language = dsl::FindLanguage(kernel.dsl());
  if (language != nullptr && language->syntax == code::Language::kC) return language->title;
  if (check == "has_docstring") return "";
  if (language != nullptr && !language->compiles_as_triton) return language->title;
  return kernel.role() == v1::KERNEL_ROLE_DEVICE && check != "has_triton_jit" ? "device function"
                                                                              : "";
}

}  // namespace kernelmill::validator
