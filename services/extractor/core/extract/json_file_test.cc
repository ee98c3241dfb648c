// Kernels in the strings of JSON files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "common/dsl/names.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {

using python::StandardParser;
using python::SyntaxTree;

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::string_view kCode =
    "import triton\n"
    "import triton.language as tl\n"
    "\n"
    "N = 4\n"
    "\n"
    "@triton.jit\n"
    "def kernel(x_ptr):\n"
    "    tl.store(x_ptr, N)\n";
constexpr absl::string_view kCudaCode =
    "#include <cuda.h>\n"
    "__global__ void add(int* x) {\n"
    "  *x += 1;  // it's done\n"
    "}\n";

std::string Named(absl::string_view name) { return absl::StrReplaceAll(kCode, {{"kernel", name}}); }

// "qualname POINTER first-last" of every kernel.
std::vector<std::string> Places(const v1::KernelShard& shard) {
  std::vector<std::string> places;
  for (const v1::Kernel& kernel : shard.kernels()) {
    EXPECT_TRUE(kernel.has_json_pointer());
    places.push_back(absl::StrCat(kernel.qualname(), " ", kernel.json_pointer(), " ",
                                  kernel.first_line(), "-", kernel.last_line()));
  }
  return places;
}

// "LINE REASON" of every skipped string of the first file.
std::vector<std::string> Skipped(const v1::KernelShard& shard) {
  std::vector<std::string> skipped;
  for (const v1::SkippedString& string : shard.files(0).skipped_strings()) {
    skipped.push_back(absl::StrCat(string.line(), " ", string.reason()));
  }
  return skipped;
}

v1::KernelShard ExtractJson(const std::string& text) { return ExtractFiles({{"a.json", text}}); }

TEST(JsonFileTest, AKernelIsASpanOfWhatItsStringStandsFor) {
  const v1::KernelShard shard =
      ExtractJson(absl::StrCat("[\n {\"name\": \"x\", \"code\": ", JsonString(kCode), "}\n]\n"));
  EXPECT_THAT(Places(shard), ElementsAre("kernel /0/code 6-8"));
  const v1::Kernel& kernel = shard.kernels(0);
  const std::string span(kCode.substr(kCode.find("@triton")));
  EXPECT_EQ(kernel.source(), span);
  EXPECT_EQ(kernel.sha256(), Sha256Hex(span));
  EXPECT_EQ(kernel.first_byte(), static_cast<int64_t>(kCode.find("@triton")));
  EXPECT_EQ(kernel.string_begin(), 26);
  EXPECT_EQ(kernel.path(), "a.json");
  EXPECT_EQ(shard.files(0).kernels(), 1);
  EXPECT_FALSE(shard.files(0).parse_errors());
  EXPECT_EQ(shard.files(0).lines(), 3);
}

TEST(JsonFileTest, EveryLineOfAJsonlFileIsNamedByItsNumber) {
  const std::string line = absl::StrCat("{\"code\": ", JsonString(kCode), "}\n");
  const std::string text = absl::StrCat(line, "\n{\"code\": 1}\n", line);
  const v1::KernelShard shard = ExtractFiles({{"a.jsonl", text}});
  EXPECT_THAT(Places(shard), ElementsAre("kernel /1/code 6-8", "kernel /4/code 6-8"));
}

TEST(JsonFileTest, AWholeFileMayBeOneString) {
  const v1::KernelShard shard = ExtractJson(JsonString(kCode));
  EXPECT_THAT(Places(shard), ElementsAre("kernel  6-8"));
}

TEST(JsonFileTest, KernelsAreInTheOrderOfTheStrings) {
  const v1::KernelShard shard = ExtractJson(absl::StrCat(
      "[", JsonString(absl::StrCat("\n\n", Named("late"))), ",", JsonString(Named("early")), "]"));
  EXPECT_THAT(Places(shard), ElementsAre("late /0 8-10", "early /1 6-8"));
}

TEST(JsonFileTest, AStringIsAModuleOfItsOwn) {
  const std::string relative =
      "import triton\nfrom .helpers import M\n@triton.jit\ndef other(x):\n    x + M + N\n";
  v1::KernelShard shard = ExtractFiles(
      {{"p/a.json", absl::StrCat("[", JsonString(kCode), ",", JsonString(relative), "]")},
       {"p/helpers.py", "M = 3\n"}});
  shard = Link(shard);
  ASSERT_THAT(shard.kernels(), SizeIs(2));
  EXPECT_EQ(shard.kernels(0).module(),
            absl::StrCat("import triton\nimport triton.language as tl\n\nN = 4\n\n",
                         kCode.substr(kCode.find("@triton"))));
  EXPECT_TRUE(shard.kernels(0).self_contained());
  // Neither the other string's N nor the other file's M.
  EXPECT_FALSE(shard.kernels(1).self_contained());
  EXPECT_EQ(shard.kernels(1).module(),
            "import triton\nfrom .helpers import M\n\n@triton.jit\ndef other(x):\n    x + M + N\n");
}

TEST(JsonFileTest, CudaIsReadWhereItSaysSo) {
  const v1::KernelShard shard =
      ExtractJson(absl::StrCat("{\"cuda\": ", JsonString(kCudaCode), "}"));
  EXPECT_THAT(Places(shard), ElementsAre("add /cuda 2-4"));
  EXPECT_EQ(shard.kernels(0).dsl(), dsl::kCuda);
  EXPECT_FALSE(shard.files(0).parse_errors());
}

TEST(JsonFileTest, PythonThatHoldsCudaInAStringIsPythonAsInAFile) {
  const std::string text = absl::StrCat("source = '''\n", kCudaCode, "'''\n");
  const v1::KernelShard shard = ExtractJson(JsonString(text));
  ASSERT_THAT(Places(shard), ElementsAre("add  3-5"));
  EXPECT_EQ(shard.kernels(0).form(), v1::KERNEL_FORM_STRING);
  EXPECT_EQ(shard.kernels(0).string_begin(), 13);
  EXPECT_EQ(text.substr(static_cast<size_t>(shard.kernels(0).first_byte()),
                        shard.kernels(0).source().size()),
            shard.kernels(0).source());
}

TEST(JsonFileTest, ChatsAreReadBetweenTheirFences) {
  const std::string chat =
      absl::StrCat("Here's the kernel:\n\n```python\n", kCode, "```\n\nand in CUDA:\n```cuda\n",
                   kCudaCode, "```\nDon't forget `triton.jit`!\n");
  const v1::KernelShard shard = ExtractJson(
      absl::StrCat("{\"messages\": [{\"role\": \"user\", \"content\": ", JsonString(chat), "}]}"));
  EXPECT_THAT(Places(shard),
              ElementsAre("kernel /messages/0/content 9-11", "add /messages/0/content 17-19"));
  EXPECT_FALSE(shard.files(0).parse_errors());
  for (const v1::Kernel& kernel : shard.kernels()) {
    EXPECT_EQ(chat.substr(kernel.first_byte(), kernel.source().size()), kernel.source());
  }
}

TEST(JsonFileTest, AKernelThatDoesNotEndBetweenItsFencesIsListed) {
  const std::string chat =
      absl::StrCat("```python\nimport triton\n@triton.jit\ndef f(x):\n    '''\n```\n",
                   "or\n```python\n    '''\n    x\n", kCode, "```\n");
  const v1::KernelShard shard = ExtractJson(JsonString(chat));
  EXPECT_THAT(Places(shard), ElementsAre("kernel  16-18"));
  EXPECT_THAT(Skipped(shard), ElementsAre("1 across_fences"));
  EXPECT_EQ(shard.files(0).kernels(), 1);
}

TEST(JsonFileTest, BlocksAreOneProgramIfTheyCanBe) {
  const std::string chat =
      "First:\n```python\nfrom triton import jit as j\n```\nthen\n```python\n@j\ndef f(x):\n    "
      "x\n```\n";
  EXPECT_THAT(Places(ExtractJson(JsonString(chat))), ElementsAre("f  7-9"));
}

TEST(JsonFileTest, ABrokenBlockDoesNotHideTheNext) {
  const std::string chat = absl::StrCat("```triton\ndef g(:\n  '''\n```\nIt's:\n```python\n", kCode,
                                        "```\n```\n", Named("other"), "```\n");
  EXPECT_THAT(Places(ExtractJson(JsonString(chat))), ElementsAre("kernel  12-14", "other  22-24"));
}

TEST(JsonFileTest, ProseThatWouldHideAKernelDoesNot) {
  const std::string text = absl::StrCat("Query: it's `x (y [z\n'''Document 1:\n", kCode,
                                        "\nDon't \"\"\" [\n", Named("other"), "So that's (all\n");
  EXPECT_THAT(Places(ExtractJson(JsonString(text))), ElementsAre("kernel  8-10", "other  18-20"));
}

TEST(JsonFileTest, FencesInADocstringAreNoChat) {
  const std::string text = absl::StrCat("'''\nUse:\n```python\nf()\n```\n'''\n", kCode);
  EXPECT_THAT(Places(ExtractJson(JsonString(text))), ElementsAre("kernel  12-14"));
}

TEST(JsonFileTest, CodeBeforeAFenceThatWasOpenedElsewhereIsRead) {
  const std::string answer = absl::StrCat(kCode, "```\nThat's it: a kernel.\n");
  EXPECT_THAT(Places(ExtractJson(JsonString(answer))), ElementsAre("kernel  6-8"));
}

TEST(JsonFileTest, ProseAroundCodeIsReadAround) {
  const std::string text = absl::StrCat("Write a Triton kernel. ", kCode);
  const v1::KernelShard shard = ExtractJson(JsonString(text));
  EXPECT_THAT(Places(shard), ElementsAre("kernel  6-8"));
  EXPECT_TRUE(shard.files(0).parse_errors());
  EXPECT_EQ(shard.files(0).first_error_line(), 1);
}

TEST(JsonFileTest, ProseAloneIsNoError) {
  const v1::KernelShard shard = ExtractJson("[\"What does @triton.jit do to __global__?\"]");
  EXPECT_THAT(shard.kernels(), IsEmpty());
  EXPECT_FALSE(shard.files(0).parse_errors());
  EXPECT_THAT(Skipped(shard), IsEmpty());
}

TEST(JsonFileTest, WhatStandsBeforeAnErrorIsExtracted) {
  const std::string good = JsonString(kCode);
  const v1::KernelShard shard =
      ExtractJson(absl::StrCat("[", good, ",\n", good.substr(0, good.size() / 2)));
  EXPECT_THAT(Places(shard), ElementsAre("kernel /0 6-8"));
  EXPECT_TRUE(shard.files(0).parse_errors());
  EXPECT_EQ(shard.files(0).first_error_line(), 2);
  EXPECT_THAT(Skipped(shard), ElementsAre("2 json_truncated"));
  EXPECT_EQ(shard.files(0).failed(), "");
}

TEST(JsonFileTest, ABrokenLineDoesNotEndAJsonlFile) {
  const std::string good = JsonString(kCode);
  const v1::KernelShard shard = ExtractFiles(
      {{"a.jsonl", absl::StrCat("[", good, "\n{\"code\" ", good, "}\n[", good, "]\n")}});
  EXPECT_THAT(Places(shard), ElementsAre("kernel /1/0 6-8", "kernel /3/0 6-8"));
  EXPECT_EQ(shard.files(0).first_error_line(), 1);
  EXPECT_THAT(Skipped(shard), ElementsAre("1 json_truncated", "2 json_syntax"));
}

TEST(JsonFileTest, HostileTextIsReadWithinBounds) {
  const std::string good = JsonString(kCode);
  const std::string deep(1000, '[');
  EXPECT_THAT(Skipped(ExtractJson(absl::StrCat("[", good, ",", deep))),
              ElementsAre("1 json_depth"));
  const std::string key(2000, 'k');
  const v1::KernelShard shard =
      ExtractJson(absl::StrCat("{\"", key, "\":", good, ",\n\"a\":", good, "}"));
  EXPECT_THAT(Places(shard), ElementsAre("kernel /a 6-8"));
  EXPECT_THAT(Skipped(shard), ElementsAre("1 pointer_too_long"));
}

TEST(JsonFileTest, StringsAreReadUpToTheLimit) {
  const std::string good = JsonString(kCode);
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path("a.jsonl");
  file.set_content(absl::StrCat(good, "\n", good, "\n", good, "\n", good, "\n"));
  ExtractOptions options;
  options.max_json_strings = 2;
  auto shard = ExtractKernels(files, StandardParser(), options);
  ASSERT_TRUE(shard.ok());
  EXPECT_THAT(Places(*shard), ElementsAre("kernel /1 6-8", "kernel /2 6-8"));
  EXPECT_THAT(Skipped(*shard), ElementsAre("3 too_many_strings"));
  options.max_json_bytes = 100;
  shard = ExtractKernels(files, StandardParser(), options);
  ASSERT_TRUE(shard.ok());
  EXPECT_EQ(shard->files(0).failed(), "too_large");
  options = {};
  options.max_file_bytes = 20;
  shard = ExtractKernels(files, StandardParser(), options);
  ASSERT_TRUE(shard.ok());
  EXPECT_EQ(shard->files(0).failed(), "");
  EXPECT_THAT(Skipped(*shard), SizeIs(4));
}

// Each block of a broken chat is parsed several ways: many of them cost a multiple of their bytes.
std::string BrokenChat(int blocks) {
  std::string text = "It isn't Python.\n";
  for (int i = 0; i < blocks; ++i) absl::StrAppend(&text, "```python\n", kCode, "x = (\n```\n");
  return text;
}

TEST(JsonFileTest, TheRestOfAFileIsNotReadOnceItsBudgetIsSpent) {
  const std::string chat = JsonString(BrokenChat(8));
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path("a.jsonl");
  for (int i = 0; i < 20; ++i) absl::StrAppend(file.mutable_content(), chat, "\n");
  ExtractOptions options;
  options.json_parse_bytes = 0;
  options.json_parse_bytes_per_byte = 1;
  const auto shard = ExtractKernels(files, StandardParser(), options);
  ASSERT_TRUE(shard.ok());
  EXPECT_THAT(Skipped(*shard), ElementsAre("1 work_budget"));
  options.json_parse_bytes_per_byte = 1'000'000;
  const auto whole = ExtractKernels(files, StandardParser(), options);
  ASSERT_TRUE(whole.ok());
  EXPECT_THAT(Skipped(*whole), IsEmpty());
  EXPECT_EQ(whole->kernels_size(), 20 * 8);
}

// Counts what is asked of the parser itself, in bytes: no clock, and no trust in its own account.
class CountingParser : public PythonParser {
 public:
  absl::StatusOr<SyntaxTree> Parse(absl::string_view text) const override {
    bytes_ += text.size();
    return parser_.Parse(text);
  }
  uint64_t bytes() const { return bytes_; }

 private:
  StandardParser parser_;
  mutable uint64_t bytes_ = 0;
};

TEST(JsonFileTest, NoMoreIsParsedThanTheBudgetAllows) {
  std::string chats;
  for (int i = 0; i < 200; ++i) absl::StrAppend(&chats, JsonString(BrokenChat(16)), "\n");
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path("a.jsonl");
  file.set_content(chats);
  const auto parsed = [&](uint64_t bytes_per_byte) {
    ExtractOptions options;
    options.json_parse_bytes = 0;
    options.json_parse_bytes_per_byte = bytes_per_byte;
    CountingParser parser;
    EXPECT_TRUE(ExtractKernels(files, parser, options).ok());
    return parser.bytes();
  };
  EXPECT_GT(parsed(1'000'000), 16 * chats.size());
  EXPECT_LE(parsed(2), 2 * chats.size());
  EXPECT_LE(parsed(4), 4 * chats.size());
}

TEST(JsonFileTest, BytesAndHalvesThatAreNoUtf8DoNotHideKernels) {
  const std::string text =
      absl::StrReplaceAll(JsonString(kCode), {{"N = 4", "N = 4  # \\ud83d \xff"}});
  const v1::KernelShard shard = ExtractJson(absl::StrCat("\xef\xbb\xbf{\"k\xff\": ", text, "}"));
  EXPECT_THAT(Places(shard), ElementsAre("kernel /k\xff 6-8"));
}

TEST(JsonFileTest, StringsWithinAStringAreModulesToo) {
  const std::string inner = absl::StrReplaceAll(kCode, {{"kernel", "inner"}});
  const std::string text =
      absl::StrCat("async_compile.triton('inner', '''\n", inner, "''')\n", kCode);
  v1::KernelShard shard = ExtractJson(absl::StrCat("[", JsonString(text), "]"));
  EXPECT_THAT(Places(shard), ElementsAre("kernel /0 16-18", "inner /0 7-9"));
  shard = Link(shard);
  EXPECT_TRUE(shard.kernels(0).self_contained());
  EXPECT_TRUE(shard.kernels(1).self_contained());
  EXPECT_EQ(shard.kernels(1).form(), v1::KERNEL_FORM_STRING);
}

TEST(JsonFileTest, FunctionsOfOtherDslsAreCountedOverAllStrings) {
  const std::string code = "import taichi as ti\n@ti.kernel\ndef f():\n    pass\n";
  const v1::KernelShard shard =
      ExtractJson(absl::StrCat("[", JsonString(code), ",", JsonString(code), "]"));
  ASSERT_THAT(shard.files(0).other_dsls(), SizeIs(1));
  EXPECT_EQ(shard.files(0).other_dsls(0).functions(), 2);
}

}  // namespace
}  // namespace kernelmill::extractor
