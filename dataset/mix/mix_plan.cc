#include "dataset/mix/mix_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

// An example: a phase of 100 tokens with a part of 2 epochs over 20 unique tokens, and two parts
// with the weights 1 and 2. The first part gets 40 tokens. The others share the remaining 60 as 20
// and 40. A part that gets more tokens than it has unique ones repeats its rows, which `epochs`
// says.
namespace kernelmill::dataset {
namespace {

constexpr double kMaxEpochs = 4;  // the default

int64_t CountTokens(const std::vector<MixRow>& rows) {
  int64_t tokens = 0;
  for (const MixRow& row : rows) tokens += row.tokens;
  return tokens;
}

// 0 if the corpus is not listed; the job's check refuses that.
int64_t CorpusTokens(const v1::Mix& mix, const std::string& name) {
  for (const v1::OutsideCorpus& corpus : mix.corpora()) {
    if (corpus.name() == name) return corpus.tokens();
  }
  return 0;
}

// Returns the weight by which a part shares the phase's tokens: 1 by default, 0 if it has epochs.
double GetWeight(const v1::MixPart& part) {
  if (part.epochs() > 0) return 0;
  return part.weight() == 0 ? 1 : part.weight();
}

// Rounds to whole tokens. Numbers of tokens are far below 2^53, so that doubles are exact enough.
int64_t Whole(double tokens) { return static_cast<int64_t>(std::llround(tokens)); }

// The basic idea: parts with epochs first get what these need. The other parts divide the rest by
// weight. If the job gives no number of tokens, the phase has the sum.
void DivideTokens(PhasePlan& phase) {
  double weights = 0;
  int64_t fixed = 0;
  for (PartPlan& part : phase.parts) {
    weights += GetWeight(part.part);
    if (part.part.epochs() > 0) {
      part.tokens = Whole(part.part.epochs() * static_cast<double>(part.unique_tokens));
      fixed += part.tokens;
    }
  }
  // If parts with epochs need more than the phase has, the others get nothing.
  const int64_t left = std::max<int64_t>(phase.tokens - fixed, 0);
  for (PartPlan& part : phase.parts) {
    if (part.part.epochs() > 0 || weights == 0) continue;
    part.tokens = Whole(static_cast<double>(left) * GetWeight(part.part) / weights);
  }
  int64_t sum = 0;
  for (const PartPlan& part : phase.parts) sum += part.tokens;
  if (phase.tokens == 0) phase.tokens = sum;
  for (PartPlan& part : phase.parts) {
    if (sum > 0) part.share = static_cast<double>(part.tokens) / static_cast<double>(sum);
  }
}

// Warns of a part without rows, and of one whose rows repeat more often than the job allows.
std::string MakeWarning(const PartPlan& part, double max_epochs) {
  if (part.unique_tokens == 0) return "nothing fits: it gives no token";
  if (part.epochs <= max_epochs) return "";
  return absl::StrFormat("%d tokens of %d unique ones are %.1f epochs, more than %g", part.tokens,
                         part.unique_tokens, part.epochs, max_epochs);
}

// A part of an outside corpus has no config: its rows are not ours.
Json PartJson(const PartPlan& plan) {
  const v1::MixPart& part = plan.part;
  return {{"config", part.corpus().empty() ? Json(FindConfig(part)) : Json()},
          {"template", TextOrNull(FindTemplate(part))},
          {"corpus", TextOrNull(part.corpus())},
          {"repositories", TextList(part.repositories())},
          {"categories", TextList(part.categories())},
          {"dsls", TextList(part.dsls())},
          {"tiers", part.tiers()},
          {"rows", plan.rows.size()},
          {"unique_tokens", plan.unique_tokens},
          {"tokens", plan.tokens},
          {"share", Number(plan.share)},
          {"epochs", Number(plan.epochs)},
          {"warning", TextOrNull(plan.warning)}};
}

}  // namespace

// Every other word that a job may use is a template.
std::string FindTemplate(const v1::MixPart& part) {
  constexpr absl::string_view kFiles[] = {"kernels", "fim", "instruct", "files", ""};
  const bool is_file =
      std::find(std::begin(kFiles), std::end(kFiles), part.config()) != std::end(kFiles);
  return is_file ? "" : part.config();
}

std::string FindConfig(const v1::MixPart& part) {
  if (!FindTemplate(part).empty()) return "instruct";
  return part.config().empty() ? "kernels" : part.config();
}

// Tells whether the tokens of a file's rows must be counted at all.
bool MixDrawsFrom(const v1::Mix& mix, absl::string_view config) {
  for (const v1::MixPhase& phase : mix.phases()) {
    for (const v1::MixPart& part : phase.parts()) {
      if (part.corpus().empty() && FindConfig(part) == config) return true;
    }
  }
  return false;
}

// For each phase: finds the rows that fit each part, divides the phase's tokens among the parts,
// and computes how often each part repeats. Rows without tokens are left out, since they would
// never advance the reading.
std::vector<PhasePlan> PlanMix(const v1::Mix& mix, const MixRows& rows,
                               absl::FunctionRef<bool(const v1::MixPart&, const MixRow&)> fits) {
  const double max_epochs = mix.max_epochs() > 0 ? mix.max_epochs() : kMaxEpochs;
  std::vector<PhasePlan> plans;
  for (const v1::MixPhase& phase : mix.phases()) {
    PhasePlan plan;
    plan.name = phase.name();
    plan.tokens = phase.tokens();
    for (const v1::MixPart& part : phase.parts()) {
      PartPlan of_part;
      of_part.part = part;
      const auto found = rows.find(FindConfig(part));
      if (!part.corpus().empty()) {
        of_part.unique_tokens = CorpusTokens(mix, part.corpus());
      } else if (found != rows.end()) {
        std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(of_part.rows),
                     [&](const MixRow& row) { return row.tokens > 0 && fits(part, row); });
        of_part.unique_tokens = CountTokens(of_part.rows);
      }
      plan.parts.push_back(std::move(of_part));
    }
    DivideTokens(plan);
    for (PartPlan& part : plan.parts) {
      if (part.unique_tokens > 0) {
        part.epochs = static_cast<double>(part.tokens) / static_cast<double>(part.unique_tokens);
      }
      part.warning = MakeWarning(part, max_epochs);
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

// Makes mix.json: the plan of each phase and the name of its index.
Json MixJson(const v1::Mix& mix, const std::vector<PhasePlan>& phases,
             const std::vector<std::string>& indexes, const std::vector<int64_t>& samples) {
  Json list = Json::array();
  for (size_t i = 0; i < phases.size(); ++i) {
    Json parts = Json::array();
    for (const PartPlan& part : phases[i].parts) parts.push_back(PartJson(part));
    list.push_back({{"name", Text(phases[i].name)},
                    {"tokens", phases[i].tokens},
                    {"parts", std::move(parts)},
                    {"index", indexes[i]},
                    {"samples", samples[i]}});
  }
  return {{"generator", "kernelmill"}, {"schema", 1},        {"tokenizer", "cl100k_base"},
          {"split", "train"},          {"seed", mix.seed()}, {"phases", std::move(list)}};
}

}  // namespace kernelmill::dataset
