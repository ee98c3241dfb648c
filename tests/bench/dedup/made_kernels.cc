#include "tests/bench/dedup/made_kernels.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/word_list.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"

namespace kernelmill::bench {
namespace {

using absl::string_view;

constexpr int64_t kFamily = 10;
constexpr int64_t kCopies = 3;

// Words that another name cannot stand for.
constexpr string_view kFixedWords[] = {
    "and",    "as",     "assert", "auto",   "bool",     "break",  "const",  "constexpr", "continue",
    "def",    "double", "elif",   "else",   "except",   "extern", "False",  "float",     "for",
    "from",   "half",   "if",     "import", "in",       "inline", "int",    "is",        "lambda",
    "long",   "None",   "not",    "or",     "pass",     "raise",  "return", "short",     "sizeof",
    "static", "struct", "switch", "True",   "template", "tl",     "try",    "typename",  "unsigned",
    "using",  "void",   "while",  "with",   "yield"};

uint64_t Next(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// How a kernel of a family differs from the others.
struct Place {
  int64_t changed;  // the changed lines of a copy; 0 for a kernel like no other
  uint64_t shared;  // the state that a copy has in common with its original
  uint64_t own;
};

Place GetPlace(int64_t number) {
  const int64_t place = number % kFamily;
  const int64_t changed = place < kCopies ? place + 1 : 0;
  const int64_t original = changed > 0 ? number - place + kCopies : number;
  return {changed, static_cast<uint64_t>(original) * 2 + 1, static_cast<uint64_t>(number) * 2};
}

// Returns true for a line that a copy changes: as many of them as `changed`, spread over the lines.
bool IsChanged(size_t line, size_t lines, int64_t changed) {
  const size_t part = lines / 4;
  return part > 0 && line % part == part - 1 && line / part < static_cast<size_t>(changed);
}

// Makes a statement of about twelve tokens.
std::string Statement(uint64_t* state) {
  const uint64_t r = Next(state);
  const auto pick = [r](int shift, uint64_t of) { return (r >> shift) % of; };
  switch (pick(60, 3)) {
    case 0:
      return absl::StrCat("    v", pick(0, 64), " = tl.load(p", pick(8, 8), " + v", pick(16, 64),
                          " * ", pick(24, 512), ", mask=m", pick(40, 4), ", cache=ops.policy_",
                          pick(30, 400), ")\n");
    case 1:
      return absl::StrCat("    v", pick(0, 64), " = ops.apply_", pick(8, 400), "(v", pick(16, 64),
                          ") + v", pick(24, 64), " - ", pick(32, 1024), "\n");
    default:
      return absl::StrCat("    v", pick(0, 64), " = ops.mix_", pick(40, 400), "(v", pick(8, 64),
                          ", v", pick(16, 64), ") * v", pick(24, 64), "\n");
  }
}

}  // namespace

MadeKernels::MadeKernels(const v1::KernelShard& real) : real_(real) {
  for (const v1::Kernel& kernel : real.kernels()) lines_.push_back(CutLines(kernel));
}

// Lines that define something stay as they are.
std::vector<MadeKernels::Line> MadeKernels::CutLines(const v1::Kernel& kernel) {
  std::vector<Line> lines;
  for (const string_view text : absl::StrSplit(kernel.source(), '\n')) {
    Line& line = lines.emplace_back();
    const bool is_fixed = absl::StrContains(text, "def ") || absl::StrContains(text, "@") ||
                          absl::StrContains(text, "__") || absl::StrContains(text, "\"\"\"");
    size_t at = 0;
    if (!is_fixed) {
      for (const code::Token& token : code::Lex(text, dsl::GetSyntax(kernel.dsl()))) {
        const bool is_name = token.kind == code::Token::kName && !IsAmong<kFixedWords>(token.text);
        if (!is_name && token.kind != code::Token::kNumber) continue;
        const auto begin = static_cast<size_t>(token.text.data() - text.data());
        line.push_back({text.substr(at, begin - at), Piece::kFixed});
        line.push_back({token.text, is_name ? Piece::kName : Piece::kNumber});
        (is_name ? names_ : numbers_).push_back(token.text);
        at = begin + token.text.size();
      }
    }
    line.push_back({text.substr(at), Piece::kFixed});
  }
  return lines;
}

void MadeKernels::AppendChanged(const Line& line, uint64_t* state, std::string* text) const {
  for (const Piece& piece : line) {
    const std::vector<string_view>& all = piece.kind == Piece::kName ? names_ : numbers_;
    absl::StrAppend(text, piece.kind == Piece::kFixed ? piece.text : all[Next(state) % all.size()]);
  }
}

// Makes a kernel of 400 to 600 tokens. All have the same prologue, as real ones do.
std::string MadeKernels::MakeText(int64_t number) const {
  Place place = GetPlace(number);
  std::string text = absl::StrCat("@triton.jit\ndef kernel_", number,
                                  "(p0, p1, n, BLOCK: tl.constexpr):\n"
                                  "    pid = tl.program_id(0)\n"
                                  "    offsets = pid * BLOCK + tl.arange(0, BLOCK)\n"
                                  "    mask = offsets < n\n");
  const size_t statements = 22 + Next(&place.shared) % 16;
  for (size_t i = 0; i < statements; ++i) {
    const std::string statement = Statement(&place.shared);
    text += IsChanged(i, statements, place.changed) ? Statement(&place.own) : statement;
  }
  return text + "    tl.store(p1 + offsets, v1, mask=mask)\n";
}

v1::Kernel MadeKernels::ChangeReal(int64_t number) const {
  Place place = GetPlace(number);
  const size_t base = Next(&place.shared) % lines_.size();
  const v1::Kernel& real = real_.kernels(static_cast<int>(base));
  const std::vector<Line>& lines = lines_[base];
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    uint64_t line_state = Next(&place.shared);
    const bool is_changed = Next(&place.shared) % 5 < 3;
    if (IsChanged(i, lines.size(), place.changed)) {
      AppendChanged(lines[i], &place.own, &text);
    } else if (is_changed) {
      AppendChanged(lines[i], &line_state, &text);
    } else {
      for (const Piece& piece : lines[i]) absl::StrAppend(&text, piece.text);
    }
    text += '\n';
  }
  v1::Kernel kernel;
  kernel.set_source(std::move(text));
  kernel.set_name(real.name());
  kernel.set_dsl(real.dsl());
  return kernel;
}

v1::Kernel MadeKernels::Make(int64_t number) const {
  if (!lines_.empty()) return ChangeReal(number);
  v1::Kernel kernel;
  kernel.set_source(MakeText(number));
  return kernel;
}

}  // namespace kernelmill::bench
