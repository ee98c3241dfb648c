#include "services/compiler/core/cuda/refusals.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/compiler/core/cuda/cpp_text.h"
#include "services/compiler/core/cuda/template_tries.h"
#include "services/compiler/core/refusals/harness_words.h"

namespace kernelmill::compiler::cuda {

// Reads NVRTC's messages. As in failures.cc, an error needs evidence: what this compiler lacks, or
// a build would have added, says nothing about the kernel.

namespace {

using absl::string_view;

// Returns what is between `before` and the next quote; empty if `before` does not.
string_view Quoted(string_view message, string_view before) {
  const size_t found = message.find(before);
  if (found == string_view::npos) return "";
  const string_view rest = message.substr(found + before.size());
  return rest.substr(0, rest.find('"'));
}

// Returns the places of a name in a text, as a whole word.
int CountWord(string_view text, string_view name) {
  int count = 0;
  for (size_t at = FindWord(text, name); at != string_view::npos; at = FindWord(text, name, at + 1))
    ++count;
  return count;
}

// Names of the runtime, the driver and vendors' intrinsics, and of macros.
bool IsOutsideName(string_view name) {
  for (const string_view prefix : {"cuda", "cu", "CU", "hip", "nv", "NV", "__", "std", "tma"}) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  bool macro = name.size() > 2;
  for (const char c : name)
    macro &= absl::ascii_isupper(static_cast<unsigned char>(c)) ||
             !absl::ascii_isalpha(static_cast<unsigned char>(c));
  return macro;
}

// Returns whether the module has the name under an #if, which may declare it for another build.
bool MayBeConditional(string_view module, string_view name) {
  return absl::StrContains(module, "#if") && CountWord(module, name) > 1;
}

// Returns what a message says is missing; empty if it says that the code is wrong.
std::string FindMissing(string_view module, string_view message) {
  if (const string_view header = Quoted(message, "cannot open source file \""); !header.empty()) {
    return absl::StrCat("header:", header);
  }
  if (absl::StrContains(message, "#error directive")) return "macro";
  if (absl::StrContains(message, "namespace \"std") ||
      absl::StrContains(message, "namespace \"cuda")) {
    const size_t member = message.find("has no member");
    if (member != string_view::npos)
      return absl::StrCat("name:std::", Quoted(message.substr(member), "\""));
  }
  const string_view name = Quoted(message, "identifier \"");
  if (!name.empty() && absl::StrContains(message, "undefined") &&
      (IsOutsideName(name) || MayBeConditional(module, name))) {
    return absl::StrCat("name:", name);
  }
  // A namespace, or a type in one, that no header here has: a library of another version.
  for (const string_view qualified :
       {"qualified name is not allowed", "must be a class or namespace name"}) {
    if (absl::StrContains(message, qualified)) return "name";
  }
  // Extensions of GNU's C++, which nvcc knows.
  if (absl::StrContains(message, "static and nonstatic member functions with same parameter") ||
      (absl::StartsWith(message, "expected an expression") && absl::StrContains(module, "({"))) {
    return "host";
  }
  // A build takes one of two files that define it.
  if (absl::StrContains(message, "has already been defined (previous")) return "macro";
  if (absl::StrContains(message, "cannot determine which instance")) return "template:";
  for (const string_view host : {"does not support exception handling", "__host__", "host function",
                                 "dynamic initialization", "NVRTC's status"}) {
    if (absl::StrContains(message, host)) return "host";
  }
  return "";
}

}  // namespace

v1::CompileResult JudgeReading(string_view module, const v1::ModuleImport& failed) {
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("frontend");
  result.set_message(failed.error());
  result.set_line(failed.line());
  const string_view error = failed.error();
  if (JudgeStageOfImport(error, result)) return result;
  if (std::string missing = FindMissing(module, error); !missing.empty()) {
    SetUnknown(std::move(missing), result);
  }
  return result;
}

void JudgeRefusal(string_view module, const v1::KernelSignature& signature, bool compiles_elsewhere,
                  v1::CompileResult& result) {
  const string_view message = result.message();
  if (std::string missing = compiler::FindMissing(result); !missing.empty()) {
    return SetUnknown(std::move(missing), result);
  }
  if (result.stage() == "frontend") {
    std::string missing = FindMissing(module, message);
    if (!missing.empty()) return SetUnknown(std::move(missing), result);
  }
  if (compiles_elsewhere) return;
  if (result.stage() == "assembler") {
    if (absl::StrContains(message, "requires .target") ||
        absl::StrContains(message, "not supported on .target")) {
      return;
    }
    if (absl::StrContains(message, "Unresolved extern")) return SetUnknown("library", result);
  }
  for (const v1::ConstexprValue& argument : signature.constexprs()) {
    if (!IsRead(argument.rule())) {
      return SetUnknown(absl::StrCat("template:", argument.name()), result);
    }
  }
  for (const v1::CompileOption& option : signature.options()) {
    if (option.name() == "define") return SetUnknown("macro", result);
  }
}

}  // namespace kernelmill::compiler::cuda
