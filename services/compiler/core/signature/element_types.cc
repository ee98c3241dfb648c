#include "services/compiler/core/signature/element_types.h"

namespace kernelmill::compiler {
namespace {

struct ElementType {
  absl::string_view element;
  absl::string_view torch;
  absl::string_view language;  // of Triton
};

constexpr ElementType kTypes[] = {{"fp64", "float64", "float64"},
                                  {"fp32", "float32", "float32"},
                                  {"fp16", "float16", "float16"},
                                  {"bf16", "bfloat16", "bfloat16"},
                                  {"i64", "int64", "int64"},
                                  {"i32", "int32", "int32"},
                                  {"i16", "int16", "int16"},
                                  {"i8", "int8", "int8"},
                                  {"u64", "uint64", "uint64"},
                                  {"u32", "uint32", "uint32"},
                                  {"u16", "uint16", "uint16"},
                                  {"u8", "uint8", "uint8"},
                                  {"i1", "bool", "int1"},
                                  {"fp8e4nv", "float8_e4m3fn", "float8e4nv"},
                                  {"fp8e5", "float8_e5m2", "float8e5"}};

// What PyTorch calls some of them too.
constexpr ElementType kAliases[] = {{"fp64", "double", ""}, {"fp32", "float", ""},
                                    {"fp16", "half", ""},   {"i64", "long", ""},
                                    {"i32", "int", ""},     {"i16", "short", ""}};

}  // namespace

std::string TritonType(absl::string_view name) {
  for (const ElementType& type : kTypes) {
    if (name == type.torch || name == type.language) return std::string(type.element);
  }
  for (const ElementType& alias : kAliases) {
    if (name == alias.torch) return std::string(alias.element);
  }
  return "";
}

absl::string_view TorchType(absl::string_view element) {
  for (const ElementType& type : kTypes) {
    if (element == type.element) return type.torch;
  }
  return "int32";
}

absl::string_view LanguageType(absl::string_view element) {
  for (const ElementType& type : kTypes) {
    if (element == type.element) return type.language;
  }
  return "float32";
}

}  // namespace kernelmill::compiler
