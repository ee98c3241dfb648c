#include "common/documents/fences.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "common/code/line_index.h"

namespace kernelmill::documents {
namespace {

constexpr size_t kShortestFence = 3;
constexpr absl::string_view kPrompt = ">>>";
constexpr absl::string_view kContinuation = "...";

// A line that opens or closes a block.
struct Fence {
  char mark = '\0';
  size_t size = 0;         // 0 if the line is no fence
  absl::string_view info;  // the text after the marks
};

Fence FenceOn(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return {};
  const size_t size = std::min(line.find_first_not_of(line[0]), line.size());
  const absl::string_view info = absl::StripAsciiWhitespace(line.substr(size));
  const bool is_code_span = line[0] == '`' && info.find('`') != absl::string_view::npos;
  if (size < kShortestFence || is_code_span) return {};
  return {line[0], size, info};
}

// Returns the line after a list's mark, "- " or "1. "; the line itself if it has none.
absl::string_view AfterListMark(absl::string_view line) {
  const absl::string_view content = absl::StripLeadingAsciiWhitespace(line);
  size_t digits = 0;
  while (digits < content.size() && absl::ascii_isdigit(content[digits])) ++digits;
  if (digits == content.size()) return line;
  constexpr absl::string_view kBullets = "-*+";
  constexpr absl::string_view kAfterNumbers = ".)";
  const absl::string_view marks = digits == 0 ? kBullets : kAfterNumbers;
  if (marks.find(content[digits]) == absl::string_view::npos) return line;
  const absl::string_view rest = content.substr(digits + 1);
  return absl::StartsWith(rest, " ") || absl::StartsWith(rest, "\t") ? rest : line;
}

bool Closes(const Fence& fence, const Fence& open) {
  return fence.mark == open.mark && fence.size >= open.size && fence.info.empty();
}

// A walk over the lines of a text that knows which fence is open.
class FenceTracker {
 public:
  enum class Line : uint8_t { kText, kOpens, kInside, kCloses };

  Line Read(absl::string_view line) {
    const Fence fence = FenceOn(line);
    if (open_.size == 0) {
      open_ = fence.size > 0 ? fence : FenceOn(AfterListMark(line));
      return open_.size > 0 ? Line::kOpens : Line::kText;
    }
    if (fence.size == 0 || !Closes(fence, open_)) return Line::kInside;
    open_ = {};
    return Line::kCloses;
  }

  bool is_open() const { return open_.size > 0; }
  absl::string_view info() const { return open_.info; }

 private:
  Fence open_;
};

bool IsWordEnd(char c) {
  constexpr absl::string_view kEnds = " \t{},:;=";
  return kEnds.find(c) != absl::string_view::npos;
}

// Takes the first word off a fence's info. The braces and dots of attributes are no part of it.
std::string TakeWord(absl::string_view* info) {
  while (!info->empty() && (IsWordEnd(info->front()) || info->front() == '.')) {
    info->remove_prefix(1);
  }
  size_t end = 0;
  while (end < info->size() && !IsWordEnd((*info)[end])) ++end;
  const std::string word = absl::AsciiStrToLower(info->substr(0, end));
  info->remove_prefix(end);
  return word;
}

// Returns whether the line is an option of a MyST or reStructuredText block: ":name: value".
bool IsOption(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  if (line.size() < 3 || line[0] != ':' || absl::ascii_isspace(line[1])) return false;
  const size_t end = line.find(':', 1);
  return end != absl::string_view::npos &&
         line.substr(1, end - 1).find_first_of(" \t") == absl::string_view::npos;
}

// Returns the offset after the options with which [begin, end) begins.
size_t AfterOptions(absl::string_view text, size_t begin, size_t end) {
  const auto line_at = [&](size_t at) { return text.substr(at, AfterLine(text, at) - at); };
  size_t at = begin;
  if (at < end && absl::StripAsciiWhitespace(line_at(at)) == "---") {
    for (at = AfterLine(text, at); at < end; at = AfterLine(text, at)) {
      if (absl::StripAsciiWhitespace(line_at(at)) == "---") return AfterLine(text, at);
    }
    return begin;
  }
  while (at < end && IsOption(line_at(at))) at = AfterLine(text, at);
  return at;
}

// Reads a line and adds or ends a block. Outside a block any fence opens one. Within a block only
// the fence that closes it counts. Returns whether the line opens one.
bool AddLine(absl::string_view text, size_t begin, size_t end, FenceTracker& tracker,
             std::vector<FencedBlock>* blocks) {
  const FenceTracker::Line line = tracker.Read(text.substr(begin, end - begin));
  if (line == FenceTracker::Line::kOpens) {
    blocks->push_back({begin, end, text.size(), text.size(), ReadLanguage(tracker.info())});
  } else if (line == FenceTracker::Line::kCloses) {
    blocks->back().end = begin;
    blocks->back().fence_end = end;
  }
  return line == FenceTracker::Line::kOpens;
}

}  // namespace

// Words are matched as a whole, except that names go on with a version or a tool: "python3.10",
// "cuda-cpp".
BlockLanguage ReadLanguage(absl::string_view info) {
  std::string word = TakeWord(&info);
  if (IsOneOf(word, {"code-cell", "code-block", "code", "sourcecode", "eval"})) {
    word = TakeWord(&info);
  }
  if (word.empty()) return BlockLanguage::kUnnamed;
  if (absl::StartsWith(word, "python") || absl::StartsWith(word, "ipython") ||
      IsOneOf(word, {"py", "py3", "pycon", "triton", "pallas", "sage"})) {
    return BlockLanguage::kPython;
  }
  if (absl::StartsWith(word, "cuda") ||
      IsOneOf(word, {"cu", "cuh", "hip", "c++", "cpp", "cc", "cxx", "c", "h", "hpp"})) {
    return BlockLanguage::kCuda;
  }
  // An attribute alone: {title="x"}.
  return absl::StartsWith(info, "=") ? BlockLanguage::kUnnamed : BlockLanguage::kOther;
}

std::vector<FencedBlock> FindFencedBlocks(absl::string_view text) {
  std::vector<FencedBlock> blocks;
  FenceTracker tracker;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = AfterLine(text, begin);
    AddLine(text, begin, end, tracker, &blocks);
  }
  for (FencedBlock& block : blocks) block.begin = AfterOptions(text, block.begin, block.end);
  return blocks;
}

// A quote ends with the first line without a mark, and its fence with it.
std::vector<FencedBlock> FindBlocksAndUnquote(std::string& text) {
  const absl::string_view all = text;
  std::vector<FencedBlock> blocks;
  FenceTracker tracker;
  bool in_quote = false;  // the open fence is in a quote
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    end = AfterLine(all, begin);
    size_t after_mark = begin;
    if (!tracker.is_open() || in_quote) {
      const size_t content = std::min(all.find_first_not_of(" \t>", begin), end);
      const size_t mark = all.substr(begin, content - begin).rfind('>');
      if (mark != absl::string_view::npos) after_mark = begin + mark + 1;
    }
    if (tracker.is_open() && in_quote && after_mark == begin) {
      tracker = {};
      blocks.back().end = blocks.back().fence_end = begin;
    }
    Blank(begin, after_mark, text);
    if (AddLine(all, begin, end, tracker, &blocks)) in_quote = after_mark > begin;
  }
  for (FencedBlock& block : blocks) block.begin = AfterOptions(all, block.begin, block.end);
  return blocks;
}

// Text in a list is indented, too: what is no code is told by its words.
std::vector<FencedBlock> FindIndentedCode(absl::string_view text, size_t begin, size_t end) {
  std::vector<FencedBlock> blocks;
  bool after_empty = true;
  bool in_block = false;
  for (size_t at = begin, next = 0; at < end; at = next) {
    next = std::min(AfterLine(text, at), end);
    const absl::string_view line = text.substr(at, next - at);
    if (absl::StripAsciiWhitespace(line).empty()) {
      after_empty = true;
      continue;
    }
    const bool is_indented = absl::StartsWith(line, "    ") || absl::StartsWith(line, "\t");
    if (is_indented && !in_block && after_empty) {
      blocks.push_back({at, at, next, next, BlockLanguage::kUnnamed});
      in_block = true;
    } else if (is_indented && in_block) {
      blocks.back().end = blocks.back().fence_end = next;
    } else {
      in_block = false;
    }
    after_empty = false;
  }
  return blocks;
}

void RemovePrompts(size_t begin, size_t end, std::string& text) {
  const absl::string_view all = text;
  const size_t first = all.find_first_not_of(" \t\r\n", begin);
  if (first >= end || !absl::StartsWith(all.substr(first), kPrompt)) return;
  for (size_t at = begin, next = 0; at < end; at = next) {
    next = std::min(AfterLine(all, at), end);
    const absl::string_view line = all.substr(at, next - at);
    const absl::string_view content = absl::StripAsciiWhitespace(line);
    const bool is_code =
        absl::StartsWith(content, kPrompt) || absl::StartsWith(content, kContinuation);
    const size_t prompt = static_cast<size_t>(content.data() - line.data()) + kPrompt.size();
    Blank(at, is_code ? at + prompt : next, text);
  }
}

void Blank(size_t begin, size_t end, std::string& text) {
  for (size_t at = begin; at < end; ++at) {
    if (text[at] != '\n' && text[at] != '\r') text[at] = ' ';
  }
}

}  // namespace kernelmill::documents
