#include "services/validator/core/quality/checks.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "services/validator/core/quality/mask_coverage.h"

namespace kernelmill::validator {
namespace {

using code::Language;
using code::Lex;
using code::Token;

template <typename List>
bool IsIn(const List& list, absl::string_view word) {
  return absl::c_any_of(list, [&](absl::string_view entry) { return entry == word; });
}

// "jit as kernel" in the import statements makes kernel a name of jit.
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

// The dotted name with which a decorator's text begins.
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

bool HasJit(const v1::Kernel& kernel) {
  // Extraction found the jit where this text does not show it: behind a wrapper or in a call.
  const bool elsewhere =
      kernel.form() == v1::KERNEL_FORM_WRAPPED || kernel.form() == v1::KERNEL_FORM_CALLED;
  if (elsewhere && kernel.dsl() != v1::DSL_PALLAS) return true;
  const std::set<std::string> aliases = JitAliases(kernel);
  return absl::c_any_of(kernel.decorators(), [&](absl::string_view decorator) {
    const std::string name = DecoratorName(decorator);
    if (aliases.contains(name)) return true;
    const absl::string_view last = LastPart(name);
    return (last == "jit" || absl::EndsWith(last, "_jit")) && !dsl::IsOtherJit(FirstPart(name));
  });
}

bool IsMasking(absl::string_view name) {
  const absl::string_view last = LastPart(name);
  if (last == "masked_load" || last == "masked_store") return true;
  if (last == "where")
    return !IsIn(std::vector<absl::string_view>{"np", "numpy", "torch"}, FirstPart(name));
  return IsDescriptorAccess(name);
}

bool IsMemoryAccess(absl::string_view name) {
  static constexpr const char* kNames[] = {"load",         "store",        "make_block_ptr",
                                           "buffer_load",  "buffer_store", "masked_load",
                                           "masked_store", "gather",       "scatter"};
  const absl::string_view last = LastPart(name);
  return IsIn(kNames, last) || absl::StartsWith(last, "atomic_") ||
         absl::StartsWith(last, "buffer_atomic_") || absl::StartsWith(last, "async_copy_") ||
         IsDescriptorAccess(name);
}

// BLOCK, BLOCK_M, BLOCKSIZE, XBLOCK, N_BLOCK, X_BLOCK_SIZE, block_size; not block_ptr.
bool IsBlockSize(absl::string_view name) {
  if (absl::StartsWith(name, "BLOCK") || absl::EndsWith(name, "BLOCK") ||
      absl::StrContains(name, "_BLOCK_")) {
    return true;
  }
  if (absl::StartsWith(name, "block_ptr")) return false;
  return absl::StartsWith(name, "block_") || absl::EndsWith(name, "_block_size") ||
         name == "blocksize";
}

// A name of a block's size, or one that is constexpr and shapes a tile, whatever it is called: BT,
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

CodeFacts ReadClosure(const v1::Kernel& kernel) {
  if (!kernel.module().empty()) return ReadCode(kernel.module());
  const absl::string_view source = kernel.source();
  const int64_t offset = kernel.body_offset();
  const bool inside = offset > 0 && offset <= static_cast<int64_t>(source.size());
  return ReadCode(inside ? source.substr(offset) : source);
}

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
  return absl::InvalidArgumentError(absl::StrCat("no check is named \"", check, "\""));
}

bool Passes(const v1::Checks& checks, absl::string_view check) {
  const auto* field = v1::Checks::descriptor()->FindFieldByName(std::string(check));
  return field != nullptr && checks.GetReflection()->GetBool(checks, field);
}

absl::string_view Exemption(absl::string_view check, const v1::Kernel& kernel) {
  if (kernel.form() == v1::KERNEL_FORM_FILE) {
    const bool of_files =
        check == "license_permissive" || check == "handwritten" || check == "readable";
    return of_files ? "" : "whole file";
  }
  if (!absl::StartsWith(check, "has_")) return "";
  if (kernel.dsl() == v1::DSL_CUDA) return "CUDA";
  if (check == "has_docstring") return "";
  if (kernel.dsl() == v1::DSL_PALLAS) return "Pallas";
  return kernel.role() == v1::KERNEL_ROLE_DEVICE && check != "has_triton_jit" ? "device function"
                                                                              : "";
}

}  // namespace kernelmill::validator
