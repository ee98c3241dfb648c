#include "services/deduplicator/core/sign/words.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace kernelmill::deduplicator {
namespace {

// Returns a text of `count` different words.
std::string Words(int count, absl::string_view stem = "word", absl::string_view between = " ") {
  std::string text;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, stem, i, between);
  return text;
}

v1::Kernel File(absl::string_view path, absl::string_view content) {
  v1::Kernel file;
  file.set_form(v1::KERNEL_FORM_FILE);
  file.set_path(std::string(path));
  file.set_source(std::string(content));
  return file;
}

TEST(WordRuns, LayoutQuotesAndCaseDoNotCount) {
  const std::string text = Words(100);
  const auto runs = WordRuns(text);
  EXPECT_GT(runs.size(), 20u);
  EXPECT_LT(runs.size(), 70u);
  EXPECT_EQ(WordRuns(absl::StrReplaceAll(text, {{" ", ",\n    # "}})), runs);
  EXPECT_EQ(WordRuns(absl::StrReplaceAll(text, {{"word", "WORD"}})), runs);
  EXPECT_NE(WordRuns(Words(100, "other")), runs);
}

TEST(WordRuns, NoticeAtTheHeadIsNotCompared) {
  const std::string notice = absl::StrCat("# Copyright 2024\n# ", Words(200, "license"), "\n#\n\n");
  EXPECT_EQ(WordRuns(notice + Words(100)), WordRuns(Words(100)));
  EXPECT_NE(WordRuns("# " + Words(200, "x") + "\n" + Words(100)), WordRuns(Words(100)));
}

TEST(AddFileWords, StringsOfJsonAreTextsOfTheirOwn) {
  v1::KernelShingles shingles;
  AddFileWords(File("a.jsonl", absl::StrCat("{\"prompt\": \"", Words(100, "p", "\\n"),
                                            "\", \"short\": \"x\"}\n{\"answer\": \"",
                                            Words(100, "a"), "\"}\n")),
               &shingles);
  ASSERT_EQ(shingles.words_size(), 2);
  EXPECT_EQ(shingles.words(0).json_pointer(), "/1/prompt");
  EXPECT_EQ(shingles.words(1).json_pointer(), "/2/answer");
  EXPECT_EQ(std::vector<uint64_t>(shingles.words(0).runs().begin(), shingles.words(0).runs().end()),
            WordRuns(Words(100, "p")));
}

TEST(AddFileWords, LinesOfANotebooksCellAreOneText) {
  std::string lines;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&lines, i == 0 ? "" : ", ", "\"line", i, "\\n\"");
  v1::KernelShingles shingles;
  AddFileWords(File("a.ipynb", absl::StrCat("{\"cells\": [{\"source\": [", lines, "]}]}")),
               &shingles);
  ASSERT_EQ(shingles.words_size(), 1);
  EXPECT_EQ(static_cast<size_t>(shingles.words(0).runs_size()),
            WordRuns(Words(100, "line")).size());
}

TEST(AddFileWords, ShortTextsAndLicencesHaveNone) {
  v1::KernelShingles shingles;
  AddFileWords(File("a.py", Words(20)), &shingles);
  AddFileWords(File("docs/LICENSE.txt", Words(1000)), &shingles);
  AddFileWords(File("a.bin", Words(1000) + std::string(1, '\0')), &shingles);
  EXPECT_EQ(shingles.words_size(), 0);
}

TEST(AddKernelWords, DocstringAndLauncherCountAndTheModuleHasWhatTheSourceHasNot) {
  v1::Kernel kernel;
  kernel.set_source(absl::StrCat("def k(x):\n    \"\"\"", Words(100), "\"\"\"\n"));
  kernel.set_module(absl::StrCat(Words(100, "helper"), "\n", kernel.source()));
  kernel.mutable_launcher()->set_text(Words(100, "launch"));
  v1::KernelShingles shingles;
  AddKernelWords(kernel, &shingles);
  ASSERT_EQ(shingles.words_size(), 3);
  EXPECT_EQ(shingles.words(0).text(), v1::Sensitive::TEXT_SOURCE);
  EXPECT_EQ(shingles.words(1).text(), v1::Sensitive::TEXT_MODULE);
  EXPECT_EQ(shingles.words(2).text(), v1::Sensitive::TEXT_LAUNCHER);
  EXPECT_LT(shingles.words(1).runs_size(), 100);
}

}  // namespace
}  // namespace kernelmill::deduplicator
