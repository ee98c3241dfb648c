#include "dataset/export/mix_files.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status.h"
#include "common/dsl/languages.h"
#include "common/words/enum_words.h"
#include "dataset/export/place.h"
#include "dataset/mix/mix_order.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/files.h"
#include "dataset/parquet/first_lines.h"
#include "dataset/training/change_conversations.h"
#include "dataset/training/conversations.h"

// While rows are written, MixFiles notes the place and the tokens of each row that a mix may draw.
// Once all are written, it makes the plan and writes the order of each phase.
namespace kernelmill::dataset {
namespace {

// An empty list means everything.
template <typename Range, typename Value>
bool EmptyOrHas(const Range& range, const Value& value) {
  return range.empty() || std::find(range.begin(), range.end(), value) != range.end();
}

// Returns the place of a template among all of them, from 1; 0 of no template.
uint8_t TemplateNumber(absl::string_view name) {
  uint8_t number = 0;
  for (const std::vector<std::string>* names : {&TemplateNames(), &ChangeTemplateNames()}) {
    for (const std::string& known : *names) {
      ++number;
      if (known == name) return number;
    }
  }
  return 0;
}

// Two passes: the head of the file says how many samples follow.
absl::StatusOr<int64_t> WriteOrder(const PhasePlan& phase, uint64_t seed, const std::string& path) {
  int64_t samples = 0;
  MixOrder::Sample sample;
  for (MixOrder order(phase, seed); order.Next(&sample);) ++samples;
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(path));
  RETURN_IF_ERROR(file.Append(NpyHead(samples)));
  std::string row;
  for (MixOrder order(phase, seed); order.Next(&sample);) {
    row.clear();
    AppendNpyRow(sample, &row);
    RETURN_IF_ERROR(file.Append(row));
  }
  RETURN_IF_ERROR(file.Close());
  return samples;
}

}  // namespace

MixFacts MixFiles::GetFacts(uint32_t number, int32_t tier, absl::string_view template_name) const {
  return {index_.GetFile(number).source, index_.kernels[number].language, tier, template_name,
          index_.GetSplit(number)};
}

// Counts every row that is written, since a sample names a row by its place in the file; but only
// rows of train are drawn.
void MixFiles::AddRow(const std::string& config, const MixFacts& facts, int64_t tokens) {
  const uint32_t line = written_[config]++;
  if (!DrawsFrom(config) || facts.split != "train") return;
  MixRow row;
  row.row = line;
  row.tokens =
      static_cast<uint32_t>(std::clamp<int64_t>(tokens, 0, std::numeric_limits<uint32_t>::max()));
  row.source = facts.source;
  row.tier = static_cast<int16_t>(facts.tier);
  row.language = facts.language;
  row.template_number = TemplateNumber(facts.template_name);
  rows_[config].push_back(row);
}

void MixFiles::MoveToFront(const std::string& config, const std::vector<int64_t>& first) {
  for (MixRow& row : rows_[config]) row.row = static_cast<uint32_t>(LineOfRow(first, row.row));
}

// A selection that the part does not give fits every row.
bool MixFiles::Fits(const v1::MixPart& part, const MixRow& row) const {
  const SourceEntry& source = index_.sources[static_cast<size_t>(row.source)];
  const uint8_t asked = TemplateNumber(FindTemplate(part));
  return EmptyOrHas(part.repositories(), source.repository) &&
         EmptyOrHas(part.categories(), source.category) &&
         EmptyOrHas(part.dsls(), dsl::GetName(row.language)) &&
         EmptyOrHas(part.tiers(), row.tier) && (asked == 0 || asked == row.template_number);
}

// Writes an index for each phase and mix.json. Returns the plan's warnings, which do not fail the
// export.
absl::StatusOr<std::vector<std::string>> MixFiles::Write(const std::string& dir) const {
  std::vector<std::string> warnings;
  if (!index_.manifest.has_mix()) return warnings;
  const v1::Mix& mix = index_.manifest.mix();
  const std::vector<PhasePlan> phases = PlanMix(
      mix, rows_, [this](const v1::MixPart& part, const MixRow& row) { return Fits(part, row); });
  std::error_code error;
  std::filesystem::create_directory(absl::StrCat(dir, "/", kMixFolder), error);
  if (error) return ErrnoStatus(error.value(), kMixFolder);
  std::vector<std::string> indexes;
  std::vector<int64_t> samples;
  for (const PhasePlan& phase : phases) {
    indexes.push_back(
        absl::StrFormat("%s/%02d-%s.npy", kMixFolder, indexes.size() + 1, phase.name));
    ASSIGN_OR_RETURN(const int64_t count,
                     WriteOrder(phase, mix.seed(), absl::StrCat(dir, "/", indexes.back())));
    samples.push_back(count);
  }
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(absl::StrCat(dir, "/", kMixFile)));
  RETURN_IF_ERROR(file.Append(Pretty(MixJson(mix, phases, indexes, samples))));
  RETURN_IF_ERROR(file.Close());
  for (const PhasePlan& phase : phases) {
    for (size_t part = 0; part < phase.parts.size(); ++part) {
      if (phase.parts[part].warning.empty()) continue;
      warnings.push_back(absl::StrCat("mix: phase ", phase.name, ", part ", part + 1, ": ",
                                      phase.parts[part].warning));
    }
  }
  return warnings;
}

}  // namespace kernelmill::dataset
