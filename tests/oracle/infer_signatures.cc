// infer_signatures PACK: extracts and links the Python files of a source, and prints for each
// kernel what its record and the compiler know of its parameters. infer_signatures.py makes the
// packs.
//
// A pack is records of "PATH\nSIZE\n" and so many bytes. A kernel's lines:
//
//   kernel PATH:LINE NAME
//   role NAME ROLE RULE              each parameter, as the record has it
//   missing WORD                     the compiler cannot infer a signature
//   try N                            each signature, in the order in which it is tried
//   argument NAME TYPE RULE [/16]    /16: a multiple of 16
//   constexpr NAME VALUE RULE
//   option NAME VALUE RULE
#include <cstdio>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/python/parse/python_parser.h"
#include "common/python/usage/usage_rules.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/compiler/core/signature/infer.h"
#include "services/compiler/core/signature/rules.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/core/link/link.h"

namespace kernelmill {
namespace {

absl::StatusOr<v1::FileShard> Unpack(absl::string_view pack) {
  v1::FileShard shard;
  while (!pack.empty()) {
    const size_t path = pack.find('\n');
    const size_t size = path == pack.npos ? pack.npos : pack.find('\n', path + 1);
    uint64_t bytes = 0;
    if (size == pack.npos || !absl::SimpleAtoi(pack.substr(path + 1, size - path - 1), &bytes) ||
        bytes > pack.size() - size - 1) {
      return absl::InvalidArgumentError("not a pack");
    }
    v1::SourceFile& file = *shard.add_files();
    file.set_path(std::string(pack.substr(0, path)));
    file.set_content(std::string(pack.substr(size + 1, bytes)));
    pack.remove_prefix(size + 1 + bytes);
  }
  return shard;
}

// Fails on a rule that the table of rules does not have.
absl::Status CheckRule(absl::string_view rule, bool known) {
  return known ? absl::OkStatus() : absl::InternalError(absl::StrCat("unknown rule ", rule));
}

// A role's rule: "helper:..." has that of the helper's parameter.
absl::Status CheckRoleRule(absl::string_view rule) {
  const absl::string_view own = absl::StripPrefix(rule, "helper:");
  const python::UsageRuleInfo* usage = python::FindUsageRule(own);
  const bool other =
      own == "none" || absl::StartsWith(own, "annotation:") || absl::StartsWith(own, "name:");
  return CheckRule(rule, other || (usage != nullptr && usage->role[0] != '\0'));
}

absl::Status CheckRules(const v1::KernelSignature& signature) {
  for (const v1::ArgumentType& argument : signature.arguments())
    RETURN_IF_ERROR(CheckRule(argument.rule(), compiler::IsKnownRule(argument.rule())));
  for (const v1::ConstexprValue& value : signature.constexprs())
    RETURN_IF_ERROR(CheckRule(value.rule(), compiler::IsKnownRule(value.rule())));
  for (const v1::CompileOption& option : signature.options())
    RETURN_IF_ERROR(CheckRule(option.rule(), compiler::IsKnownRule(option.rule())));
  return absl::OkStatus();
}

void PrintSignature(const v1::KernelSignature& signature) {
  std::printf("try %d\n", signature.attempt());
  for (const v1::ArgumentType& argument : signature.arguments()) {
    std::printf("argument %s %s %s%s\n", argument.name().c_str(), argument.type().c_str(),
                argument.rule().c_str(), argument.divisible_by_16() ? " /16" : "");
  }
  for (const v1::ConstexprValue& value : signature.constexprs()) {
    std::printf("constexpr %s %s %s\n", value.name().c_str(), absl::CEscape(value.value()).c_str(),
                value.rule().c_str());
  }
  for (const v1::CompileOption& option : signature.options()) {
    std::printf("option %s %s %s\n", option.name().c_str(), option.value().c_str(),
                option.rule().c_str());
  }
}

absl::Status PrintKernel(const v1::Kernel& kernel) {
  std::printf("kernel %s:%d %s\n", kernel.path().c_str(), kernel.first_line(),
              kernel.name().c_str());
  for (const v1::Parameter& parameter : kernel.parameters()) {
    RETURN_IF_ERROR(CheckRoleRule(parameter.rule()));
    std::printf("role %s %s %s\n", parameter.name().c_str(),
                v1::ParameterRole_Name(parameter.role()).c_str(), parameter.rule().c_str());
  }
  if (kernel.module().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const compiler::Inference inference, compiler::Inference::Infer(kernel));
  if (!inference.missing().empty()) std::printf("missing %s\n", inference.missing().c_str());
  for (const v1::KernelSignature& signature : inference.tries()) {
    RETURN_IF_ERROR(CheckRules(signature));
    PrintSignature(signature);
  }
  return absl::OkStatus();
}

absl::Status Run(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string pack, ReadFile(path, int64_t{1} << 30));
  ASSIGN_OR_RETURN(const v1::FileShard files, Unpack(pack));
  ASSIGN_OR_RETURN(const v1::KernelShard extracted,
                   extractor::ExtractKernels(files, python::StandardParser()));
  ASSIGN_OR_RETURN(const v1::KernelShard linked, extractor::LinkSource(extracted));
  for (const v1::Kernel& kernel : linked.kernels()) RETURN_IF_ERROR(PrintKernel(kernel));
  return absl::OkStatus();
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: infer_signatures PACK\n");
    return 2;
  }
  const absl::Status done = kernelmill::Run(argv[1]);
  if (done.ok()) return 0;
  std::fprintf(stderr, "infer_signatures: %s\n", done.ToString().c_str());
  return 1;
}
