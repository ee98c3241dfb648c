#include "services/deduplicator/core/resolve/opted_out_texts.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::deduplicator {
namespace {

v1::Kernel At(const std::string& path, int first_line, int last_line, int tokens = 100) {
  v1::Kernel kernel;
  kernel.set_path(path);
  kernel.set_first_line(first_line);
  kernel.set_last_line(last_line);
  kernel.set_tokens(tokens);
  return kernel;
}

v1::Kernel With(v1::Kernel kernel, const std::string& path, int first_line, int last_line) {
  v1::ModulePiece* piece = kernel.add_pieces();
  piece->set_path(path);
  piece->set_first_line(first_line);
  piece->set_last_line(last_line);
  return kernel;
}

// "module of 3", or nothing.
std::string FoundIn(const OptedOutTexts& texts, const v1::Kernel& kernel, uint32_t number = 99,
                    int source = 0) {
  const auto found = texts.FindIn(source, number, kernel);
  return found.has_value() ? absl::StrCat(found->text, " of ", found->number) : "";
}

TEST(OptedOutTexts, AreFoundInAKernelsOwnTextItsModuleAndItsLauncher) {
  OptedOutTexts texts;
  texts.Add(0, 3, At("h.py", 10, 20), /*named=*/true);
  EXPECT_EQ(FoundIn(texts, With(At("a.py", 1, 9), "h.py", 10, 20)), "module of 3");
  EXPECT_EQ(FoundIn(texts, With(At("a.py", 1, 9), "h.py", 5, 30)), "module of 3")
      << "as a part of a statement";
  EXPECT_EQ(FoundIn(texts, With(At("a.py", 1, 9), "h.py", 21, 30)), "");
  EXPECT_EQ(FoundIn(texts, With(At("a.py", 1, 9), "other.py", 10, 20)), "");
  EXPECT_EQ(FoundIn(texts, At("h.py", 1, 40)), "source of 3") << "it contains the opted-out lines";
  v1::Kernel launched = At("a.py", 1, 9);
  launched.mutable_launcher()->set_path("h.py");
  launched.mutable_launcher()->set_first_line(8);
  launched.mutable_launcher()->set_last_line(25);
  EXPECT_EQ(FoundIn(texts, launched), "launcher of 3");
  EXPECT_EQ(FoundIn(texts, With(At("h.py", 10, 20), "h.py", 10, 20), 3), "") << "itself";
}

TEST(OptedOutTexts, AreOfTheirSource) {
  OptedOutTexts texts;
  texts.Add(1, 3, At("h.py", 10, 20), /*named=*/true);
  EXPECT_FALSE(texts.Has(0));
  EXPECT_TRUE(texts.Has(1));
  EXPECT_EQ(FoundIn(texts, With(At("a.py", 1, 9), "h.py", 10, 20), 99, 0), "");
}

TEST(OptedOutTexts, WhatAnotherSourceLendsIsOfThatSource) {
  OptedOutTexts texts;
  texts.Add(1, 3, At("h.py", 10, 20), /*named=*/true);
  EXPECT_FALSE(texts.Has(0));
  texts.AddLending(0, "user");
  texts.AddLending(1, "lender");
  texts.AddLending(2, "other");
  EXPECT_TRUE(texts.Has(0));
  EXPECT_FALSE(texts.Has(3));
  v1::Kernel kernel = With(At("a.py", 1, 9), "h.py", 10, 20);
  EXPECT_EQ(FoundIn(texts, kernel), "");
  kernel.mutable_pieces(0)->set_used_source("lender");
  EXPECT_EQ(FoundIn(texts, kernel), "module of 3");
  kernel.mutable_pieces(0)->set_used_source("other");
  EXPECT_EQ(FoundIn(texts, kernel), "");
  texts.Add(0, 4, At("h.py", 10, 20), /*named=*/true);
  EXPECT_EQ(FoundIn(texts, kernel), "") << "that path is its own source's";
}

TEST(OptedOutTexts, AShortCopyIsAnybodysButAShortKernelThatIsNamedIsNot) {
  OptedOutTexts texts;
  texts.Add(0, 3, At("h.py", 10, 20, kLeastOptedOutTokens - 1), /*named=*/false);
  EXPECT_EQ(FoundIn(texts, With(At("a.py", 1, 9), "h.py", 10, 20)), "");
  texts.Add(0, 4, At("h.py", 10, 20, kLeastOptedOutTokens), /*named=*/false);
  EXPECT_EQ(FoundIn(texts, With(At("a.py", 1, 9), "h.py", 10, 20)), "module of 4");
  texts.Add(0, 5, At("g.py", 1, 2, 5), /*named=*/true);
  EXPECT_EQ(FoundIn(texts, With(At("a.py", 1, 9), "g.py", 1, 2)), "module of 5");
}

TEST(OptedOutTexts, TheStringsOfAJsonFileHaveLinesOfTheirOwn) {
  OptedOutTexts texts;
  v1::Kernel kernel = At("x.jsonl", 3, 9);
  kernel.set_json_pointer("/1/code");
  texts.Add(0, 3, kernel, /*named=*/true);
  v1::Kernel user = With(At("x.jsonl", 20, 30), "x.jsonl", 3, 9);
  user.set_json_pointer("/2/code");
  EXPECT_EQ(FoundIn(texts, user), "");
  user.set_json_pointer("/1/code");
  EXPECT_EQ(FoundIn(texts, user), "module of 3");
}

}  // namespace
}  // namespace kernelmill::deduplicator
