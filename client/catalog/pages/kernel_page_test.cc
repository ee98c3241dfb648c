#include "client/catalog/pages/kernel_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/testing/catalog_rows.h"

namespace kernelmill::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::KernelRow Softmax() { return testing::ToKernel(testing::SoftmaxRow()); }

std::string MakePage(const v1::KernelRow& kernel) {
  const std::vector<Sentence> sentences = Describe(kernel, ReadCodeFacts(kernel));
  return KernelPage({.kernel = kernel, .sentences = sentences});
}

TEST(KernelPage, HasWhatARowSays) {
  const std::string page = MakePage(Softmax());
  for (const char* part :
       {"<h1><bdi>softmax_<wbr>kernel</bdi></h1>", "id=\"L3\"", "id=\"L9\"",
        "https://github.com/a/kernels/blob/c0ffee/ops/softmax.py#L3-L9", "Row-wise softmax",
        "<code>BLOCK</code></td><td>constexpr", "num_warps=4",
        "<span class=\"f\">empty_like</span>", "Copyright (c) 2024 Ada Lovelace", "b/origin",
        "a syntax error in line 2", "href=\"../../assets/site.css\""}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  const std::string header =
      "# softmax_kernel of a/kernels, ops/softmax.py:3-9, commit c0ffee\n"
      "# https://github.com/a/kernels/blob/c0ffee/ops/softmax.py#L3-L9\n"
      "# Copyright (c) 2024 Ada Lovelace\n# Adapted from b/origin\n"
      "# SPDX-License-Identifier: MIT\n\n";
  EXPECT_THAT(page,
              HasSubstr(absl::StrCat("base64,", absl::Base64Escape(header + Softmax().module()))));
  EXPECT_THAT(page, Not(HasSubstr("Compilers")));
}

TEST(KernelPage, TheDescriptionRepeatsNeitherTheSummaryNorTheLauncher) {
  v1::KernelRow kernel = Softmax();
  kernel.set_docstring("Row-wise softmax.");
  std::string page = MakePage(kernel);
  EXPECT_THAT(page, Not(HasSubstr("Docstring:")));
  EXPECT_THAT(page, Not(HasSubstr("rule launcher<")));
  kernel.set_docstring("Row-wise softmax. A program takes a row.");
  page = MakePage(kernel);
  EXPECT_THAT(page, HasSubstr("Docstring:"));
}

TEST(KernelPage, TheCodeComesFirstAndEvidenceIsFolded) {
  const std::string page = MakePage(Softmax());
  std::vector<size_t> places;
  for (const char* part : {"<p class=\"lead\">Row-wise softmax", "data-copy=\"module-code\"",
                           "How to call it</h2>", "Computation</h2>", "<details class=\"fold\">"}) {
    places.push_back(page.find(part));
    EXPECT_NE(places.back(), std::string::npos) << part;
  }
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
}

TEST(KernelPage, SaysOfWhatIsThereAndMissing) {
  v1::KernelRow kernel = Softmax();
  v1::KernelRow::Compile& compile = *kernel.mutable_compile();
  compile.add_imports()->set_toolchain("triton-3.5");
  compile.add_signatures();
  v1::KernelRow::Compile::Result& result = *compile.add_results();
  result.set_toolchain("triton-3.5");
  result.set_target("cuda:90");
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage("ttir");
  result.set_message("no <such> name");
  result.set_line(4);
  result.set_registers(32);
  const std::string page = MakePage(kernel);
  EXPECT_THAT(page, HasSubstr("ttir: no &lt;such&gt; name"));
  EXPECT_THAT(page, HasSubstr("<span class=\"bad\">error</span>"));
  result.set_status(v1::COMPILE_STATUS_UNKNOWN);
  result.set_missing("type:x_ptr");
  EXPECT_THAT(MakePage(kernel),
              HasSubstr("type:x_ptr is unknown; with a guess: ttir: no &lt;such&gt; name"));
  result.set_missing("sandbox");
  EXPECT_THAT(MakePage(kernel), Not(HasSubstr("is unknown")));
  compile.Clear();
  compile.set_not_attempted("language");
  EXPECT_THAT(MakePage(kernel), HasSubstr("Not compiled: language"));
}

TEST(KernelPage, SaysThatAKernelDoesNotCompile) {
  v1::KernelRow kernel = Softmax();
  EXPECT_THAT(MakePage(kernel), Not(HasSubstr("does not compile")));
  kernel.mutable_checks()->set_compiles(v1::RuleResult::OUTCOME_FAIL);
  EXPECT_THAT(MakePage(kernel), HasSubstr("href=\"#compile\">does not compile</a>"));
  EXPECT_THAT(MakePage(kernel),
              HasSubstr("0.820, tier 1, <span class=\"bad\">but it does not compile"));
}

TEST(KernelPage, ALauncherSaysWhatItNeeds) {
  v1::KernelRow kernel = Softmax();
  EXPECT_THAT(MakePage(kernel), HasSubstr("<li><code>torch</code></li>"));
  kernel.mutable_launcher()->set_text(
      "    def run(self, x):\n        n = pick_size(x)\n"
      "        softmax_kernel[(1,)](x, x, 1, n, BLOCK=self.block)\n");
  const std::string page = MakePage(kernel);
  EXPECT_THAT(page, HasSubstr("<li><code>pick_size</code></li>"));
  EXPECT_THAT(page, HasSubstr("<li><code>self.block</code></li>"));
  kernel.mutable_launcher()->set_text(
      "def run(out, x, n):\n    softmax_kernel[(n,)](out, x, 1, n, BLOCK=64)\n");
  EXPECT_THAT(MakePage(kernel), HasSubstr("It runs below the module: no name is missing."));
}

TEST(KernelPage, NoTextEndsTheCommentsAboveAModule) {
  v1::KernelRow kernel = Softmax();
  kernel.mutable_license()->set_copyrights(0, "(c) A\nimport os\r\nos.abort()\xe2\x80\xa8x");
  kernel.set_path("a\nimport os");
  const std::string page = MakePage(kernel);
  const size_t begin = page.find("base64,") + 7;
  std::string module;
  ASSERT_TRUE(absl::Base64Unescape(page.substr(begin, page.find('"', begin) - begin), &module));
  const std::string header = module.substr(0, module.find("\n\nimport triton"));
  for (const absl::string_view line : absl::StrSplit(header, '\n')) {
    EXPECT_TRUE(absl::StartsWith(line, "# ")) << line;
  }
  EXPECT_THAT(header, Not(HasSubstr("\r")));
}

TEST(KernelPage, TextOfStrangersIsText) {
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'\xe2\x80\xae";
  v1::KernelRow kernel = Softmax();
  for (std::string* text : {kernel.mutable_name(),
                            kernel.mutable_qualname(),
                            kernel.mutable_repository(),
                            kernel.mutable_path(),
                            kernel.mutable_docstring(),
                            kernel.mutable_signature(),
                            kernel.mutable_license()->mutable_expression(),
                            kernel.mutable_license()->mutable_evidence(),
                            kernel.mutable_license()->mutable_vendored(),
                            kernel.mutable_source(),
                            kernel.mutable_module(),
                            kernel.mutable_quality()->mutable_generated(),
                            kernel.mutable_kind(),
                            kernel.mutable_target(),
                            kernel.mutable_found_by(),
                            kernel.mutable_json_pointer(),
                            kernel.mutable_requires_triton(),
                            kernel.mutable_requires_triton_path(),
                            kernel.mutable_launcher()->mutable_path(),
                            kernel.mutable_launcher()->mutable_qualname(),
                            kernel.mutable_launcher()->mutable_text(),
                            kernel.mutable_parameters(0)->mutable_name(),
                            kernel.mutable_parameters(0)->mutable_annotation(),
                            kernel.mutable_autotune()->mutable_key(0),
                            kernel.mutable_license()->mutable_copyrights(0),
                            kernel.mutable_license()->mutable_notices(0),
                            kernel.mutable_license()->mutable_found(0)->mutable_path(),
                            kernel.mutable_license()->mutable_adapted_from(0)->mutable_origin(),
                            kernel.mutable_tags(0),
                            kernel.mutable_features(0),
                            kernel.mutable_check_reasons(0)->mutable_reason(),
                            kernel.mutable_split(),
                            kernel.mutable_category(),
                            kernel.mutable_commit()}) {
    *text = evil;
  }
  const std::string url = "https://example.com/\"onclick=x<b>";
  kernel.set_url(url);
  kernel.set_repository_url("javascript:alert(1)");
  CatalogEntry entry;
  entry.id = kernel.id();
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
  v1::KernelRow kernel = Softmax();
  const std::string quotes(400'000, '"');
  std::string lines;
  for (int i = 0; i < 60'000; ++i) lines += "\"'<&\n";
  kernel.set_source(lines);
  kernel.set_module(quotes);
  kernel.set_docstring(quotes);
  kernel.set_signature(quotes);
  kernel.mutable_launcher()->set_text(lines);
  for (int i = 0; i < 500; ++i) {
    auto* parameter = kernel.add_parameters();
    parameter->set_name(quotes);
    parameter->set_annotation(quotes);
    kernel.mutable_license()->add_copyrights(quotes);
    auto* missing = kernel.add_unresolved_names();
    missing->set_name(quotes);
    missing->set_reason(quotes);
    auto* kwarg = kernel.mutable_autotune()->add_configs()->add_kwargs();
    kwarg->set_name("A");
    kwarg->set_value(quotes);
  }
  kernel.mutable_check_reasons(0)->set_reason(quotes);
  for (const size_t module : {1'000'000u, 90'000u}) {
    kernel.set_module(std::string(module, '"'));
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

v1::KernelRow Kernel(const std::string& url, const std::string& path) {
  v1::KernelRow kernel;
  kernel.set_repository_url(url);
  kernel.set_commit("0123456789abcdef0123456789abcdef01234567");
  kernel.set_path(path);
  kernel.set_first_line(3);
  kernel.set_last_line(9);
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
