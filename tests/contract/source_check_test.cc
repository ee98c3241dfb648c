// The check that manifests and exports rely on accepts everything that the extractor makes: each
// form of a kernel, in each form of a file.
#include "common/manifest/source_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/python/parse/python_parser.h"
#include "common/testing/status_matchers.h"
#include "services/extractor/core/extract/extract.h"

namespace kernelmill {
namespace {

using ::kernelmill::testing::IsOk;

// Returns the number of the file's kernels; each must pass the check.
int CheckedKernels(const std::string& path, const std::string& text) {
  v1::FileShard files;
  files.add_files()->set_path(path);
  files.mutable_files(0)->set_content(text);
  const python::StandardParser parser;
  const absl::StatusOr<v1::KernelShard> shard = extractor::ExtractKernels(files, parser);
  EXPECT_THAT(shard, IsOk()) << path;
  if (!shard.ok()) return 0;
  EXPECT_THAT(manifest::CheckSources(files, *shard), IsOk()) << path << ":\n" << text;
  return shard->kernels_size();
}

constexpr char kPlain[] =
    "import triton\n\n\n@triton.jit\ndef k(x):\n    pass\n\n\nclass A:\n    @triton.jit\n"
    "    def m(x):\n        pass\n";
constexpr char kInString[] =
    "a = 1\nk = async_compile.triton('k', '''\nimport triton\n\n@triton.jit\ndef k(x):\n"
    "    pass\n''')\n";
constexpr char kTemplate[] =
    "t = TritonTemplate('t', g, r'''\n{{def_kernel('A')}}\n    tl.load(A)\n''')\n";
constexpr char kCuda[] =
    "#include <a.h>\n\nnamespace n {\ntemplate <int N>\n__global__ void k(int* x) {\n  *x = 1;\n}\n"
    "__device__ int f(int x) { return x; } __device__ int g(int x) { return x; }\n}\n";

TEST(SourceCheckContract, EveryFormWithEveryLineEndIsFoundTrue) {
  const struct {
    const char* path;
    const char* text;
    int kernels;
  } kForms[] = {
      {"a.py", kPlain, 2},    {"a.py", kInString, 1},
      {"a.py", kTemplate, 1}, {"a.py.jinja", "{{def_kernel('A')}}\n    tl.load(A)\n", 1},
      {"a.cu", kCuda, 3},
  };
  for (const auto& form : kForms) {
    for (const char* end : {"\n", "\r\n", "\r"}) {
      const std::string text = absl::StrReplaceAll(form.text, {{"\n", end}});
      EXPECT_EQ(CheckedKernels(form.path, text), form.kernels) << JsonString(text);
      // Without a line end at the end; behind a byte order mark; with tabs.
      EXPECT_LE(CheckedKernels(form.path, text.substr(0, text.size() - 1)), form.kernels);
      EXPECT_LE(CheckedKernels(form.path, "\xef\xbb\xbf" + text), form.kernels);
      EXPECT_LE(CheckedKernels(form.path, absl::StrReplaceAll(text, {{"    ", "  \t"}})),
                form.kernels);
    }
  }
}

TEST(SourceCheckContract, EveryFormInAStringOfAJsonFileIsFoundTrue) {
  const std::string fenced = absl::StrCat("Prose, isn't it.\n\n```python\n", kPlain,
                                          "```\nmore\n```cuda\n", kCuda, "```\n");
  for (const std::string& text : {std::string(kPlain), std::string(kInString), std::string(kCuda),
                                  fenced, absl::StrCat("It's prose.\n\n", kPlain, "\nMore.\n")}) {
    const std::string value = JsonString(text);
    const std::string twice = absl::StrCat("{\"code\": ", value, ", \"code\": ", value, "}");
    const int alone = CheckedKernels("a.json", value);
    EXPECT_GT(alone, 0) << text;
    EXPECT_EQ(CheckedKernels("a.json", absl::StrCat("\xef\xbb\xbf [\"é\\u00e9\", ", twice, "]")),
              2 * alone);
    EXPECT_EQ(CheckedKernels("a.jsonl", absl::StrCat(twice, "\n\n", twice, "\n{\"a/b\": ", value)),
              5 * alone);
  }
}

TEST(SourceCheckContract, EveryFileOfTheTestDataIsFoundTrue) {
  int kernels = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(KERNELMILL_SOURCE_DIR "/tests/data")) {
    if (!entry.is_regular_file()) continue;
    const absl::StatusOr<std::string> text = ReadFile(entry.path().string(), 1 << 20);
    ASSERT_THAT(text, IsOk());
    kernels += CheckedKernels(entry.path().filename().string(), *text);
  }
  EXPECT_GT(kernels, 40);
}

}  // namespace
}  // namespace kernelmill
