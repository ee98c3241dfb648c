#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/catalog/relatives/overview.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/code/lexer.h"

namespace kernelmill::client {
namespace {

constexpr size_t kRun = 5;  // tokens

}  // namespace

std::vector<uint64_t> RunsOf(const CatalogKernel& kernel) {
  std::vector<absl::string_view> tokens;
  const auto language = kernel.dsl == "cuda" ? code::Language::kC : code::Language::kPython;
  for (const code::Token& token : code::Lex(kernel.source, language)) {
    if (token.kind != code::Token::kComment) tokens.push_back(token.text);
  }
  std::vector<uint64_t> runs;
  for (size_t i = 0; i + kRun <= tokens.size(); ++i) {
    runs.push_back(StableHash64(absl::StrCat(tokens[i], " ", tokens[i + 1], " ", tokens[i + 2], " ",
                                             absl::StrCat(tokens[i + 3], " ", tokens[i + 4]))));
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return runs;
}

Sketch SketchOf(const std::vector<uint64_t>& runs) {
  Sketch sketch;
  sketch.least.fill(Sketch::kEmpty);
  for (const uint64_t hash : runs) {
    uint16_t& least = sketch.least[hash >> 58];
    least = std::min(least, static_cast<uint16_t>(hash % Sketch::kEmpty));
  }
  return sketch;
}

double EstimatedSimilarity(const Sketch& a, const Sketch& b) {
  int same = 0;
  int filled = 0;
  for (size_t i = 0; i < Sketch::kBins; ++i) {
    if (a.least[i] == Sketch::kEmpty && b.least[i] == Sketch::kEmpty) continue;
    ++filled;
    same += a.least[i] == b.least[i];
  }
  return filled == 0 ? 0 : static_cast<double>(same) / filled;
}

absl::StatusOr<RunRecords> RunRecords::Create(const std::string& temp_parent) {
  ASSIGN_OR_RETURN(TempRecords records, TempRecords::Create(temp_parent));
  return RunRecords(std::move(records));
}

absl::Status RunRecords::Add(const std::vector<uint64_t>& runs) {
  return records_.Add({reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(uint64_t)});
}

absl::StatusOr<std::vector<uint64_t>> RunRecords::Read(uint32_t number) {
  ASSIGN_OR_RETURN(const std::string bytes, records_.Read(number));
  std::vector<uint64_t> runs(bytes.size() / sizeof(uint64_t));
  std::memcpy(runs.data(), bytes.data(), bytes.size());
  return runs;
}

double Similarity(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  size_t both = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    both += *x == *y;
    const bool next_x = *x <= *y;
    const bool next_y = *y <= *x;
    x += next_x;
    y += next_y;
  }
  const size_t either = a.size() + b.size() - both;
  return either == 0 ? 0 : static_cast<double>(both) / static_cast<double>(either);
}

}  // namespace kernelmill::client
