#include "client/evaluate/generation_text.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kernelmill::client {
namespace {

// What a line says as a fence; nothing where it is none. An empty tag: it is bare.
struct Fence {
  char mark = '`';
  std::string tag;
};

std::optional<Fence> FenceIn(absl::string_view line) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
  if (line.size() - text.size() > 3) return std::nullopt;
  if (!absl::StartsWith(text, "```") && !absl::StartsWith(text, "~~~")) return std::nullopt;
  const char mark = text[0];
  const size_t end = std::min(text.find_first_not_of(mark), text.size());
  return Fence{mark, absl::AsciiStrToLower(absl::StripAsciiWhitespace(text.substr(end)))};
}

// The lines of a text with their line ends.
std::vector<absl::string_view> Lines(absl::string_view text) {
  std::vector<absl::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t size = end == absl::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

absl::string_view AfterThinking(absl::string_view answer) {
  static constexpr absl::string_view kEnd = "</think>";
  const size_t at = answer.rfind(kEnd);
  return at == absl::string_view::npos ? answer : answer.substr(at + kEnd.size());
}

struct Block {
  std::string tag;
  std::string text;
};

// The fenced blocks of a text; `open`: the last one is not closed.
std::vector<Block> Blocks(absl::string_view text, bool* open) {
  std::vector<Block> blocks;
  char mark = 0;  // of the fence that is open
  for (const absl::string_view line : Lines(text)) {
    const std::optional<Fence> fence = FenceIn(line);
    if (mark == 0 && fence.has_value()) {
      mark = fence->mark;
      blocks.push_back({fence->tag, ""});
    } else if (fence.has_value() && fence->mark == mark && fence->tag.empty()) {
      mark = 0;
    } else if (mark != 0) {
      absl::StrAppend(&blocks.back().text, line);
    }
  }
  *open = mark != 0;
  return blocks;
}

bool LeavesFenceOpen(absl::string_view prompt) {
  bool open = false;
  Blocks(prompt, &open);
  return open;
}

bool BeginsWithCode(absl::string_view text) {
  for (const absl::string_view line : Lines(text)) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    if (FenceIn(line).has_value()) return false;
    return absl::ascii_isspace(static_cast<unsigned char>(line[0])) || line[0] == '@' ||
           absl::c_any_of(std::vector<absl::string_view>{"import ", "from ", "def ", "class "},
                          [&](absl::string_view word) { return absl::StartsWith(line, word); });
  }
  return false;
}

std::string UpToFence(absl::string_view text) {
  std::string code;
  for (const absl::string_view line : Lines(text)) {
    const std::optional<Fence> fence = FenceIn(line);
    if (fence.has_value() && fence->tag.empty()) break;
    absl::StrAppend(&code, line);
  }
  return code;
}

bool IsPython(const Block& block) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(block.tag, absl::ByAnyChar(" ,:{"), absl::SkipEmpty());
  const absl::string_view tag = words.empty() ? "" : words[0];
  return tag == "py" || tag == "python" || tag == "python3" || tag == "triton";
}

}  // namespace

std::string CodeOf(absl::string_view prompt, absl::string_view answer) {
  answer = AfterThinking(answer);
  if (LeavesFenceOpen(prompt) || BeginsWithCode(answer)) return UpToFence(answer);
  bool open = false;
  const std::vector<Block> blocks = Blocks(answer, &open);
  const auto python = absl::c_find_if(blocks, IsPython);
  if (python != blocks.end()) return python->text;
  return blocks.empty() ? std::string(answer) : blocks.front().text;
}

bool HasDefinition(absl::string_view code) {
  return absl::c_any_of(Lines(code), [](absl::string_view line) {
    absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
    absl::ConsumePrefix(&text, "async ");
    return absl::StartsWith(text, "def ");
  });
}

std::string WholeText(absl::string_view prompt, absl::string_view code) {
  if (HasDefinition(code)) return std::string(code);
  // A chat's prompt may show the code to continue within a fence, perhaps one that it leaves open.
  bool open = false;
  const std::vector<Block> blocks = Blocks(prompt, &open);
  const absl::string_view shown = blocks.empty() ? prompt : absl::string_view(blocks.back().text);
  if (!HasDefinition(shown)) return std::string(code);
  return absl::StrCat(shown, absl::EndsWith(shown, "\n") || shown.empty() ? "" : "\n", code);
}

}  // namespace kernelmill::client
