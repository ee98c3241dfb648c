#include "services/extractor/core/history/match.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"

namespace kernelmill::extractor {
namespace {

constexpr size_t kRun = 4;  // tokens
// The least similarity of texts with different names, in one file and across files.
constexpr double kInFile = 0.5;
constexpr double kAcrossFiles = 0.7;
// The least share of a part's runs that its origin has, and the least runs of a part.
constexpr double kPart = 0.6;
constexpr size_t kLeastRuns = 20;
constexpr size_t kMostPairs = 200'000;  // that are compared in one commit

using Runs = absl::flat_hash_set<uint64_t>;

Runs ReadRuns(const v1::Kernel& kernel) {
  std::vector<uint64_t> tokens;
  for (const code::Token& token : code::Lex(kernel.source(), dsl::GetSyntax(kernel.dsl()))) {
    if (token.kind == code::Token::kComment) continue;
    tokens.push_back(token.text == kernel.name() ? 0 : StableHash64(token.text));
  }
  Runs runs;
  for (size_t at = 0; at + kRun <= tokens.size(); ++at) {
    runs.insert(StableHash64(
        absl::string_view(reinterpret_cast<const char*>(&tokens[at]), kRun * sizeof(uint64_t))));
  }
  return runs;
}

size_t CountCommon(const Runs& a, const Runs& b) {
  const Runs& small = a.size() < b.size() ? a : b;
  const Runs& large = a.size() < b.size() ? b : a;
  return static_cast<size_t>(
      std::count_if(small.begin(), small.end(), [&](uint64_t run) { return large.contains(run); }));
}

double Jaccard(const Runs& a, const Runs& b) {
  const size_t common = CountCommon(a, b);
  const size_t all = a.size() + b.size() - common;
  return all == 0 ? 1 : static_cast<double>(common) / static_cast<double>(all);
}

// A kernel of one side, while it is matched.
struct Node {
  KernelAt at;
  const v1::Kernel* kernel = nullptr;
  absl::string_view key;
  bool matched = false;
  std::optional<Runs> runs;

  const Runs& GetRuns() {
    if (!runs.has_value()) runs = ReadRuns(*kernel);
    return *runs;
  }
};

class Matcher {
 public:
  explicit Matcher(const std::vector<FileSides>& files) {
    for (size_t f = 0; f < files.size(); ++f) {
      AddSide(files[f].before, f, before_);
      AddSide(files[f].after, f, after_);
    }
  }

  std::vector<KernelMatch> Run() {
    MatchKeys();
    MatchNames();
    MatchTexts();
    FindParts();
    std::sort(matches_.begin(), matches_.end(), [](const KernelMatch& a, const KernelMatch& b) {
      return std::tie(a.after.file, a.after.kernel) < std::tie(b.after.file, b.after.kernel);
    });
    return std::move(matches_);
  }

 private:
  static void AddSide(const VersionKernels* version, size_t file, std::vector<Node>& nodes) {
    if (version == nullptr) return;
    for (size_t k = 0; k < version->kernels.size(); ++k) {
      Node node;
      node.at = {file, k};
      node.kernel = &version->kernels[k];
      node.key = version->keys[k];
      nodes.push_back(std::move(node));
    }
  }

  void Add(Node& before, Node& after, const char* match) {
    before.matched = after.matched = true;
    const bool equal = before.kernel->source() == after.kernel->source();
    matches_.push_back(
        {before.at, after.at, match, equal ? 1 : Jaccard(before.GetRuns(), after.GetRuns())});
  }

  void MatchKeys() {
    std::map<std::pair<size_t, absl::string_view>, Node*> by_key;
    for (Node& node : before_) by_key.emplace(std::make_pair(node.at.file, node.key), &node);
    for (Node& node : after_) {
      const auto found = by_key.find({node.at.file, node.key});
      if (found != by_key.end()) Add(*found->second, node, "same");
    }
  }

  // A pair of unmatched kernels; the best come first.
  struct Pair {
    double similarity = 0;
    int distance = 0;
    size_t before = 0, after = 0;

    friend bool operator<(const Pair& a, const Pair& b) {
      return std::make_tuple(-a.similarity, a.distance, a.after, a.before) <
             std::make_tuple(-b.similarity, b.distance, b.after, b.before);
    }
  };

  Pair Compare(size_t before, size_t after) {
    Node& a = before_[before];
    Node& b = after_[after];
    const bool one_file = a.at.file == b.at.file;
    const int distance = std::abs(a.kernel->first_line() - b.kernel->first_line());
    return {Jaccard(a.GetRuns(), b.GetRuns()), one_file ? distance : 1 << 30, before, after};
  }

  void Take(std::vector<Pair>& pairs, const char* match) {
    std::sort(pairs.begin(), pairs.end());
    for (const Pair& pair : pairs) {
      if (before_[pair.before].matched || after_[pair.after].matched) continue;
      Add(before_[pair.before], after_[pair.after], match);
    }
  }

  static std::vector<size_t> Unmatched(const std::vector<Node>& nodes) {
    std::vector<size_t> open;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].matched) open.push_back(i);
    }
    return open;
  }

  void MatchNames() {
    std::map<absl::string_view, std::vector<size_t>> by_name;
    for (const size_t i : Unmatched(before_)) by_name[before_[i].kernel->name()].push_back(i);
    std::vector<Pair> pairs;
    for (const size_t i : Unmatched(after_)) {
      const auto found = by_name.find(after_[i].kernel->name());
      if (found == by_name.end()) continue;
      for (const size_t other : found->second) {
        if (pairs.size() < kMostPairs) pairs.push_back(Compare(other, i));
      }
    }
    Take(pairs, "moved");
  }

  void MatchTexts() {
    const std::vector<size_t> before = Unmatched(before_), after = Unmatched(after_);
    if (before.size() * after.size() > kMostPairs) return;
    std::vector<Pair> pairs;
    for (const size_t b : before) {
      for (const size_t a : after) {
        const Pair pair = Compare(b, a);
        const bool one_file = before_[b].at.file == after_[a].at.file;
        if (pair.similarity >= (one_file ? kInFile : kAcrossFiles)) pairs.push_back(pair);
      }
    }
    Take(pairs, "renamed");
  }

  void FindParts() {
    const std::vector<size_t> after = Unmatched(after_);
    if (before_.size() * after.size() > kMostPairs) return;
    for (const size_t a : after) {
      const Runs& part = after_[a].GetRuns();
      if (part.size() < kLeastRuns) continue;
      Node* best = nullptr;
      double best_share = kPart;
      for (Node& origin : before_) {
        const double share = static_cast<double>(CountCommon(origin.GetRuns(), part)) /
                             static_cast<double>(part.size());
        if (share < best_share || (best != nullptr && share == best_share)) continue;
        best = &origin;
        best_share = share;
      }
      if (best != nullptr) Add(*best, after_[a], "split");
    }
  }

  std::vector<Node> before_, after_;
  std::vector<KernelMatch> matches_;
};

}  // namespace

VersionKernels MakeVersion(std::vector<v1::Kernel> kernels) {
  VersionKernels version;
  version.kernels = std::move(kernels);
  std::map<std::string, int> seen;
  for (const v1::Kernel& kernel : version.kernels) {
    const int nth = seen[kernel.qualname()]++;
    version.keys.push_back(nth == 0 ? kernel.qualname()
                                    : absl::StrCat(kernel.qualname(), "#", nth));
  }
  return version;
}

std::vector<KernelMatch> MatchKernels(const std::vector<FileSides>& files) {
  return Matcher(files).Run();
}

}  // namespace kernelmill::extractor
