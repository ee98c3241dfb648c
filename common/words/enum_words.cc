#include "common/words/enum_words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace kernelmill {
namespace {

// "KERNEL_ROLE_" of KernelRole: the names of an enum's values begin with it.
std::string GetPrefix(const google::protobuf::EnumDescriptor& type) {
  std::string prefix;
  for (const char c : type.name()) {
    if (absl::ascii_isupper(c) && !prefix.empty()) prefix += '_';
    prefix += absl::ascii_toupper(c);
  }
  return prefix + "_";
}

}  // namespace

std::string GetEnumWord(const google::protobuf::EnumDescriptor& type, int number) {
  const google::protobuf::EnumValueDescriptor* const value = type.FindValueByNumber(number);
  if (number == 0 || value == nullptr) return "";
  return absl::AsciiStrToLower(absl::StripPrefix(value->name(), GetPrefix(type)));
}

}  // namespace kernelmill
