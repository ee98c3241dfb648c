#include "services/extractor/core/history/kinds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/extractor/core/history/message_evidence.h"
#include "services/extractor/core/history/text_evidence.h"

namespace kernelmill::extractor {
namespace {

// By how many points the first kind must be ahead.
constexpr int kAhead = 5, kAheadIfSilent = 10;

using Points = std::array<int, kKinds.size()>;  // by kind, in the order of kKinds

struct Row {
  absl::string_view observation;
  Points points;
};

// The tables come from a regression on 552 labelled changes of 38 repositories
// (tests/oracle/labels/changes.csv), rounded: ten points are a factor of e in the odds.
constexpr Points kBase = {6, -9, 0, 3, 2};

// Places of a message; a word there has points for its own kind alone.
constexpr Row kOfMessage[] = {
    // fix, tuning, speed, refactoring, feature
    {"label", {24, 25, 26, 22, 17}},    {"first", {15, 14, 13, 11, 9}},
    {"subject", {18, 20, 17, 17, 11}},  {"vague first", {6, 6, 6, 9, 7}},
    {"vague subject", {8, 6, 9, 9, 7}}, {"body alone", {9, 8, 11, 8, 8}},
    {"body", {0, 0, 6, 0, 0}},          {"addition", {0, 0, 0, 0, 10}},
};

// Differences between the texts.
constexpr Row kOfTexts[] = {
    {"only configurations", {0, 12, 0, 0, 0}},
    {"only above the function", {0, 4, 0, 3, 0}},
    {"other configurations", {0, 14, 0, 0, 0}},
    {"a kernel made from another one", {-2, 0, 0, 4, 13}},
    {"new parameters", {0, 0, 0, -5, 12}},
    {"fewer parameters", {0, 0, 0, 5, 0}},
    {"more and other parameters", {0, 0, 0, 0, 4}},
    {"fewer compile-time parameters", {0, 0, 8, 0, 0}},
    {"only less", {0, 0, 0, 6, 0}},
    {"words one for one", {0, 0, 0, 4, 0}},
    {"a new branch", {0, 0, 1, -3, 4}},
    {"a new barrier", {9, 0, 0, 0, 0}},
    {"a new mask", {2, 0, 1, 0, 1}},
    {"a new cast", {3, 0, 0, -2, 1}},
    {"a new int64", {7, 0, 0, 0, 0}},
    {"a new condition", {2, 0, 0, -2, 1}},
    {"a new hint for speed", {-3, 0, 6, -2, 0}},
    {"relaxed atomics", {0, 0, 12, 0, 0}},
};

template <size_t n>
const Points* FindPoints(const Row (&table)[n], absl::string_view observation) {
  const Row* const found = std::find_if(std::begin(table), std::end(table), [&](const Row& row) {
    return row.observation == observation;
  });
  return found == std::end(table) ? nullptr : &found->points;
}

// The points of the kinds, and what gave some to each.
class Count {
 public:
  void AddMessage(const MessageEvidence& message) {
    for (const Said& said : message.said) {
      const Points* const points = FindPoints(kOfMessage, said.place);
      if (points != nullptr) Add(said.kind, (*points)[said.kind], said.words);
    }
  }

  void AddTexts(const std::vector<absl::string_view>& differences) {
    for (const absl::string_view difference : differences) {
      const Points* const points = FindPoints(kOfTexts, difference);
      if (points == nullptr) continue;
      for (size_t kind = 0; kind < kKinds.size(); ++kind) {
        Add(kind, (*points)[kind], {absl::StrCat("rule: ", difference)});
      }
    }
  }

  ChangeKind Decide(int ahead) {
    const size_t first = FindMost(kKinds.size()), second = FindMost(first);
    if (points_[first] - points_[second] >= ahead) {
      return {kKinds[first], std::move(evidence_[first])};
    }
    ChangeKind unknown = {kUnknown, {}};
    if (evidence_[first].empty() || evidence_[second].empty()) return unknown;
    for (const size_t kind : {first, second}) {
      unknown.evidence.push_back(
          absl::StrCat(kKinds[kind], ": ", absl::StrJoin(evidence_[kind], ", ")));
    }
    return unknown;
  }

 private:
  void Add(size_t kind, int points, const std::vector<std::string>& evidence) {
    points_[kind] += points;
    if (points <= 0) return;
    std::vector<std::string>& known = evidence_[kind];
    for (const std::string& one : evidence) {
      if (std::find(known.begin(), known.end(), one) == known.end()) known.push_back(one);
    }
  }

  // Returns the kind with the most points beside `other`; of equals the first.
  size_t FindMost(size_t other) const {
    size_t best = other == 0 ? 1 : 0;
    for (size_t kind = best + 1; kind < kKinds.size(); ++kind) {
      if (kind != other && points_[kind] > points_[best]) best = kind;
    }
    return best;
  }

  Points points_ = kBase;
  std::array<std::vector<std::string>, kKinds.size()> evidence_;
};

}  // namespace

ChangeKind JudgeKind(absl::string_view message, const v1::Kernel& before, const v1::Kernel& after,
                     bool is_new) {
  const MessageEvidence said = ReadMessage(message);
  if (!said.revert.empty()) return {kRevert, {said.revert}};
  const TextEvidence texts = CompareTexts(before, after, is_new);
  if (!texts.same.empty()) return {kRefactoring, {absl::StrCat("rule: ", texts.same)}};
  Count count;
  count.AddMessage(said);
  count.AddTexts(texts.differences);
  return count.Decide(said.said.empty() ? kAheadIfSilent : kAhead);
}

}  // namespace kernelmill::extractor
