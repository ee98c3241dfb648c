#ifndef KERNELMILL_COMMON_WORDS_ENUM_WORDS_H_
#define KERNELMILL_COMMON_WORDS_ENUM_WORDS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/generated_enum_reflection.h>

#include <string>

namespace kernelmill {

// Returns the word that job files, rows and reports have for the value of an enum: "device" for
// KERNEL_ROLE_DEVICE; "" for the value 0, which is unspecified, and for a number that the enum
// lacks.
std::string GetEnumWord(const google::protobuf::EnumDescriptor& type, int number);

template <typename Enum>
std::string ToWord(Enum value) {
  return GetEnumWord(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_WORDS_ENUM_WORDS_H_
