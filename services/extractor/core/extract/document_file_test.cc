// Kernels in notebooks, Markdown and other documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr absl::string_view kImports = "import triton\nimport triton.language as tl\n";
constexpr absl::string_view kKernel =
    "@triton.jit\n"
    "def k(x):\n"
    "    tl.store(x, N)\n";

std::string Cells(const std::vector<std::string>& sources, absl::string_view type = "code") {
  std::string text = "{\"cells\": [";
  for (const std::string& source : sources) {
    absl::StrAppend(&text, text.back() == '[' ? "" : ",", "{\"cell_type\": \"", type,
                    "\", \"outputs\": [], \"source\": ", JsonString(source), "}");
  }
  return text + "], \"nbformat\": 4}";
}

v1::KernelShard LinkNotebook(const std::vector<std::string>& cells) {
  return ExtractAndLink({{"a.ipynb", Cells(cells)}});
}

v1::KernelShard LinkPage(const std::string& text, const std::string& path = "a.md") {
  return ExtractAndLink({{path, text}});
}

std::string Fence(absl::string_view language, absl::string_view code) {
  return absl::StrCat("```", language, "\n", code, "```\n");
}

std::vector<std::string> Names(const v1::KernelShard& shard) {
  std::vector<std::string> names;
  for (const v1::Kernel& kernel : shard.kernels()) names.push_back(kernel.name());
  return names;
}

std::vector<std::string> Skipped(const v1::KernelShard& shard) {
  std::vector<std::string> skipped;
  for (const v1::SkippedString& string : shard.files(0).skipped_strings()) {
    skipped.push_back(absl::StrCat(string.line(), " ", string.reason()));
  }
  return skipped;
}

TEST(DocumentFileTest, ACellTakesWhatEarlierCellsDefine) {
  const v1::KernelShard shard =
      LinkNotebook({std::string(kImports), "N = 4", "x = 1\n\n" + std::string(kKernel)});
  ASSERT_THAT(Places(shard), ElementsAre("k 3-5"));
  const v1::Kernel& kernel = shard.kernels(0);
  EXPECT_EQ(kernel.json_pointer(), "/cells/2/source");
  EXPECT_EQ(kernel.context().kind(), "cell");
  EXPECT_EQ(kernel.context().cell(), 2);
  EXPECT_EQ(kernel.source(), kKernel);
  EXPECT_EQ(kernel.sha256(), Sha256Hex(kKernel));
  EXPECT_EQ(kernel.first_byte(), 7);
  EXPECT_EQ(kernel.module(), absl::StrCat(kImports, "\nN = 4\n\n", kKernel));
  EXPECT_TRUE(kernel.self_contained());
  ASSERT_THAT(kernel.pieces(), SizeIs(4));
  EXPECT_EQ(kernel.pieces(2).json_pointer(), "/cells/1/source");
  EXPECT_EQ(kernel.pieces(2).first_line(), 1);
  EXPECT_EQ(kernel.pieces(3).json_pointer(), "/cells/2/source");
  EXPECT_EQ(kernel.pieces(3).first_line(), 3);
}

TEST(DocumentFileTest, ACellsLastLineNeedsNoLineEnd) {
  const std::string cell = absl::StrCat(kImports, "@triton.jit\ndef k(x):\n    tl.store(x, 1)");
  const v1::KernelShard shard = LinkNotebook({cell, "y = 1"});
  ASSERT_THAT(Places(shard), ElementsAre("k 3-5"));
  EXPECT_EQ(shard.kernels(0).source(), "@triton.jit\ndef k(x):\n    tl.store(x, 1)");
}

TEST(DocumentFileTest, OfSeveralDefinitionsTheNearestAboveHolds) {
  const std::string kernel(kKernel);
  const v1::KernelShard shard =
      LinkNotebook({std::string(kImports), "N = 4", kernel, "N = 5", kernel});
  ASSERT_THAT(shard.kernels(), SizeIs(2));
  EXPECT_THAT(shard.kernels(0).module(), HasSubstr("N = 4"));
  EXPECT_THAT(shard.kernels(0).module(), Not(HasSubstr("N = 5")));
  EXPECT_THAT(shard.kernels(1).module(), HasSubstr("N = 5"));
}

TEST(DocumentFileTest, AKernelThatIsDefinedAgainHasTheLauncherBelowIt) {
  const std::string kernel(kKernel);
  const v1::KernelShard shard =
      LinkNotebook({absl::StrCat(kImports, "N = 1"), kernel, "def one(x):\n    k[(1,)](x)\n",
                    kernel, "y = 1\ndef two(x):\n    k[(1,)](x)\n"});
  ASSERT_THAT(shard.kernels(), SizeIs(2));
  EXPECT_EQ(shard.kernels(0).launcher().qualname(), "one");
  EXPECT_EQ(shard.kernels(1).launcher().qualname(), "two");
  EXPECT_EQ(shard.kernels(1).launcher().json_pointer(), "/cells/4/source");
  EXPECT_EQ(shard.kernels(1).launcher().first_line(), 2);
}

TEST(DocumentFileTest, LinesOfIpythonDoNotBreakACell) {
  const v1::KernelShard shard = LinkNotebook(
      {"!pip install triton \\\n  torch\n%load_ext x\nx = !ls\ntriton?\nif 1:\n    %time f()\n" +
           std::string(kImports),
       "%%time\nN = 4\n" + std::string(kKernel)});
  ASSERT_THAT(Places(shard), ElementsAre("k 3-5"));
  EXPECT_TRUE(shard.kernels(0).self_contained());
  EXPECT_FALSE(shard.files(0).parse_errors());
}

TEST(DocumentFileTest, BrokenCellsDoNotHideOthers) {
  const std::string broken = "@triton.jit\ndef b(x):\n    tl.store(x, 1)\n\nthis is (not python\n";
  const v1::KernelShard shard = LinkNotebook(
      {std::string(kImports), "it's broken(", broken, "N = 1\n" + std::string(kKernel)});
  EXPECT_THAT(Names(shard), UnorderedElementsAre("b", "k"));
  EXPECT_THAT(FindKernel(shard, "b").module(), HasSubstr("import triton.language"));
}

TEST(DocumentFileTest, CellsOfCudaAreProgramsOfTheirOwn) {
  const std::string cuda =
      "__device__ float g(float x) { return x; }\n__global__ void f(float* x) { *x = g(*x); }\n";
  const v1::KernelShard shard =
      LinkNotebook({"%%cu\n" + cuda, "%%writefile a.cu\n" + cuda, "%%bash\n" + cuda});
  EXPECT_THAT(Places(shard), ElementsAre("g 2-2", "f 3-3", "g 2-2", "f 3-3"));
  EXPECT_EQ(shard.kernels(3).json_pointer(), "/cells/1/source");
  EXPECT_TRUE(shard.kernels(3).self_contained());
  EXPECT_THAT(shard.kernels(3).module(), HasSubstr("float g("));
}

TEST(DocumentFileTest, AFenceTakesTheImportsOfThePage) {
  const std::string page =
      absl::StrCat("# T\n\nFirst:\n", Fence("python", kImports), "Then\n\nsay:\n",
                   Fence("python", absl::StrCat("N = 1\n", kKernel)));
  const v1::KernelShard shard = LinkPage(page);
  ASSERT_THAT(Places(shard), ElementsAre("k 13-15"));
  const v1::Kernel& kernel = shard.kernels(0);
  EXPECT_FALSE(kernel.has_json_pointer());
  EXPECT_EQ(kernel.first_byte(), static_cast<int64_t>(page.find("@triton")));
  EXPECT_EQ(kernel.context().heading(), "T");
  EXPECT_EQ(kernel.context().paragraph(), "say:");
  EXPECT_FALSE(kernel.context().has_cell());
  EXPECT_TRUE(kernel.self_contained());
}

TEST(DocumentFileTest, APageWithoutImportsHasTheUsualOnes) {
  const v1::KernelShard shard = LinkPage(Fence("python", absl::StrCat("N = 1\n", kKernel)));
  ASSERT_THAT(Forms(shard), ElementsAre("k DECORATED TRITON name:triton.jit"));
  EXPECT_EQ(shard.kernels(0).module(),
            absl::StrCat("import triton\nimport triton.language as tl\n\nN = 1\n\n", kKernel));
  EXPECT_TRUE(shard.kernels(0).self_contained());
  EXPECT_THAT(shard.kernels(0).calls(), ElementsAre("triton.language.store"));
  ASSERT_THAT(shard.kernels(0).pieces(), SizeIs(4));
  EXPECT_TRUE(shard.kernels(0).pieces(0).generated());
  EXPECT_EQ(shard.kernels(0).pieces(0).first_line(), 0);
  EXPECT_FALSE(shard.kernels(0).pieces(2).generated());
}

TEST(DocumentFileTest, PallasOfAPageNeedsNoImports) {
  const std::string body = "def body(x_ref, o_ref):\n    o_ref[...] = jnp.exp(x_ref[...])\n";
  for (const char* call :
       {"pl.pallas_call(body, out_shape=s)(x)\n", "pl.pallas_call(partial(body), out_shape=s)(x)\n",
        "pltpu.emit_pipeline(functools.partial(body), grid=(4,))(x)\n",
        "plgpu.kernel(body, out_shape=s)(x)\n"}) {
    const v1::KernelShard shard =
        LinkPage(absl::StrCat(Fence("python", body), "Call it:\n", Fence("py", call)));
    ASSERT_THAT(Names(shard), ElementsAre("body")) << call;
    EXPECT_THAT(shard.kernels(0).found_by(),
                ::testing::StartsWith("name:jax.experimental.pallas."));
    EXPECT_THAT(shard.kernels(0).module(), HasSubstr("import jax.numpy as jnp\n"));
  }
  const v1::KernelShard notebook = LinkNotebook({body, "y = pl.pallas_call(body)(x)"});
  EXPECT_THAT(Names(notebook), ElementsAre("body"));
}

TEST(DocumentFileTest, ANameThatThePageBindsIsNotTheUsualOne) {
  const std::string body = "def body(x_ref, o_ref):\n    o_ref[...] = x_ref[...]\n";
  for (const char* other : {"pltpu = mine()\n", "def pltpu(): pass\n", "from mine import *\n"}) {
    EXPECT_THAT(Names(LinkPage(
                    absl::StrCat(Fence("python", other),
                                 Fence("python", absl::StrCat(body, "pltpu.kernel(body)(x)\n"))))),
                IsEmpty())
        << other;
  }
  const v1::KernelShard shard =
      LinkPage(Fence("python", absl::StrCat("from my import triton\nN = 1\n", kKernel)));
  ASSERT_THAT(Names(shard), ElementsAre("k"));
  EXPECT_THAT(shard.kernels(0).module(),
              ::testing::StartsWith("import triton.language as tl\nfrom my import triton\n"));
}

TEST(DocumentFileTest, OnlyCodeInProseHasUsualImports) {
  const v1::KernelShard shard =
      ExtractAndLink({{"a.py", "def body(x_ref): pass\npl.pallas_call(body)  # pallas\n"}});
  EXPECT_THAT(Names(shard), IsEmpty());
}

TEST(DocumentFileTest, AFenceInAListKeepsItsIndentationInTheSourceAlone) {
  const std::string code = absl::StrCat(kImports, "N = 1\n", kKernel);
  const std::string page =
      absl::StrCat("1. Do:\n\n   ```python\n   ", absl::StrReplaceAll(code, {{"\n", "\n   "}}),
                   "```\n", Fence("python", "y = 1\n"));
  const v1::KernelShard shard = LinkPage(page);
  ASSERT_THAT(shard.kernels(), SizeIs(1));
  EXPECT_EQ(shard.kernels(0).source(), "   @triton.jit\n   def k(x):\n       tl.store(x, N)\n");
  EXPECT_EQ(shard.kernels(0).module(), absl::StrCat(kImports, "\nN = 1\n\n", kKernel));
}

TEST(DocumentFileTest, PromptsOfADoctestAreBlanks) {
  const v1::KernelShard shard = LinkPage(
      "```python\n>>> import triton\n>>> @triton.jit\n... def k(x):\n...     pass\n...\n>>> "
      "k[(1,)](x)\n1\n```\n");
  ASSERT_THAT(Places(shard), ElementsAre("k 3-5"));
  EXPECT_EQ(shard.kernels(0).source(), "    @triton.jit\n    def k(x):\n        pass\n");
  EXPECT_THAT(shard.kernels(0).module(), HasSubstr("\n@triton.jit\ndef k(x):\n    pass\n"));
}

TEST(DocumentFileTest, CudaOfAPageIsOneProgramAsFarAsItsNamesGo) {
  const std::string page =
      absl::StrCat(Fence("cuda", "#define B 4\n__device__ int g(int x) { return x * B; }\n"),
                   Fence("cpp", "__global__ void f(int* x) { *x = g(*x); }\n"), "Better:\n",
                   Fence("cuda", "__global__ void f(int* x) { *x = g(*x) + 1; }\n"));
  const v1::KernelShard shard = LinkPage(page);
  ASSERT_THAT(Names(shard), ElementsAre("g", "f", "f"));
  for (const int kernel : {1, 2}) {
    EXPECT_THAT(shard.kernels(kernel).module(), HasSubstr("#define B 4"));
    EXPECT_TRUE(shard.kernels(kernel).self_contained());
  }
  EXPECT_THAT(shard.kernels(1).module(), Not(HasSubstr("+ 1")));
  EXPECT_THAT(shard.kernels(2).module(), HasSubstr("+ 1"));
}

TEST(DocumentFileTest, AFenceWithoutALanguageIsReadForWhatItHolds) {
  const v1::KernelShard shard = LinkPage(absl::StrCat(
      Fence("", absl::StrCat(kImports, "N = 1\n", kKernel)), Fence("", "__global__ void f() {}\n"),
      Fence("", "make && ./a.out\n"), Fence("text", "__global__ void no() {}\n")));
  EXPECT_THAT(Names(shard), ElementsAre("k", "f"));
}

TEST(DocumentFileTest, CudaThatSaysPythonIsRead) {
  const std::string cuda = "__global__ void f(int* x) { *x = 1; }\n";
  EXPECT_THAT(Places(LinkNotebook({"x = 1", cuda})), ElementsAre("f 1-1"));
  EXPECT_THAT(Places(LinkPage(Fence("python", cuda))), ElementsAre("f 2-2"));
  EXPECT_THAT(Names(LinkNotebook({"s = '''\n" + cuda + "'''\nthis is (broken\n"})),
              ElementsAre("f"));
}

TEST(DocumentFileTest, CudaInStringsOfPythonIsRead) {
  const std::string code =
      "s = '''\n__global__ void f(int* x) {\n  *x = 1;\n}\n'''\n\n"
      "def run(x):\n  RawKernel(s, 'f')((1,), (1,), (x,))\n";
  const auto check = [](const v1::KernelShard& shard, absl::string_view kind) {
    ASSERT_EQ(shard.kernels_size(), 1);
    const v1::Kernel& kernel = shard.kernels(0);
    EXPECT_EQ(kernel.form(), v1::KERNEL_FORM_STRING);
    EXPECT_EQ(kernel.context().kind(), kind);
    EXPECT_EQ(kernel.module(), "__global__ void f(int* x) {\n  *x = 1;\n}\n");
    EXPECT_EQ(kernel.launcher().qualname(), "run");
  };
  const v1::KernelShard notebook = LinkNotebook({"x = 1", code});
  check(notebook, "string");
  EXPECT_THAT(Places(notebook), ElementsAre("f 2-4"));
  EXPECT_EQ(notebook.kernels(0).launcher().first_line(), 7);
  const v1::KernelShard page = LinkPage(Fence("python", code));
  check(page, "fence");
  EXPECT_THAT(Places(page), ElementsAre("f 3-5"));
  check(LinkPage(Fence("", "import cupy\n" + code)), "fence");
}

TEST(DocumentFileTest, CudaInStringsOfIndentedCodeHasItsIndentation) {
  const v1::KernelShard shard = LinkPage(
      "- so:\n\n  ```python\n  s = '''\n  __global__ void f() {\n    g();\n  }\n  '''\n  ```\n");
  ASSERT_THAT(Places(shard), ElementsAre("f 5-7"));
  EXPECT_EQ(shard.kernels(0).source(), "  __global__ void f() {\n    g();\n  }\n");
  EXPECT_EQ(shard.kernels(0).column(), 2);
  EXPECT_EQ(shard.kernels(0).body_offset(), 24);
  EXPECT_EQ(shard.kernels(0).module(), "__global__ void f() {\n  g();\n}\n");
}

TEST(DocumentFileTest, CudaInStringsThatIsNotTheTextIsListed) {
  const v1::KernelShard shard = LinkNotebook(
      {"s = '''__global__ void f() {}\n'''\n", "s = '''\n__global__ void f() {\n''' '}'\n"});
  EXPECT_THAT(Names(shard), IsEmpty());
  EXPECT_THAT(Skipped(shard), ElementsAre("1 shared_line", "3 not_verbatim"));
}

TEST(DocumentFileTest, IndentedCodeIsRead) {
  EXPECT_THAT(
      Names(LinkPage("Import:\n\n    import triton\n    import triton.language as tl\n\nthen\n\n"
                     "    @triton.jit\n    def k(x):\n        tl.store(x, 1)\n\nEnd.\n")),
      ElementsAre("k"));
}

TEST(DocumentFileTest, AMessageOfAToolIsNoCode) {
  EXPECT_THAT(Names(LinkPage(absl::StrCat(
                  Fence("", "===== Invalid __global__ write of size 4 bytes\n at 0x1234 in f\n"),
                  Fence("cpp", "__global__ void f() {}\n")))),
              ElementsAre("f"));
}

TEST(DocumentFileTest, HtmlIsReadDecoded) {
  const v1::KernelShard shard = LinkPage(
      "<h1>T</h1>\n<pre><code class=\"language-cuda\">__global__ void f(int* x) {\n"
      "  if (threadIdx.x &lt; 4) *x = 1;\n}</code></pre>\n",
      "a.html");
  ASSERT_THAT(Places(shard), ElementsAre("f 2-4"));
  EXPECT_EQ(shard.kernels(0).source(),
            "__global__ void f(int* x) {\n  if (threadIdx.x < 4) *x = 1;\n}\n");
  EXPECT_EQ(shard.kernels(0).context().kind(), "pre");
}

TEST(DocumentFileTest, QuartoAndReStructuredTextAreRead) {
  const std::string code = absl::StrCat(kImports, "N = 1\n", kKernel);
  EXPECT_THAT(Names(LinkPage(Fence("{python}", code), "a.qmd")), ElementsAre("k"));
  EXPECT_THAT(Names(LinkPage(absl::StrCat(".. code-block:: python\n\n   ",
                                          absl::StrReplaceAll(code, {{"\n", "\n   "}}), "\n"),
                             "a.rst")),
              ElementsAre("k"));
}

TEST(DocumentFileTest, ProseIsNoCode) {
  EXPECT_THAT(Names(LinkPage(std::string(kImports) + std::string(kKernel))), IsEmpty());
  EXPECT_THAT(Names(ExtractAndLink(
                  {{"a.ipynb", Cells({std::string(kImports) + std::string(kKernel)}, "raw")}})),
              IsEmpty());
}

TEST(DocumentFileTest, BrokenNotebooksAreListed) {
  std::string text = Cells({std::string(kImports) + "N = 1\n" + std::string(kKernel)});
  text.resize(text.rfind(']'));
  const v1::KernelShard shard = ExtractAndLink({{"a.ipynb", text}});
  EXPECT_THAT(Names(shard), ElementsAre("k"));
  EXPECT_THAT(Skipped(shard), ElementsAre("1 json_truncated"));
}

TEST(DocumentFileTest, LargeDocumentsAreListed) {
  v1::FileShard files;
  files.add_files()->set_path("a.ipynb");
  files.mutable_files(0)->set_content(Cells({std::string(kKernel)}));
  ExtractOptions options;
  options.max_json_bytes = 10;
  const auto shard = ExtractKernels(files, python::StandardParser(), options);
  ASSERT_TRUE(shard.ok());
  EXPECT_EQ(shard->files(0).failed(), "too_large");
}

}  // namespace
}  // namespace kernelmill::extractor
