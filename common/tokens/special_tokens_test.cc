#include "common/tokens/special_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "token x2", or "token ~x1" for a look-alike.
std::vector<std::string> Find(absl::string_view text) {
  std::vector<std::string> found;
  for (const SpecialToken& token : FindSpecialTokens(text)) {
    found.push_back(absl::StrCat(token.token, token.look_alike ? " ~x" : " x", token.count));
  }
  return found;
}

TEST(SpecialTokens, CodeHasNone) {
  EXPECT_THAT(
      Find("x[i] = a < b; y << 2; if (a<b|c>d) {}\nstd::vector<int> v; [MASK_N] <T> [i, j]\n"
           "tl.load(x, mask=m | n) <| |> <||> [] <> <a b>"),
      IsEmpty());
  EXPECT_THAT(Find(""), IsEmpty());
  EXPECT_THAT(Find("<|"), IsEmpty());
  EXPECT_THAT(Find("[INST"), IsEmpty());
}

TEST(SpecialTokens, EachFamilyHasItsOwn) {
  for (const auto& [text, models] : std::vector<std::pair<std::string, std::string>>{
           {"<|im_start|>", "Qwen"},
           {"<|endoftext|>", "OpenAI"},
           {"<|fim_middle|>", "Qwen"},
           {"[INST]", "Mistral"},
           {"[/INST]", "Llama 2"},
           {"<<SYS>>", "Llama 2"},
           {"<</SYS>>", "Llama 2"},
           {"<|eot_id|>", "Llama 3"},
           {"<|reserved_special_token_17|>", "Llama 3"},
           {"[AVAILABLE_TOOLS]", "Mistral"},
           {"<start_of_turn>", "Gemma"},
           {"<unused12>", "Gemma"},
           {"<｜begin▁of▁sentence｜>", "DeepSeek"},
           {"<｜fim▁hole｜>", "DeepSeek"},
           {"<|channel|>", "gpt-oss"},
           {"<|assistant|>", "Phi"},
           {"<think>", "DeepSeek"},
           {"</s>", "Llama 2"}}) {
    const std::vector<SpecialToken> found = FindSpecialTokens(absl::StrCat("x", text, "y"));
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].token.substr(0, 9), text.substr(0, 9));
    EXPECT_THAT(std::string(found[0].models), HasSubstr(models)) << text;
    EXPECT_FALSE(found[0].look_alike) << text;
  }
}

TEST(SpecialTokens, TheyAreCountedAndSorted) {
  EXPECT_THAT(Find("# [INST] <|im_end|>[INST]\n\"</s>\""),
              ElementsAre("</s> x1", "<|im_end|> x1", "[INST] x2"));
  EXPECT_THAT(Find("<|im_start|><|im_end|>"), ElementsAre("<|im_end|> x1", "<|im_start|> x1"));
  EXPECT_THAT(Find("<<|im_end|>"), ElementsAre("<|im_end|> x1"));
}

TEST(SpecialTokens, AnUnknownOneOfTheUsualFormIsOneToo) {
  const std::vector<SpecialToken> found = FindSpecialTokens("<|my_new-token.2|>");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].token, "<|my_new-token.2|>");
  EXPECT_EQ(found[0].models, "unknown");
}

TEST(SpecialTokens, LookAlikesAreToldFromTheTokens) {
  EXPECT_THAT(Find("<｜im_end｜>"), ElementsAre("<|im_end|> ~x1")) << "fullwidth bars";
  EXPECT_THAT(Find(absl::string_view("<\0|im_end|>", 11)), ElementsAre("<|im_end|> ~x1")) << "NUL";
  EXPECT_THAT(Find("＜|im_end|＞"), ElementsAre("<|im_end|> ~x1")) << "fullwidth brackets";
  EXPECT_THAT(Find("<|im\u200b_end|>"), ElementsAre("<|im_end|> ~x1")) << "zero-width space";
  EXPECT_THAT(Find("<\u2502im_end\u2502>"), ElementsAre("<|im_end|> ~x1")) << "a drawn line";
  EXPECT_THAT(Find("<|im_\u0435nd|>"), ElementsAre("<|im_end|> ~x1")) << "a Cyrillic e";
  EXPECT_THAT(Find("\uff3b\uff29\uff2e\uff33\uff34\uff3d"), ElementsAre("[INST] ~x1"));
  EXPECT_THAT(Find("<|begin_of_sentence|>"), ElementsAre("<｜begin▁of▁sentence｜> ~x1"))
      << "DeepSeek's own has fullwidth bars";
  EXPECT_THAT(Find("<|im_end|> <｜im_end｜>"), ElementsAre("<|im_end|> x1", "<|im_end|> ~x1"));
}

TEST(SpecialTokens, AnyBytesAreRead) {
  EXPECT_THAT(Find("<|\xff|>\xe2<|im_end|>\xef\xbc"), ElementsAre("<|im_end|> x1"));
  EXPECT_THAT(Find(std::string(100'000, '<')), IsEmpty());
  EXPECT_THAT(Find("<|" + std::string(100'000, 'a') + "|>"), IsEmpty());
}

}  // namespace
}  // namespace kernelmill
