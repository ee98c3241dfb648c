#include "dataset/rows/field_builders.h"

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace kernelmill::dataset {

std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor* type,
                                 absl::string_view prefix) {
  std::vector<std::string> words;
  for (int i = 0; i < type->value_count(); ++i) {
    if (type->value(i)->number() == 0) continue;
    words.push_back(absl::AsciiStrToLower(absl::StripPrefix(type->value(i)->name(), prefix)));
  }
  return words;
}

}  // namespace kernelmill::dataset
