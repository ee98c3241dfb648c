#include "client/catalog/pages/kernel_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/testing/catalog_rows.h"

namespace kernelmill::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CatalogKernel Softmax() { return *ParseKernelRow(testing::SoftmaxRow().dump()); }

std::string MakePage(const CatalogKernel& kernel) {
  const std::vector<Sentence> sentences = Describe(kernel, ReadCodeFacts(kernel));
  return KernelPage({.kernel = kernel, .sentences = sentences});
}

TEST(KernelPage, HasWhatARowSays) {
  const std::string page = MakePage(Softmax());
  for (const char* part :
       {"<h1><bdi>softmax_kernel</bdi></h1>", "id=\"L3\"", "id=\"L9\"",
        "https://github.com/a/kernels/blob/c0ffee/ops/softmax.py#L3-L9", "Row-wise softmax",
        "<code>BLOCK</code></td><td>constexpr", "num_warps=4",
        "<span class=\"f\">empty_like</span>", "Copyright (c) 2024 Ada Lovelace", "b/origin",
        "a syntax error in line 2", "href=\"../../assets/site.css\""}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, HasSubstr(absl::StrCat("base64,", absl::Base64Escape(Softmax().module))));
  EXPECT_THAT(page, Not(HasSubstr("Compiled")));
}

TEST(KernelPage, SaysOfWhatIsThereAndMissing) {
  CatalogKernel kernel = Softmax();
  kernel.compile = CompileEvidence{.imports = {{.toolchain = "triton-3.5", .ok = true}},
                                   .signatures = {"*fp32"},
                                   .results = {{.toolchain = "triton-3.5",
                                                .target = "cuda:90",
                                                .status = "error",
                                                .stage = "ttir",
                                                .message = "no <such> name",
                                                .line = 4,
                                                .registers = 32}}};
  const std::string page = MakePage(kernel);
  EXPECT_THAT(page, HasSubstr("ttir: no &lt;such&gt; name"));
  EXPECT_THAT(page, HasSubstr("<span class=\"bad\">error</span>"));
  CompileResult& result = kernel.compile->results[0];
  result.status = "unknown";
  result.missing = "type:x_ptr";
  EXPECT_THAT(MakePage(kernel),
              HasSubstr("type:x_ptr is unknown; with a guess: ttir: no &lt;such&gt; name"));
  result.missing = "sandbox";
  EXPECT_THAT(MakePage(kernel), Not(HasSubstr("is unknown")));
  kernel.compile = CompileEvidence{.not_attempted = "language"};
  EXPECT_THAT(MakePage(kernel), HasSubstr("Not compiled: language"));
}

TEST(KernelPage, TextOfStrangersIsText) {
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'\xe2\x80\xae";
  CatalogKernel kernel = Softmax();
  for (std::string* text : {&kernel.name,
                            &kernel.qualname,
                            &kernel.repository,
                            &kernel.path,
                            &kernel.docstring,
                            &kernel.signature,
                            &kernel.license.expression,
                            &kernel.license.evidence,
                            &kernel.license.vendored,
                            &kernel.source,
                            &kernel.module,
                            &kernel.generated,
                            &kernel.kind,
                            &kernel.target,
                            &kernel.found_by,
                            &kernel.json_pointer,
                            &kernel.requires_triton,
                            &kernel.requires_triton_path,
                            &kernel.launcher->path,
                            &kernel.launcher->qualname,
                            &kernel.launcher->text,
                            &kernel.parameters[0].name,
                            &kernel.parameters[0].annotation,
                            &kernel.autotune->key[0],
                            &kernel.license.copyrights[0],
                            &kernel.license.notices[0],
                            &kernel.license.found[0].path,
                            &kernel.license.adapted_from[0].origin,
                            &kernel.tags[0],
                            &kernel.features[0],
                            &kernel.check_reasons[0].second,
                            &kernel.dsl,
                            &kernel.split,
                            &kernel.category,
                            &kernel.commit}) {
    *text = evil;
  }
  kernel.tests = {evil};
  const std::string url = "https://example.com/\"onclick=x<b>";
  kernel.url = url;
  kernel.repository_url = "javascript:alert(1)";
  CatalogEntry entry;
  entry.id = kernel.id;
  entry.qualname = entry.path = entry.repository = entry.license = evil;
  Duplicates duplicates{
      .count = 1, .first = {{.repository = evil, .path = evil, .url = "data:x", .reason = evil}}};
  const std::vector<Sentence> sentences = Describe(kernel, ReadCodeFacts(kernel));
  const std::string page = KernelPage({.kernel = kernel,
                                       .sentences = sentences,
                                       .duplicates = &duplicates,
                                       .relatives = {{&entry, {0, 0.5, "similar"}}},
                                       .compared = &entry,
                                       .compared_source = evil + "\nx",
                                       .notices = {{evil, "ab.html"}}});
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\"onclick")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"javascript:")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"data:x")));
  // The head has the only script.
  EXPECT_EQ(page.find("</script>"), page.rfind("</script>"));
  // Characters that turn text only occur in code, isolated.
  for (size_t at = 0; (at = page.find("\xe2\x80\xae", at)) != std::string::npos; ++at) {
    EXPECT_EQ(page.compare(at + 3, 6, "</bdi>"), 0);
  }
}

TEST(KernelPage, IsNeverLargerThanAFileMayBe) {
  CatalogKernel kernel = Softmax();
  const std::string quotes(400'000, '"');
  std::string lines;
  for (int i = 0; i < 60'000; ++i) lines += "\"'<&\n";
  kernel.source = lines;
  kernel.module = quotes;
  kernel.docstring = quotes;
  kernel.signature = quotes;
  kernel.launcher->text = lines;
  kernel.parameters.assign(500, {.name = quotes, .annotation = quotes});
  kernel.check_reasons.assign(100, {"parses", quotes});
  kernel.license.copyrights.assign(500, quotes);
  kernel.unresolved_names.assign(500, {quotes, quotes});
  kernel.autotune->configs.assign(500, {.kwargs = {{"A", quotes}}});
  for (const size_t module : {1'000'000u, 90'000u}) {
    kernel.module = std::string(module, '"');
    const std::vector<Sentence> sentences = Describe(kernel, ReadCodeFacts(kernel));
    CatalogEntry entry;
    const std::string page = KernelPage({.kernel = kernel,
                                         .sentences = sentences,
                                         .compared = &entry,
                                         .compared_source = quotes + lines});
    EXPECT_LT(page.size(), kMaxPage);
    EXPECT_THAT(page, HasSubstr("lines are shown; the rest is at"));
  }
}

CatalogKernel Kernel(const std::string& url, const std::string& path) {
  CatalogKernel kernel;
  kernel.repository_url = url;
  kernel.commit = "0123456789abcdef0123456789abcdef01234567";
  kernel.path = path;
  kernel.first_line = 3;
  kernel.last_line = 9;
  return kernel;
}

TEST(GetAgain, OfAForgeThatHasFilesIsOneDownload) {
  EXPECT_EQ(
      GetAgainCommands(Kernel("https://github.com/a/b", "ops/soft max.py")),
      "curl -fL -o './soft max.py' "
      "'https://github.com/a/b/raw/0123456789abcdef0123456789abcdef01234567/ops/soft%20max.py'\n"
      "sed -n '3,9p' './soft max.py'\n");
}

TEST(GetAgain, OfAnotherIsAFetchOfTheCommit) {
  EXPECT_EQ(GetAgainCommands(Kernel("https://example.com/a/b", "k.py")),
            "git init -q kernel && git -C kernel fetch -q --depth 1 'https://example.com/a/b' "
            "0123456789abcdef0123456789abcdef01234567\n"
            "git -C kernel show '0123456789abcdef0123456789abcdef01234567:k.py' > './k.py'\n"
            "sed -n '3,9p' './k.py'\n");
}

TEST(GetAgain, AShellRunsNothingOfAName) {
  const std::string commands =
      GetAgainCommands(Kernel("https://example.com/a/b", "$(rm -r ~)'; x.py"));
  EXPECT_NE(commands.find("'./$(rm -r ~)'\\''; x.py'"), std::string::npos) << commands;
  EXPECT_EQ(GetAgainCommands(Kernel("https://example.com/a/b", "a\nb.py")), "");
  EXPECT_EQ(GetAgainCommands(Kernel("/home/me/b", "a.py")), "");
  EXPECT_EQ(GetAgainCommands(Kernel("-oProxyCommand=x", "a.py")), "");
}

}  // namespace

}  // namespace kernelmill::client
