// The basic idea: a token begins with '<' or '[', or with a character that looks like one. From
// there at most kMostCharacters are folded to ASCII: characters that look alike become one, and
// invisible ones are left out. The folded text is looked up in a table. So one look finds a token
// and its look-alikes, and the bytes say which of them the text has.

#include "common/tokens/special_tokens.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/base/unsafe_text.h"

namespace kernelmill {
namespace {

using absl::string_view;

constexpr size_t kMostCharacters = 64;  // longer than any token
constexpr char kUnknown[] = "unknown";

struct KnownToken {
  string_view token;
  string_view models;
};

// The sources: `special_tokens` of tiktoken's openai_public.py and of openai/harmony
// (docs/format.md); `added_tokens` in the tokenizer.json or tokenizer_config.json that each model
// is published with (Llama 2, CodeLlama, Llama 3 and 4, Qwen 2.5 and 3, Mistral's tekken and its
// mistral-common, Gemma 2 and 3, DeepSeek Coder, V3 and R1, Phi 3 and 4, StarCoder 2, Command R,
// GLM 4). A digit of a numbered token is '#'.
// clang-format off
constexpr KnownToken kKnown[] = {
    {"<|endoftext|>", "OpenAI, Qwen, Phi, StarCoder, GLM"},
    {"<|endofprompt|>", "OpenAI"},
    {"<|startoftext|>", "gpt-oss"},
    {"<|start|>", "gpt-oss"},
    {"<|message|>", "gpt-oss"},
    {"<|channel|>", "gpt-oss"},
    {"<|constrain|>", "gpt-oss"},
    {"<|return|>", "gpt-oss"},
    {"<|call|>", "gpt-oss"},
    {"<|end|>", "gpt-oss, Phi"},
    {"<|reserved_######|>", "gpt-oss"},
    {"<|im_start|>", "Qwen, ChatML, Phi"},
    {"<|im_end|>", "Qwen, ChatML, Phi"},
    {"<|im_sep|>", "ChatML, Phi"},
    {"<|fim_prefix|>", "OpenAI, Qwen, Gemma, Phi"},
    {"<|fim_middle|>", "OpenAI, Qwen, Gemma, Phi"},
    {"<|fim_suffix|>", "OpenAI, Qwen, Gemma, Phi"},
    {"<|fim_pad|>", "Qwen"},
    {"<|repo_name|>", "Qwen"},
    {"<|file_sep|>", "Qwen"},
    {"<|object_ref_start|>", "Qwen"},
    {"<|object_ref_end|>", "Qwen"},
    {"<|box_start|>", "Qwen"},
    {"<|box_end|>", "Qwen"},
    {"<|quad_start|>", "Qwen"},
    {"<|quad_end|>", "Qwen"},
    {"<|vision_start|>", "Qwen"},
    {"<|vision_end|>", "Qwen"},
    {"<|vision_pad|>", "Qwen"},
    {"<|image_pad|>", "Qwen"},
    {"<|video_pad|>", "Qwen"},
    {"<tool_call>", "Qwen"},
    {"</tool_call>", "Qwen"},
    {"<tool_response>", "Qwen"},
    {"</tool_response>", "Qwen"},
    {"<think>", "DeepSeek, Qwen"},
    {"</think>", "DeepSeek, Qwen"},
    {"<s>", "Llama 2, Mistral"},
    {"</s>", "Llama 2, Mistral"},
    {"<unk>", "Llama 2, Mistral, Gemma"},
    {"<pad>", "Mistral, Gemma"},
    {"[INST]", "Mistral, Llama 2"},
    {"[/INST]", "Mistral, Llama 2"},
    {"<<SYS>>", "Llama 2"},
    {"<</SYS>>", "Llama 2"},
    {"<EOT>", "CodeLlama"},
    {"<|begin_of_text|>", "Llama 3"},
    {"<|end_of_text|>", "Llama 3, Granite"},
    {"<|start_header_id|>", "Llama 3"},
    {"<|end_header_id|>", "Llama 3"},
    {"<|eot_id|>", "Llama 3"},
    {"<|eom_id|>", "Llama 3"},
    {"<|python_tag|>", "Llama 3"},
    {"<|finetune_right_pad_id|>", "Llama 3"},
    {"<|image|>", "Llama 3"},
    {"<|reserved_special_token_#|>", "Llama 3"},
    {"<|reserved_special_token_##|>", "Llama 3"},
    {"<|reserved_special_token_###|>", "Llama 3"},
    {"<|header_start|>", "Llama 4"},
    {"<|header_end|>", "Llama 4"},
    {"<|eot|>", "Llama 4"},
    {"<|eom|>", "Llama 4"},
    {"<|python_start|>", "Llama 4"},
    {"<|python_end|>", "Llama 4"},
    {"[AVAILABLE_TOOLS]", "Mistral"},
    {"[/AVAILABLE_TOOLS]", "Mistral"},
    {"[TOOL_CALLS]", "Mistral"},
    {"[TOOL_RESULTS]", "Mistral"},
    {"[/TOOL_RESULTS]", "Mistral"},
    {"[TOOL_CONTENT]", "Mistral"},
    {"[SYSTEM_PROMPT]", "Mistral"},
    {"[/SYSTEM_PROMPT]", "Mistral"},
    {"[CALL_ID]", "Mistral"},
    {"[ARGS]", "Mistral"},
    {"[THINK]", "Mistral"},
    {"[/THINK]", "Mistral"},
    {"[IMG]", "Mistral"},
    {"[IMG_BREAK]", "Mistral"},
    {"[IMG_END]", "Mistral"},
    {"[PREFIX]", "Mistral"},
    {"[MIDDLE]", "Mistral"},
    {"[SUFFIX]", "Mistral"},
    {"[BEGIN_AUDIO]", "Mistral"},
    {"[AUDIO]", "Mistral"},
    {"<start_of_turn>", "Gemma"},
    {"<end_of_turn>", "Gemma"},
    {"<bos>", "Gemma"},
    {"<eos>", "Gemma"},
    {"<mask>", "Gemma"},
    {"<start_of_image>", "Gemma"},
    {"<end_of_image>", "Gemma"},
    {"<image_soft_token>", "Gemma"},
    {"<|file_separator|>", "Gemma"},
    {"<unused#>", "Gemma"},
    {"<unused##>", "Gemma"},
    {"<unused###>", "Gemma"},
    {"<unused####>", "Gemma"},
    {"<｜begin▁of▁sentence｜>", "DeepSeek"},
    {"<｜end▁of▁sentence｜>", "DeepSeek"},
    {"<｜▁pad▁｜>", "DeepSeek"},
    {"<｜User｜>", "DeepSeek"},
    {"<｜Assistant｜>", "DeepSeek"},
    {"<｜fim▁begin｜>", "DeepSeek"},
    {"<｜fim▁hole｜>", "DeepSeek"},
    {"<｜fim▁end｜>", "DeepSeek"},
    {"<｜tool▁calls▁begin｜>", "DeepSeek"},
    {"<｜tool▁calls▁end｜>", "DeepSeek"},
    {"<｜tool▁call▁begin｜>", "DeepSeek"},
    {"<｜tool▁call▁end｜>", "DeepSeek"},
    {"<｜tool▁outputs▁begin｜>", "DeepSeek"},
    {"<｜tool▁outputs▁end｜>", "DeepSeek"},
    {"<｜tool▁output▁begin｜>", "DeepSeek"},
    {"<｜tool▁output▁end｜>", "DeepSeek"},
    {"<｜tool▁sep｜>", "DeepSeek"},
    {"<｜place▁holder▁no▁#｜>", "DeepSeek"},
    {"<｜place▁holder▁no▁##｜>", "DeepSeek"},
    {"<｜place▁holder▁no▁###｜>", "DeepSeek"},
    {"<|EOT|>", "DeepSeek"},
    {"<|system|>", "Phi, GLM"},
    {"<|user|>", "Phi, GLM"},
    {"<|assistant|>", "Phi, GLM"},
    {"<|tool|>", "Phi"},
    {"<|/tool|>", "Phi"},
    {"<|tool_call|>", "Phi"},
    {"<|/tool_call|>", "Phi"},
    {"<|placeholder#|>", "Phi"},
    {"<|dummy_#|>", "Phi"},
    {"<|dummy_##|>", "Phi"},
    {"<|observation|>", "GLM"},
    {"[gMASK]", "GLM"},
    {"<sop>", "GLM"},
    {"<eop>", "GLM"},
    {"<|start_of_role|>", "Granite"},
    {"<|end_of_role|>", "Granite"},
    {"<|START_OF_TURN_TOKEN|>", "Command R"},
    {"<|END_OF_TURN_TOKEN|>", "Command R"},
    {"<|SYSTEM_TOKEN|>", "Command R"},
    {"<|USER_TOKEN|>", "Command R"},
    {"<|CHATBOT_TOKEN|>", "Command R"},
    {"<BOS_TOKEN>", "Command R"},
    {"<fim_prefix>", "StarCoder"},
    {"<fim_middle>", "StarCoder"},
    {"<fim_suffix>", "StarCoder"},
    {"<fim_pad>", "StarCoder"},
    {"<repo_name>", "StarCoder"},
    {"<file_sep>", "StarCoder"},
    {"<gh_stars>", "StarCoder"},
    {"<issue_start>", "StarCoder"},
    {"<issue_comment>", "StarCoder"},
    {"<issue_closed>", "StarCoder"},
    {"<jupyter_start>", "StarCoder"},
    {"<jupyter_text>", "StarCoder"},
    {"<jupyter_code>", "StarCoder"},
    {"<jupyter_output>", "StarCoder"},
    {"<empty_output>", "StarCoder"},
    {"<commit_before>", "StarCoder"},
    {"<commit_msg>", "StarCoder"},
    {"<commit_after>", "StarCoder"},
};
// clang-format on

// A character beside ASCII, and the ASCII character that it is taken for; '\0': none is seen.
struct LookAlike {
  char32_t character;
  char ascii;
};

// From Unicode's confusables.txt, for the characters of tokens. Fullwidth forms are computed.
constexpr LookAlike kLookAlikes[] = {
    {0x00a6, '|'}, {0x00ad, 0},   {0x01c0, '|'}, {0x0391, 'A'}, {0x0392, 'B'}, {0x0395, 'E'},
    {0x0396, 'Z'}, {0x0397, 'H'}, {0x0399, 'I'}, {0x039a, 'K'}, {0x039c, 'M'}, {0x039d, 'N'},
    {0x039f, 'O'}, {0x03a1, 'P'}, {0x03a4, 'T'}, {0x03a5, 'Y'}, {0x03a7, 'X'}, {0x03bf, 'o'},
    {0x0405, 'S'}, {0x0406, 'I'}, {0x0408, 'J'}, {0x0410, 'A'}, {0x0412, 'B'}, {0x0415, 'E'},
    {0x041a, 'K'}, {0x041c, 'M'}, {0x041d, 'H'}, {0x041e, 'O'}, {0x0420, 'P'}, {0x0421, 'C'},
    {0x0422, 'T'}, {0x0425, 'X'}, {0x0430, 'a'}, {0x0435, 'e'}, {0x043e, 'o'}, {0x0440, 'p'},
    {0x0441, 'c'}, {0x0443, 'y'}, {0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'},
    {0x05c0, '|'}, {0x200b, 0},   {0x200c, 0},   {0x200d, 0},   {0x200e, 0},   {0x200f, 0},
    {0x202a, 0},   {0x202b, 0},   {0x202c, 0},   {0x202d, 0},   {0x202e, 0},   {0x2039, '<'},
    {0x203a, '>'}, {0x2060, 0},   {0x2066, 0},   {0x2067, 0},   {0x2068, 0},   {0x2069, 0},
    {0x2215, '/'}, {0x2223, '|'}, {0x2329, '<'}, {0x232a, '>'}, {0x23d0, '|'}, {0x2502, '|'},
    {0x2503, '|'}, {0x2581, '_'}, {0x2758, '|'}, {0x276e, '<'}, {0x276f, '>'}, {0x27e8, '<'},
    {0x27e9, '>'}, {0x3008, '<'}, {0x3009, '>'}, {0xfeff, 0},   {0xffe8, '|'},
};

// Returns the ASCII character that a character is taken for; 0 for one that is not seen; nothing
// for all others.
std::optional<char> Fold(char32_t character) {
  if (character < 0x80) return static_cast<char>(character);
  if (character >= 0xff01 && character <= 0xff5e) return static_cast<char>(character - 0xfee0);
  const LookAlike* const end = std::end(kLookAlikes);
  const LookAlike* const found =
      std::lower_bound(std::begin(kLookAlikes), end, character,
                       [](const LookAlike& a, char32_t b) { return a.character < b; });
  if (found == end || found->character != character) return std::nullopt;
  return found->ascii;
}

// Reads the character at `at` and moves behind it. Bytes that are not UTF-8 fold to nothing.
std::optional<char> TakeFolded(string_view text, size_t* at) {
  const Utf8Character character = DecodeUtf8(text.substr(*at));
  *at += std::max<size_t>(character.size, 1);
  return character.size == 0 ? std::nullopt : Fold(character.code);
}

std::string FoldAll(string_view text) {
  std::string folded;
  for (size_t at = 0; at < text.size();) {
    const std::optional<char> c = TakeFolded(text, &at);
    if (c && *c != 0) folded += *c;
  }
  return folded;
}

std::string WithoutDigits(string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (absl::ascii_isdigit(c)) c = '#';
  }
  return plain;
}

// The known tokens by their folded text.
const absl::flat_hash_map<std::string, const KnownToken*>& KnownByFolded() {
  static const auto& known = *[] {
    auto* by_folded = new absl::flat_hash_map<std::string, const KnownToken*>;
    for (const KnownToken& token : kKnown) by_folded->emplace(FoldAll(token.token), &token);
    return by_folded;
  }();
  return known;
}

// Returns whether a folded text has the form <|name|>.
bool HasUsualForm(string_view folded) {
  if (folded.size() < 5 || !absl::StartsWith(folded, "<|") || !absl::EndsWith(folded, "|>")) {
    return false;
  }
  const string_view name = folded.substr(2, folded.size() - 4);
  return std::all_of(name.begin(), name.end(),
                     [](char c) {
                       return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.' ||
                              c == '/';
                     }) &&
         std::any_of(name.begin(), name.end(), absl::ascii_isalpha);
}

// A token found at a place, and the end of its bytes.
struct Found {
  SpecialToken token;
  size_t end = 0;
};

// Returns what a folded text is, given the bytes that it was folded from.
std::optional<SpecialToken> Recognize(string_view folded, string_view bytes) {
  const auto& known = KnownByFolded();
  auto at = known.find(folded);
  const bool numbered = at == known.end();
  if (numbered) at = known.find(WithoutDigits(folded));
  if (at == known.end()) {
    if (!HasUsualForm(folded)) return std::nullopt;
    return SpecialToken{std::string(folded), kUnknown, 1, bytes != folded};
  }
  if (!numbered) {
    const string_view token = at->second->token;
    return SpecialToken{std::string(token), at->second->models, 1, bytes != token};
  }
  const bool same = WithoutDigits(bytes) == at->second->token;
  return SpecialToken{std::string(same ? bytes : folded), at->second->models, 1, !same};
}

// The pairs of bytes with which a token, or what looks like one, may begin. Code is full of
// brackets, and all but a few are followed by what no token has there.
class Openings {
 public:
  Openings() {
    for (const auto& [folded, token] : KnownByFolded()) Add(folded[0], folded[1]);
    Add('<', '|');  // the usual form of tokens that are not known
    // Bytes beside ASCII may be of a look-alike or of a character that is not seen, as NUL is.
    for (const char first : {'<', '['}) {
      Add(first, '\0');
      for (int byte = 0x80; byte < 0x100; ++byte) Add(first, static_cast<char>(byte));
    }
    for (const char first : {'\xe2', '\xe3', '\xef'}) firsts_[Index(first)] = kAnything;
  }

  // Returns the first place from `at` on where a token may begin, or the text's size.
  size_t Find(string_view text, size_t at) const {
    for (;; ++at) {
      while (at < text.size() && firsts_[Index(text[at])] == kNothing) ++at;
      if (at == text.size()) return at;
      const uint8_t kind = firsts_[Index(text[at])];
      if (kind == kAnything) return at;
      if (at + 1 < text.size() && (seconds_[Index(text[at + 1])] & kind) != 0) return at;
    }
  }

 private:
  static constexpr uint8_t kNothing = 0;
  static constexpr uint8_t kAngle = 1;
  static constexpr uint8_t kSquare = 2;
  static constexpr uint8_t kAnything = 4;

  static size_t Index(char byte) { return static_cast<unsigned char>(byte); }

  void Add(char first, char second) {
    const uint8_t kind = first == '<' ? kAngle : kSquare;
    firsts_[Index(first)] = kind;
    seconds_[Index(second)] |= kind;
  }

  std::array<uint8_t, 256> firsts_ = {};
  std::array<uint8_t, 256> seconds_ = {};
};

// Returns the token that begins at `begin`, if one does.
std::optional<Found> ReadToken(string_view text, size_t begin) {
  std::string folded;
  size_t characters = 0;
  for (size_t at = begin; at < text.size() && characters < kMostCharacters; ++characters) {
    const std::optional<char> c = TakeFolded(text, &at);
    if (!c) return std::nullopt;
    if (*c == 0) continue;  // invisible
    if (absl::ascii_isspace(*c) || absl::ascii_iscntrl(*c)) return std::nullopt;
    // Another token may begin here; "<<" begins one itself.
    if ((*c == '<' || *c == '[') && !folded.empty() && folded != "<") return std::nullopt;
    folded += *c;
    if (*c != '>' && *c != ']') continue;
    std::optional<SpecialToken> token = Recognize(folded, text.substr(begin, at - begin));
    if (token) return Found{*std::move(token), at};
    // "<<SYS>>" ends with two.
    if (!absl::StartsWith(folded, "<<") || absl::EndsWith(folded, ">>")) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

// Only places where a token may begin are looked at closely.
std::vector<SpecialToken> FindSpecialTokens(string_view text) {
  static const Openings& openings = *new Openings;
  std::map<std::pair<std::string, bool>, SpecialToken> found;
  for (size_t at = openings.Find(text, 0); at < text.size(); at = openings.Find(text, at)) {
    size_t next = at;
    const std::optional<char> first = TakeFolded(text, &next);
    if (first == '<' || first == '[') {
      if (std::optional<Found> token = ReadToken(text, at)) {
        next = token->end;
        SpecialToken& entry = found[{token->token.token, token->token.look_alike}];
        const int32_t count = entry.count + 1;
        entry = std::move(token->token);
        entry.count = count;
      }
    }
    at = next;
  }
  std::vector<SpecialToken> tokens;
  tokens.reserve(found.size());
  for (auto& [key, token] : found) tokens.push_back(std::move(token));
  return tokens;
}

}  // namespace kernelmill
