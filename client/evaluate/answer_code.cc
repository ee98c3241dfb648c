// The code in a model's answer. Answers explain, think aloud, revise themselves, and spread one
// file over several fences: the basic idea is to take the last fence with a kernel, because models
// correct what they wrote before, and then whatever that fence cannot do without.

#include "client/evaluate/answer_code.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/bindings.h"
#include "common/text/lines.h"

namespace kernelmill::client {
namespace {

// A line that opens or closes a block of code. A bare fence has an empty tag.
struct Fence {
  char mark = '`';
  std::string tag;
};

// Returns nullopt if the line is not a fence.
std::optional<Fence> ReadFence(absl::string_view line) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
  if (line.size() - text.size() > 3) return std::nullopt;
  if (!absl::StartsWith(text, "```") && !absl::StartsWith(text, "~~~")) return std::nullopt;
  const char mark = text[0];
  const size_t end = std::min(text.find_first_not_of(mark), text.size());
  return Fence{mark, absl::AsciiStrToLower(absl::StripAsciiWhitespace(text.substr(end)))};
}

// The marks around a model's thinking.
struct ThinkingMarks {
  absl::string_view begin;
  absl::string_view end;
};

constexpr ThinkingMarks kThinking[] = {
    {"<think>", "</think>"},  // DeepSeek, Qwen, GLM and others
    {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"},
    {"<reasoning>", "</reasoning>"},
    {"<seed:think>", "</seed:think>"},                                  // Seed-OSS
    {"[THINK]", "[/THINK]"},                                            // Magistral
    {"\u25c1think\u25b7", "\u25c1/think\u25b7"},                        // Kimi
    {"<|begin_of_thought|>", "<|end_of_thought|>"},                     // OpenThinker, Sky-T1
    {"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"},  // gpt-oss
    {"<|START_THINKING|>", "<|END_THINKING|>"},                         // Command A
};

// Returns the place of the first mark at the beginning of a line; npos without one.
size_t FindAtLine(absl::string_view text, absl::string_view mark) {
  for (size_t at = text.find(mark); at != absl::string_view::npos; at = text.find(mark, at + 1)) {
    const size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    if (absl::StripAsciiWhitespace(text.substr(line, at - line)).empty()) return at;
  }
  return absl::string_view::npos;
}

// Returns the answer without the model's thinking, which may have drafts of code. A prompt may hold
// the mark that begins thinking, so that an answer has only the one that ends it.
absl::string_view WithoutThinking(absl::string_view answer) {
  size_t begin = 0;
  for (const ThinkingMarks& marks : kThinking) {
    const size_t at = answer.rfind(marks.end);
    if (at != absl::string_view::npos) begin = std::max(begin, at + marks.end.size());
  }
  answer.remove_prefix(begin);
  for (const ThinkingMarks& marks : kThinking)
    answer = answer.substr(0, FindAtLine(answer, marks.begin));
  return answer;
}

struct Block {
  std::string tag;
  std::string text;
};

// Returns the fenced blocks of a text. Sets `open` if the last one is not closed.
std::vector<Block> Blocks(absl::string_view text, bool* open) {
  std::vector<Block> blocks;
  char mark = 0;  // the mark of the open fence
  for (const absl::string_view line : SplitLines(text)) {
    const std::optional<Fence> fence = ReadFence(line);
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

// Returns whether the prompt ends inside a block of code, so that the answer continues it.
bool LeavesFenceOpen(absl::string_view prompt) {
  bool open = false;
  Blocks(prompt, &open);
  return open;
}

bool BeginsWithCode(absl::string_view text) {
  for (const absl::string_view line : SplitLines(text)) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    if (ReadFence(line).has_value()) return false;
    return absl::ascii_isspace(static_cast<unsigned char>(line[0])) || line[0] == '@' ||
           absl::c_any_of(std::vector<absl::string_view>{"import ", "from ", "def ", "class "},
                          [&](absl::string_view word) { return absl::StartsWith(line, word); });
  }
  return false;
}

// Returns the text before the first fence without a tag, which closes the block that the prompt
// opened.
std::string UpToFence(absl::string_view text) {
  std::string code;
  for (const absl::string_view line : SplitLines(text)) {
    const std::optional<Fence> fence = ReadFence(line);
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

bool HoldsKernel(absl::string_view text) {
  return dsl::LanguageSet().MayBeIn(text) || dsl::HasMarkerOf(dsl::kCuda, text);
}

using Names = absl::flat_hash_set<std::string>;

bool HasCommon(const Names& a, const Names& b) {
  return absl::c_any_of(a, [&](const std::string& name) { return b.contains(name); });
}

// A fence as a part of a file: the names of its module.
struct Part {
  Names bound;
  Names defined;      // functions and classes
  Names free;         // read and not bound
  bool runs = false;  // it has statements other than definitions, imports and assignments
};

// Returns whether a statement of a module defines or binds names and runs nothing else.
bool OnlyBinds(const python::SyntaxTree& tree, python::NodeId statement) {
  using python::Kind;
  switch (tree.GetKind(statement)) {
    case Kind::kFunctionDefinition:
    case Kind::kClassDefinition:
    case Kind::kDecoratedDefinition:
    case Kind::kIfStatement:  // if __name__ == "__main__"; alternative imports
    case Kind::kTryStatement:
      return true;
    case Kind::kExpressionStatement: {
      const python::Kind first = tree.GetKind(tree.FirstChild(statement));
      return first == Kind::kAssignment || first == Kind::kString;
    }
    default:
      return python::IsImport(tree.GetKind(statement)) || python::IsLayout(tree.GetKind(statement));
  }
}

// Returns a fence's names; none if it cannot be read.
Part ReadPart(const std::string& text) {
  Part part;
  const auto parsed = python::ParsedText::Parse(text, python::StandardParser());
  if (!parsed.ok()) return part;
  const python::SyntaxTree& tree = (*parsed)->tree();
  const python::Bindings bindings(tree);
  for (python::NodeId child = tree.FirstChild(0); child != python::kNoNode;
       child = tree.NextSibling(child)) {
    if (!OnlyBinds(tree, child)) part.runs = true;
    for (const absl::string_view name : bindings.BoundNames(child)) part.bound.emplace(name);
    const bool defines = tree.GetKind(child) == python::Kind::kFunctionDefinition ||
                         tree.GetKind(child) == python::Kind::kClassDefinition ||
                         tree.GetKind(child) == python::Kind::kDecoratedDefinition;
    if (!defines) continue;
    for (const absl::string_view name : bindings.BoundNames(child)) part.defined.emplace(name);
  }
  for (const absl::string_view name : bindings.FreeNames(0)) part.free.emplace(name);
  return part;
}

// Returns whether the part belongs to the file: it has what the file lacks, or it defines something
// by what the file has. It must not define anything anew: that would be another draft.
bool BelongsTo(const Part& file, const Part& part) {
  if (HasCommon(part.defined, file.defined)) return false;
  if (HasCommon(part.bound, file.free)) return true;
  return HasCommon(part.free, file.bound) && !part.defined.empty() && !part.runs;
}

void AddTo(const Part& part, Part* file) {
  file->bound.insert(part.bound.begin(), part.bound.end());
  file->defined.insert(part.defined.begin(), part.defined.end());
  file->free.insert(part.free.begin(), part.free.end());
  absl::erase_if(file->free, [&](const std::string& name) { return file->bound.contains(name); });
}

// More fences than this are not joined: it would take time quadratic in them.
constexpr size_t kMaxParts = 64;

// Joins the fence at `last`, which holds the answer's kernel, with the other parts of its file.
// Later fences are preferred: they correct those before them.
std::string Join(const std::vector<Block>& blocks, size_t last) {
  if (blocks.size() == 1 || blocks.size() > kMaxParts) return blocks[last].text;
  std::vector<Part> parts;
  for (const Block& block : blocks) parts.push_back(ReadPart(block.text));
  std::vector<bool> taken(blocks.size());
  Part file;
  size_t next = last;
  while (next < blocks.size()) {
    taken[next] = true;
    AddTo(parts[next], &file);
    next = blocks.size();
    for (size_t i = blocks.size(); i-- > 0 && next == blocks.size();) {
      if (!taken[i] && BelongsTo(file, parts[i])) next = i;
    }
  }
  std::string code;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!taken[i]) continue;
    absl::StrAppend(&code, code.empty() || absl::EndsWith(code, "\n") ? "" : "\n", blocks[i].text);
  }
  return code;
}

}  // namespace

// The cases are those of the header, in the same order.
std::string ExtractCode(absl::string_view prompt, absl::string_view answer) {
  answer = WithoutThinking(answer);
  if (LeavesFenceOpen(prompt) || BeginsWithCode(answer)) return UpToFence(answer);
  bool open = false;
  std::vector<Block> blocks = Blocks(answer, &open);
  if (blocks.empty()) return std::string(answer);
  if (absl::c_any_of(blocks, IsPython)) {
    std::erase_if(blocks, [](const Block& block) { return !IsPython(block); });
  }
  for (size_t i = blocks.size(); i-- > 0;) {
    if (HoldsKernel(blocks[i].text)) return Join(blocks, i);
  }
  return blocks.front().text;
}

bool HasDefinition(absl::string_view code) {
  return absl::c_any_of(SplitLines(code), [](absl::string_view line) {
    absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
    absl::ConsumePrefix(&text, "async ");
    return absl::StartsWith(text, "def ");
  });
}

// The prompt of a chat may have the code to continue in a fence, which may be open.
std::string ShownCode(absl::string_view prompt) {
  bool open = false;
  const std::vector<Block> blocks = Blocks(prompt, &open);
  return blocks.empty() ? std::string(prompt) : blocks.back().text;
}

std::string WholeText(absl::string_view prompt, absl::string_view code) {
  if (HasDefinition(code)) return std::string(code);
  const std::string shown = ShownCode(prompt);
  // Neither defines a function: the code does not continue the prompt.
  if (!HasDefinition(shown)) return std::string(code);
  return absl::StrCat(shown, absl::EndsWith(shown, "\n") || shown.empty() ? "" : "\n", code);
}

}  // namespace kernelmill::client
