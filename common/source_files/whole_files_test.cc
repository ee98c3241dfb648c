#include "common/source_files/whole_files.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/string_view.h"
#include "common/dsl/names.h"

namespace kernelmill::source_files {
namespace {

TEST(WholeFileProblem, TextOfAnyEncodingIsNone) {
  EXPECT_EQ(WholeFileProblem("import torch\n"), "");
  EXPECT_EQ(WholeFileProblem("caf\xe9\n"), "");
  EXPECT_EQ(WholeFileProblem(std::string(kMaxWholeFileBytes, 'x')), "");
}

TEST(WholeFileProblem, NamesWhatIsNoTextToTrainOn) {
  EXPECT_EQ(WholeFileProblem(absl::string_view("PK\3\4\0x", 6)), "binary");
  EXPECT_EQ(WholeFileProblem(std::string(kMaxWholeFileBytes + 1, 'x')), "too_large");
  EXPECT_EQ(WholeFileProblem(" \n\t\r\n"), "empty");
  EXPECT_EQ(WholeFileProblem(""), "empty");
}

TEST(LanguageOfFile, GoesByNameAndEnding) {
  EXPECT_EQ(LanguageOfFile("torch/_inductor/codegen/triton.py"), "python");
  EXPECT_EQ(LanguageOfFile("a/B.CUH"), "cuda");
  EXPECT_EQ(LanguageOfFile("lib/CMakeLists.txt"), "cmake");
  EXPECT_EQ(LanguageOfFile("notes.txt"), "text");
  EXPECT_EQ(LanguageOfFile("a.py/plain"), "");
  EXPECT_EQ(LanguageOfFile("\xff.\xfe"), "");
}

TEST(LexedAs, AWholeFileGoesByItsNameAndAKernelByItsLanguage) {
  v1::Kernel kernel;
  kernel.set_path("lib/Lowering.td");
  EXPECT_EQ(LexedAs(kernel), code::Language::kPython);
  kernel.set_form(v1::KERNEL_FORM_FILE);
  EXPECT_EQ(LexedAs(kernel), code::Language::kC);
  kernel.set_path("lowering.py");
  kernel.set_dsl(dsl::kCuda);
  EXPECT_EQ(LexedAs(kernel), code::Language::kPython);
}

TEST(IsLexed, ProseAndDataAreNot) {
  EXPECT_TRUE(IsLexed("python"));
  EXPECT_TRUE(IsLexed("c++"));
  EXPECT_FALSE(IsLexed("markdown"));
  EXPECT_FALSE(IsLexed(""));
}

}  // namespace
}  // namespace kernelmill::source_files
