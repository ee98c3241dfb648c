#include "services/compiler/core/signature/read_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::compiler {

using python::ParsedText;
using python::StandardParser;

absl::StatusOr<ReadText> ReadText::Read(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<const ParsedText>> parsed =
      ParsedText::Parse(text, StandardParser());
  if (absl::IsResourceExhausted(parsed.status())) parsed = ParsedText::Parse("", StandardParser());
  RETURN_IF_ERROR(parsed.status());
  return ReadText(*std::move(parsed));
}

absl::StatusOr<ReadText> ReadText::ReadFunction(absl::string_view text) {
  if (!absl::StartsWith(text, " ") && !absl::StartsWith(text, "\t")) return Read(text);
  auto own = std::make_unique<const std::string>(absl::StrCat("class C:\n", text));
  ASSIGN_OR_RETURN(ReadText read, Read(*own));
  read.own_ = std::move(own);
  return read;
}

std::vector<absl::string_view> GetParameterNames(const python::Function& function) {
  std::vector<absl::string_view> names;
  for (const python::FunctionParameter& parameter : function.parameters) {
    names.push_back(parameter.name);
  }
  return names;
}

}  // namespace kernelmill::compiler
