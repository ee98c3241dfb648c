// Kernels in the strings that TorchInductor's output hands to async_compile.triton.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/hash.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/text_lines.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {

using python::StandardParser;

namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

constexpr char kKernel[] =
    "@triton_heuristics.pointwise(\n"
    "    size_hints={'x': 256}, filename=__file__,\n"
    "    triton_meta={'signature': {'in_ptr0': '*fp32'}}, inductor_meta={}\n"
    ")\n"
    "@triton.jit\n"
    "def triton_poi_fused_add_0(in_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
    "    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]\n"
    "    tl.store(in_ptr0 + (xindex), tl_math.exp(xindex), xindex < xnumel)\n";

constexpr char kImports[] =
    "import triton\n"
    "import triton.language as tl\n"
    "from torch._inductor.runtime import triton_helpers, triton_heuristics\n"
    "from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math\n";

std::string Source() {
  return absl::StrCat("\n", kImports, "triton_helpers.set_driver_to_gpu()\n\n", kKernel);
}

// A string of that content handed to the compiler, by whatever quotes and prefix.
std::string Compile(absl::string_view content, absl::string_view open = "'''",
                    absl::string_view close = "'''") {
  return absl::StrCat("k = async_compile.triton('k', ", open, content, close,
                      ", device_str='cuda')\n");
}

// "line reason" of every string that was not taken.
std::vector<std::string> Skipped(const v1::KernelShard& shard) {
  std::vector<std::string> skipped;
  for (const v1::SkippedString& string : shard.files(0).skipped_strings()) {
    skipped.push_back(absl::StrCat(string.line(), " ", string.reason()));
  }
  return skipped;
}

// Expects each kernel at its place in the file, line for line and byte for byte.
void ExpectSpans(const std::string& text, const v1::KernelShard& shard) {
  const LineIndex lines(text);
  for (const v1::Kernel& kernel : shard.kernels()) {
    const size_t begin = lines.Begin(kernel.first_line());
    EXPECT_EQ(static_cast<size_t>(kernel.first_byte()), begin);
    EXPECT_EQ(kernel.source(), text.substr(begin, lines.End(kernel.last_line()) - begin));
    EXPECT_EQ(kernel.sha256(), Sha256Hex(kernel.source()));
  }
}

TEST(GeneratedStringsTest, AKernelIsASpanOfTheFileAroundItsString) {
  const std::string text = absl::StrCat("import torch\n", Compile(Source()), "x = 1\n");
  const v1::KernelShard shard = Extract(text);
  ASSERT_THAT(Places(shard), ElementsAre("triton_poi_fused_add_0 9-16"));
  ExpectSpans(text, shard);
  const v1::Kernel& kernel = shard.kernels(0);
  EXPECT_EQ(kernel.source(), kKernel);
  EXPECT_EQ(kernel.string_begin(), text.find("'''") + 3);
  EXPECT_EQ(kernel.role(), v1::KERNEL_ROLE_KERNEL);
  EXPECT_EQ(kernel.decorators_size(), 2);
  EXPECT_EQ(kernel.signature(),
            "def triton_poi_fused_add_0(in_ptr0, xnumel, XBLOCK : tl.constexpr):");
  EXPECT_EQ(kernel.source().substr(static_cast<size_t>(kernel.body_offset()), 10), "    xindex");
  EXPECT_EQ(shard.files(0).kernels(), 1);
  EXPECT_FALSE(shard.files(0).parse_errors());
  EXPECT_THAT(Skipped(shard), IsEmpty());
}

TEST(GeneratedStringsTest, AnyQuotesPrefixAndLineEnds) {
  const std::vector<std::pair<std::string, std::string>> quotes = {
      {"'''", "'''"},        {"\"\"\"", "\"\"\""}, {"r'''", "'''"},
      {"R\"\"\"", "\"\"\""}, {"u'''", "'''"},      {"(\n  '''", "''')"}};
  for (const auto& [open, close] : quotes) {
    const std::string text = Compile(Source(), open, close);
    const v1::KernelShard shard = Extract(text);
    EXPECT_EQ(shard.kernels_size(), 1) << open;
    ExpectSpans(text, shard);
    const std::string windows = absl::StrReplaceAll(text, {{"\n", "\r\n"}});
    const v1::KernelShard windows_shard = Extract(windows);
    EXPECT_EQ(windows_shard.kernels_size(), 1) << open;
    ExpectSpans(windows, windows_shard);
  }
}

TEST(GeneratedStringsTest, TheSourceIsNamedOrSecondOrAlone) {
  for (const char* arguments : {"kernel_name='k', source_code=", "'k', source_code=",
                                "source_code=", "'k', # why\n", "*names, ", ""}) {
    const std::string text =
        absl::StrCat("k = self.async_compile.triton(", arguments, "'''", Source(), "''')\n");
    EXPECT_EQ(Extract(text).kernels_size(), 1) << arguments;
  }
}

TEST(GeneratedStringsTest, EachStringHasItsOwnImportsAndDefinitions) {
  const std::string second =
      "\nimport triton as tr\nimport triton.language as lang\nSIZE = 2\n"
      "@tr.jit\ndef helper(x):\n    return x * SIZE\n"
      "@tr.jit\ndef k(x):\n    lang.store(x, helper(x))\n";
  const std::string text = absl::StrCat(
      "import numpy as triton\nimport numpy as tl\nSIZE = 1\ndef helper(x): return x\n",
      Compile(Source()), Compile(second));
  const v1::KernelShard shard = ExtractAndLink(text);
  ASSERT_THAT(Places(shard),
              ElementsAre("triton_poi_fused_add_0 12-19", "helper 25-27", "k 28-30"));
  ExpectSpans(text, shard);
  EXPECT_EQ(shard.kernels(0).module(),
            absl::StrCat("import triton\nimport triton.language as tl\n"
                         "from torch._inductor.runtime import triton_helpers, triton_heuristics\n"
                         "from torch._inductor.runtime.triton_helpers import libdevice, math as "
                         "tl_math\n\n",
                         kKernel));
  EXPECT_TRUE(shard.kernels(0).self_contained());
  EXPECT_EQ(shard.kernels(2).module(),
            "import triton as tr\nimport triton.language as lang\n\nSIZE = 2\n\n"
            "@tr.jit\ndef helper(x):\n    return x * SIZE\n\n"
            "@tr.jit\ndef k(x):\n    lang.store(x, helper(x))\n");
  EXPECT_THAT(shard.kernels(2).free_names(), IsEmpty());
}

TEST(GeneratedStringsTest, KernelsOfTheFileAndOfItsStringsComeInTheOrderOfLines) {
  const std::string own = "@triton.jit\ndef own(x):\n    return x\n";
  const std::string text =
      absl::StrCat("import triton\n", own, Compile(Source()), own, Compile(Source()));
  const v1::KernelShard shard = ExtractAndLink(text);
  EXPECT_THAT(Places(shard), ElementsAre("own 2-4", "triton_poi_fused_add_0 12-19", "own 21-23",
                                         "triton_poi_fused_add_0 31-38"));
  ExpectSpans(text, shard);
  EXPECT_EQ(shard.kernels(0).string_begin(), 0);
  EXPECT_EQ(shard.kernels(0).module(), "import triton\n\n" + own);
  EXPECT_EQ(shard.files(0).kernels(), 4);
}

TEST(GeneratedStringsTest, WhatOnlyLooksLikeACallIsNone) {
  const std::string call = Compile(Source());
  const std::string commented = absl::StrReplaceAll(call, {{"\n", "\n# "}});
  for (const std::string& text :
       {absl::StrCat("# ", commented, "\n"), absl::StrCat("\"\"\"\n", call, "\"\"\"\n"),
        absl::StrCat("def f():\n    \"\"\"", call, "\"\"\"\n"),
        absl::StrReplaceAll(call, {{"async_compile.triton", "async_compile.cpp"}}),
        absl::StrReplaceAll(call, {{"async_compile.triton", "my_async_compile.triton"}}),
        absl::StrReplaceAll(call, {{"async_compile.triton", "async_compile.triton.x"}}),
        absl::StrReplaceAll(call, {{"('k', ", "('k', source, "}}),
        absl::StrCat("k = async_compile.triton('k', source)\n# ", commented, "\n")}) {
    const v1::KernelShard shard = Extract(text);
    EXPECT_THAT(Places(shard), IsEmpty()) << text;
    // Strings that are given to anything else can at most be listed as emitted code.
    EXPECT_THAT(Skipped(shard), Each(EndsWith(" emitted"))) << text;
  }
}

TEST(GeneratedStringsTest, AStringWithinAStringIsText) {
  const std::string text =
      Compile(absl::StrCat("\nimport triton\nX = \"\"\"", Compile(Source(), "r", ""),
                           "\"\"\"\n@triton.jit\ndef k(x):\n"
                           "    \"\"\"Says \"hello\".\"\"\"\n    return x\n"));
  const v1::KernelShard shard = Extract(text);
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).name(), "k");
  EXPECT_EQ(shard.kernels(0).docstring(), "Says \"hello\".");
  ExpectSpans(text, shard);
}

TEST(GeneratedStringsTest, EscapesAreNotGuessedAt) {
  for (const char* line :
       {"# a \\' quote\n", "X = '\\n'\n", "X = 1 + \\\n  2\n", "X = '\\x41'\n", "X = '\\\\'\n"}) {
    const std::string content = absl::StrCat("\n", line, Source());
    const v1::KernelShard shard = Extract(absl::StrCat("x = 1\n", Compile(content)));
    EXPECT_THAT(Places(shard), IsEmpty()) << line;
    EXPECT_THAT(Skipped(shard), ElementsAre("2 not_verbatim")) << line;
    const std::string raw = Compile(content, "r'''");
    EXPECT_EQ(Extract(raw).kernels_size(), 1) << line;
    ExpectSpans(raw, Extract(raw));
  }
  EXPECT_EQ(Extract(Compile(absl::StrCat("\n# \\d \\( \\ \n", Source()))).kernels_size(), 1);
}

TEST(GeneratedStringsTest, OtherLiteralsAreListedAsSkipped) {
  for (const auto& call : {Compile(Source(), "f'''"), Compile(Source(), "b'''"),
                           Compile(Source(), "rb'''"), Compile(Source(), "'#' '''")}) {
    const v1::KernelShard shard = Extract(call);
    EXPECT_THAT(Places(shard), IsEmpty()) << call;
    EXPECT_THAT(Skipped(shard), ElementsAre("1 not_verbatim")) << call;
  }
  EXPECT_THAT(Skipped(Extract("import triton  # jit\n" + Compile("", "f'", "'"))), IsEmpty())
      << "it can hold no kernel";
}

TEST(GeneratedStringsTest, AKernelThatSharesALineWithTheQuotesIsSkipped) {
  const std::string imports = "\nfrom triton import jit\n";
  const std::string good = "@jit\ndef good(x):\n    return x\n";
  const v1::KernelShard last = Extract(Compile(absl::StrCat(imports, good, "@jit\ndef k(): pass")));
  EXPECT_THAT(Places(last), ElementsAre("good 3-5"));
  EXPECT_THAT(Skipped(last), ElementsAre("1 shared_line"));
  const v1::KernelShard first =
      Extract(Compile(absl::StrCat("@jit\ndef k(): pass", imports, good)));
  EXPECT_THAT(Places(first), ElementsAre("good 4-6"));
  EXPECT_THAT(Skipped(first), ElementsAre("1 shared_line"));
}

TEST(GeneratedStringsTest, AStringThatDoesNotParseLeavesTheRestAlone) {
  const std::string own = "import triton\n@triton.jit\ndef own(x):\n    return x\n";
  const std::string broken = "\nimport triton\nthis is no python (\n@triton.jit\n";
  const std::string text = absl::StrCat(own, Compile(broken), Compile(Source()));
  const v1::KernelShard shard = Extract(text);
  EXPECT_THAT(Places(shard), ElementsAre("own 2-4", "triton_poi_fused_add_0 17-24"));
  EXPECT_TRUE(shard.files(0).parse_errors());
  EXPECT_FALSE(shard.kernels(0).parse_error());
  EXPECT_FALSE(shard.kernels(1).parse_error());
  ExpectSpans(text, shard);
}

TEST(GeneratedStringsTest, AStringBeyondTheParsersBoundsIsSkippedAlone) {
  std::string nested = "\nfrom triton import jit\n";
  for (int depth = 0; depth < 100; ++depth) {
    const std::string indent(static_cast<size_t>(depth), ' ');
    absl::StrAppend(&nested, indent, "@jit\n", indent, "def f():\n");
  }
  absl::StrAppend(&nested, std::string(100, ' '), "pass\n");
  const v1::KernelShard shard = Extract(absl::StrCat(Compile(nested), Compile(Source())));
  EXPECT_EQ(shard.kernels_size(), 1);
  EXPECT_THAT(Skipped(shard), ElementsAre("1 nested_kernels"));
}

TEST(GeneratedStringsTest, StringsBeyondTheLimitFailTheFile) {
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path("many.py");
  file.set_content(absl::StrCat(Compile(Source()), Compile("no kernel"), Compile(Source())));
  ExtractOptions options;
  options.max_strings = 2;
  EXPECT_EQ(ExtractKernels(files, StandardParser(), options)->kernels_size(), 2);
  options.max_strings = 1;
  EXPECT_EQ(ExtractKernels(files, StandardParser(), options)->files(0).failed(),
            "too_many_strings");
}

TEST(GeneratedStringsTest, TheOriginIsOfTheFilesPathAndTheCommentsAbove) {
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path("run_1/torchinductor/model__0_inference_0.3/output_code.py");
  file.set_content(
      absl::StrCat("# kernel path: /tmp/torchinductor_me/ab/cab.py\n"
                   "# Topologically Sorted Source Nodes: [add], Original ATen: []\n",
                   Compile(Source()), "\n\n", Compile(Source())));
  const auto shard = ExtractKernels(files, StandardParser());
  ASSERT_TRUE(shard.ok());
  ASSERT_EQ(shard->kernels_size(), 2);
  const v1::InductorOrigin& origin = shard->kernels(0).inductor();
  EXPECT_EQ(origin.model(), "model__0_inference_0");
  EXPECT_EQ(origin.graph(), "3");
  EXPECT_EQ(origin.kernel_path(), "/tmp/torchinductor_me/ab/cab.py");
  EXPECT_EQ(origin.source_node(), "[add], Original ATen: []");
  EXPECT_EQ(shard->kernels(1).inductor().model(), "model__0_inference_0");
  EXPECT_EQ(shard->kernels(1).inductor().kernel_path(), "");
}

TEST(GeneratedStringsTest, AFileOfTheCacheIsAnInductorsToo) {
  const v1::KernelShard file = Extract(
      absl::StrCat(Source(), "@triton.jit\ndef _triton_helper_fn_add0(a, b):\n    return a + b\n"));
  ASSERT_EQ(file.kernels_size(), 2);
  EXPECT_TRUE(file.kernels(0).has_inductor());
  EXPECT_TRUE(file.kernels(1).has_inductor());
  EXPECT_EQ(file.kernels(0).string_begin(), 0);
  for (const char* import : {"from torch._inductor.triton_heuristics import pointwise",
                             "from torch._inductor.triton_ops.autotune import pointwise",
                             "from vendor._inductor.xpu.triton_heuristics import pointwise",
                             "from torch._inductor.runtime import triton_heuristics as h\n"
                             "pointwise = h.pointwise"}) {
    const v1::KernelShard older = Extract(absl::StrCat(
        "import triton\n", import, "\n@pointwise(size_hints=[8])\n@triton.jit\ndef k(x): pass\n"));
    ASSERT_EQ(older.kernels_size(), 1) << import;
    EXPECT_EQ(older.kernels(0).has_inductor(),
              std::string(import).find(" h\n") == std::string::npos)
        << import;
  }
}

TEST(GeneratedStringsTest, WhatPeopleWriteIsNotAnInductors) {
  const v1::KernelShard shard =
      Extract(absl::StrCat("import triton\nfrom torch._inductor.runtime import triton_heuristics\n"
                           "@triton.jit\ndef own(x):\n    return x\n",
                           Compile(Source())));
  ASSERT_EQ(shard.kernels_size(), 2);
  EXPECT_FALSE(shard.kernels(0).has_inductor());
  EXPECT_TRUE(shard.kernels(1).has_inductor());
}

}  // namespace
}  // namespace kernelmill::extractor
