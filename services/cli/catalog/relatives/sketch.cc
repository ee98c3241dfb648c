#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/code/lexer.h"
#include "services/cli/catalog/relatives/overview.h"

namespace kernelmill::cli {
namespace {

constexpr size_t kRun = 5;  // tokens

}  // namespace

Sketch SketchOf(const CatalogKernel& kernel) {
  Sketch sketch;
  sketch.least.fill(Sketch::kEmpty);
  std::vector<absl::string_view> tokens;
  const auto language = kernel.dsl == "cuda" ? code::Language::kC : code::Language::kPython;
  for (const code::Token& token : code::Lex(kernel.source, language)) {
    if (token.kind != code::Token::kComment) tokens.push_back(token.text);
  }
  for (size_t i = 0; i + kRun <= tokens.size(); ++i) {
    const std::string run = absl::StrCat(tokens[i], " ", tokens[i + 1], " ", tokens[i + 2], " ",
                                         absl::StrCat(tokens[i + 3], " ", tokens[i + 4]));
    const uint64_t hash = StableHash64(run);
    uint16_t& least = sketch.least[hash >> 58];
    least = std::min(least, static_cast<uint16_t>(hash % Sketch::kEmpty));
  }
  return sketch;
}

double SimilarityOf(const Sketch& a, const Sketch& b) {
  int same = 0;
  int filled = 0;
  for (size_t i = 0; i < Sketch::kBins; ++i) {
    if (a.least[i] == Sketch::kEmpty && b.least[i] == Sketch::kEmpty) continue;
    ++filled;
    same += a.least[i] == b.least[i];
  }
  return filled == 0 ? 0 : static_cast<double>(same) / filled;
}

}  // namespace kernelmill::cli
