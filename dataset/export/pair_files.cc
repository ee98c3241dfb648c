#include "dataset/export/pair_files.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "common/job/csv.h"
#include "common/manifest/fim.h"
#include "dataset/export/place.h"
#include "dataset/output/dataset_files.h"

// Pairs come from two sides. CudaTritonMatcher proposes candidates by likeness, within a source.
// People list pairs in the job, or accept and reject candidates in reviews. A pair of people's is
// never also a candidate. Pairs of kernels of different splits are counted and left out.
namespace kernelmill::dataset {
namespace {

// Converts thousandths; negative ones say that nothing is known.
std::optional<double> ToShare(int thousandths) {
  if (thousandths < 0) return std::nullopt;
  return static_cast<double>(thousandths) / 1000;
}

void FillScore(const ScoredPair& scored, v1::PairRow* row) {
  if (const auto share = ToShare(scored.score.total)) row->set_score(*share);
  v1::PairRow::Signals* signals = row->mutable_signals();
  if (const auto share = ToShare(scored.score.names)) signals->set_names(*share);
  if (const auto share = ToShare(scored.score.operations)) signals->set_operations(*share);
  if (const auto share = ToShare(scored.score.parameters)) signals->set_parameters(*share);
  v1::PairRow::Shared* shared = row->mutable_shared();
  *shared->mutable_words() = {scored.words.begin(), scored.words.end()};
  *shared->mutable_tags() = {scored.tags.begin(), scored.tags.end()};
  *shared->mutable_parameters() = {scored.parameters.begin(), scored.parameters.end()};
}

// Says whether both kernels have the same split. A pair across splits would leak one into the
// other.
bool IsOnOneSide(const DatasetIndex& index, const std::pair<uint32_t, uint32_t>& pair) {
  return index.GetSplit(pair.first) == index.GetSplit(pair.second);
}

// Says of each source whether it has kept kernels of both languages.
std::vector<bool> SourcesWithBoth(const DatasetIndex& index) {
  std::vector<bool> cuda(index.sources.size());
  std::vector<bool> triton(index.sources.size());
  for (const uint32_t number : index.candidates) {
    if (index.DecisionOn(number).fate() != v1::FATE_KEPT || index.IsFile(number)) continue;
    const auto source = static_cast<size_t>(index.GetFile(number).source);
    const absl::string_view dsl = dsl::GetName(index.kernels[number].language);
    if (dsl == dsl::kCuda) cuda[source] = true;
    if (dsl == dsl::kTriton) triton[source] = true;
  }
  std::transform(cuda.begin(), cuda.end(), triton.begin(), cuda.begin(), std::logical_and<>());
  return cuda;
}

}  // namespace

absl::StatusOr<PairFiles> PairFiles::Create(const std::string& dir, const DatasetIndex& index,
                                            const manifest::FollowedReviews& reviews,
                                            TableWriter* tables) {
  ASSIGN_OR_RETURN(FileWriter examples,
                   FileWriter::Create(absl::StrCat(dir, "/", kTranslationsFile)));
  ASSIGN_OR_RETURN(TempFile texts, TempFile::Create(dir));
  RETURN_IF_ERROR(examples.Append(job::CsvRow({"prompt", "completion", "split"})));
  return PairFiles(index, reviews, tables, std::move(examples), std::move(texts));
}

// curated_kernels_ gets an empty entry for each kernel that a pair names, so that the walk knows
// whose texts to keep.
PairFiles::PairFiles(const DatasetIndex& index, const manifest::FollowedReviews& reviews,
                     TableWriter* tables, FileWriter examples, TempFile texts)
    : index_(index),
      tables_(*tables),
      examples_(std::move(examples)),
      texts_(std::move(texts)),
      compared_(SourcesWithBoth(index)),
      rejected_pairs_(reviews.rejected.begin(), reviews.rejected.end()) {
  for (const auto* pairs : {&index.pairs, &reviews.accepted}) {
    for (const manifest::CuratedPair& pair : *pairs) {
      const Pair numbers = {pair.cuda, pair.triton};
      if (!pair.problem.empty() || !curated_pairs_.insert(numbers).second) continue;
      listed_.push_back(numbers);
      curated_kernels_[pair.cuda];
      curated_kernels_[pair.triton];
    }
  }
}

bool PairFiles::IsCompared(uint32_t number) const {
  return compared_[static_cast<size_t>(index_.GetFile(number).source)];
}

// Runs on the threads of the walk, since reading a kernel's words takes time. A kernel that neither
// the matcher nor a list needs gives nothing.
std::optional<PairFiles::Half> PairFiles::GetHalf(uint32_t number, const v1::Kernel& kernel) const {
  const bool curated = curated_kernels_.contains(number);
  const bool compared = CudaTritonMatcher::Takes(kernel.dsl()) && IsCompared(number);
  if (!curated && !(compared && kernel.role() == v1::KERNEL_ROLE_KERNEL)) return std::nullopt;
  Half half;
  half.name = kernel.name();
  if (compared) half.words = ReadWords(kernel);
  if (curated) half.text = kernel.module().empty() ? kernel.source() : kernel.module();
  return half;
}

// Texts of listed kernels wait in a file: a list may name thousands.
absl::Status PairFiles::AddHalf(uint32_t number, Half half) {
  if (half.words.has_value()) matcher_.Add(number, *half.words);
  const auto curated = curated_kernels_.find(number);
  if (curated != curated_kernels_.end()) {
    curated->second.name = half.name;
    ASSIGN_OR_RETURN(curated->second.text, texts_.Append(job::CsvText(half.text)));
  }
  names_[number] = std::move(half.name);
  return absl::OkStatus();
}

// Compares kernels within the source only. Scores of listed pairs are taken now, since the matcher
// forgets the source.
absl::Status PairFiles::EndSource() {
  // The order of kernels is that of the export, so the pairs do not depend on the walk.
  matcher_.Prepare([this](uint32_t a, uint32_t b) { return index_.Before(a, b); });
  for (const ScoredPair& pair : matcher_.FindCandidates()) {
    const Pair numbers = {pair.cuda, pair.triton};
    if (curated_pairs_.contains(numbers) || rejected_pairs_.contains(numbers)) continue;
    if (!IsOnOneSide(index_, numbers)) {
      ++across_splits_;
      continue;
    }
    ++candidates_;
    v1::PairRow row = MakeRow(numbers, names_[pair.cuda], names_[pair.triton]);
    FillScore(pair, &row);
    RETURN_IF_ERROR(tables_.Append(&row));
  }
  for (const Pair& pair : curated_pairs_) {
    if (!names_.contains(pair.first) || !names_.contains(pair.second)) continue;
    scores_[pair] = matcher_.ScorePair(pair.first, pair.second);
  }
  matcher_ = CudaTritonMatcher();
  names_.clear();
  return absl::OkStatus();
}

absl::Status PairFiles::Close() {
  RETURN_IF_ERROR(texts_.Flush());
  for (const Pair& pair : listed_) {
    if (!IsOnOneSide(index_, pair)) {
      ++across_splits_;
      continue;
    }
    ++curated_;
    RETURN_IF_ERROR(WriteCurated(pair));
  }
  return examples_.Close();
}

// A pair of two sources has no score. A pair whose texts repeat those of an earlier one is still a
// row, but no second example.
absl::Status PairFiles::WriteCurated(const Pair& pair) {
  const CuratedKernel& cuda = curated_kernels_[pair.first];
  const CuratedKernel& triton = curated_kernels_[pair.second];
  manifest::FimPair texts;
  ASSIGN_OR_RETURN(texts.prompt, texts_.Read(cuda.text));
  ASSIGN_OR_RETURN(texts.completion, texts_.Read(triton.text));
  const auto scored = scores_.find(pair);
  const manifest::WordCounts words = manifest::CountWords(texts);
  const double overlap = words.total == 0 ? 0 : static_cast<double>(words.common) / words.total;
  const bool flagged = overlap >= manifest::kWordOverlapFlag;
  word_overlaps_ += flagged;
  v1::PairRow row = MakeRow(pair, cuda.name, triton.name);
  row.set_curated(true);
  if (scored != scores_.end()) FillScore(scored->second, &row);
  if (flagged) row.set_word_overlap(overlap);
  RETURN_IF_ERROR(tables_.Append(&row));
  if (!rows_.insert(manifest::FimPairSha1(texts)).second) {
    ++repeats_;
    return absl::OkStatus();
  }
  return examples_.Append(
      job::CsvRow({texts.prompt, texts.completion, std::string(index_.GetSplit(pair.first))}));
}

// Both kernels have the same split, so either gives the row's.
v1::PairRow PairFiles::MakeRow(const Pair& pair, const std::string& cuda_name,
                               const std::string& triton_name) const {
  v1::PairRow row;
  FillIdentity(index_, pair.first, row.mutable_cuda());
  row.mutable_cuda()->set_name(cuda_name);
  FillIdentity(index_, pair.second, row.mutable_triton());
  row.mutable_triton()->set_name(triton_name);
  row.set_split(std::string(index_.GetSplit(pair.first)));
  return row;
}

}  // namespace kernelmill::dataset
