#include "services/compiler/core/signature/names.h"

#include <gtest/gtest.h>

namespace kernelmill::compiler {
namespace {

TEST(ElementTypesTest, PyTorchAndTritonsLanguageNameOneType) {
  EXPECT_EQ(TritonType("float8_e4m3fn"), "fp8e4nv");
  EXPECT_EQ(TritonType("float8e4nv"), "fp8e4nv");
  EXPECT_EQ(TritonType("bool"), "i1");
  EXPECT_EQ(TritonType("int1"), "i1");
  EXPECT_EQ(TritonType("half"), "fp16");
  EXPECT_EQ(TritonType("Tensor"), "");
}

TEST(ElementTypesTest, AnElementHasANameForEach) {
  EXPECT_EQ(TorchType("i1"), "bool");
  EXPECT_EQ(LanguageType("i1"), "int1");
  EXPECT_EQ(TorchType("fp8e5"), "float8_e5m2");
  EXPECT_EQ(LanguageType("fp8e5"), "float8e5");
  EXPECT_EQ(TorchType("?"), "int32");
  EXPECT_EQ(LanguageType("?"), "float32");
}

}  // namespace
}  // namespace kernelmill::compiler
