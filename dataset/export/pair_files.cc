#include "dataset/export/pair_files.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "common/job/csv.h"
#include "common/manifest/fim.h"
#include "common/spdx/expression.h"
#include "dataset/output/dataset_files.h"

// Pairs come from two sides. ParallelMatcher proposes candidates by likeness, within a source.
// People list pairs in the job, or accept and reject candidates in reviews. A pair of people's is
// never also a candidate. Pairs of kernels of different splits are counted and left out.
namespace kernelmill::dataset {
namespace {

constexpr size_t kIdDigits = 32;

// Converts thousandths; negative ones say that nothing is known.
std::optional<double> ToShare(int thousandths) {
  if (thousandths < 0) return std::nullopt;
  return static_cast<double>(thousandths) / 1000;
}

void FillScore(const ParallelPair& scored, v1::PairRow* row) {
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

// Adds evidence of a kind, if the two share something of it.
void AddEvidence(const std::string& kind, const std::vector<std::string>& shared,
                 std::optional<double> score, v1::ParallelRow* row) {
  if (shared.empty()) return;
  v1::ParallelRow::Evidence* evidence = row->add_evidence();
  evidence->set_kind(kind);
  *evidence->mutable_shared() = {shared.begin(), shared.end()};
  if (score) evidence->set_score(*score);
}

void FillEvidence(const ParallelPair& scored, v1::ParallelRow* row) {
  const PairScore& score = scored.score;
  if (const auto share = ToShare(score.total)) row->set_score(*share);
  AddEvidence("name", scored.words, ToShare(score.names), row);
  AddEvidence("launcher", scored.launcher, ToShare(score.launcher), row);
  AddEvidence("path", scored.path, ToShare(score.path), row);
  AddEvidence("tags", scored.tags, ToShare(score.operations), row);
  AddEvidence("parameters", scored.parameters, ToShare(score.parameters), row);
  AddEvidence("test", scored.tests, std::nullopt, row);
  AddEvidence("reference", scored.references, std::nullopt, row);
}

// Returns the licence of a text that has both.
std::string JoinLicenses(const std::string& a, const std::string& b) {
  if (a == b) return a;
  const auto first = spdx::SpdxExpression::Parse(a);
  const auto second = spdx::SpdxExpression::Parse(b);
  if (!first.ok() || !second.ok()) return spdx::kNoAssertion;
  return spdx::SpdxExpression::All({*first, *second}).ToString();
}

// Says of each source whether it has kept kernels of two languages.
std::vector<bool> SourcesWithTwo(const DatasetIndex& index) {
  std::vector<std::set<uint8_t>> languages(index.sources.size());
  for (const uint32_t number : index.candidates) {
    if (index.DecisionOn(number).fate() != v1::FATE_KEPT || index.IsFile(number)) continue;
    languages[static_cast<size_t>(index.GetFile(number).source)].insert(
        index.kernels[number].language);
  }
  std::vector<bool> with_two;
  for (const auto& of_source : languages) with_two.push_back(of_source.size() > 1);
  return with_two;
}

// Sets of kernels that pairs connect.
class Groups {
 public:
  void Join(uint32_t a, uint32_t b) { parents_[Find(a)] = Find(b); }

  uint32_t Find(uint32_t number) {
    parents_.try_emplace(number, number);
    while (parents_[number] != number) {
      parents_[number] = parents_[parents_[number]];
      number = parents_[number];
    }
    return number;
  }

  // Returns the least id of each set, by the number that Find() returns.
  std::map<uint32_t, std::string> FindIds(const DatasetIndex& index) {
    std::vector<uint32_t> numbers;
    for (const auto& [number, parent] : parents_) numbers.push_back(number);
    std::map<uint32_t, std::string> ids;
    for (const uint32_t number : numbers) {
      std::string& least = ids[Find(number)];
      const std::string id = index.kernels[number].id();
      if (least.empty() || id < least) least = id;
    }
    return ids;
  }

 private:
  std::map<uint32_t, uint32_t> parents_;
};

absl::Status ReadKernel(const TempFile& file, TempFile::Extent place,
                        v1::ParallelRow::Kernel* kernel) {
  ASSIGN_OR_RETURN(const std::string bytes, file.Read(place));
  if (!kernel->ParseFromString(bytes)) return absl::DataLossError("a kernel of a pair is damaged");
  return absl::OkStatus();
}

void FillSide(const v1::ParallelRow::Kernel& kernel, v1::PairRow::Side* side) {
  side->set_id(kernel.id());
  side->set_repository(kernel.repository());
  side->set_repository_url(kernel.repository_url());
  side->set_commit(kernel.commit());
  side->set_path(kernel.path());
  side->set_first_line(kernel.first_line());
  side->set_last_line(kernel.last_line());
  if (kernel.has_json_pointer()) side->set_json_pointer(kernel.json_pointer());
  side->set_url(kernel.url());
  side->set_sha256(kernel.sha256());
  side->set_dsl(kernel.dsl());
  side->set_role(kernel.role());
  side->set_form(kernel.form());
  side->set_name(kernel.name());
}

}  // namespace

Json ParallelCounts::ToJson() const {
  return {{"by_languages", by_languages}, {"groups", groups}, {"across_splits", across_splits}};
}

absl::StatusOr<PairFiles> PairFiles::Create(const std::string& dir, const DatasetIndex& index,
                                            const manifest::FollowedReviews& reviews,
                                            TableWriter* tables) {
  ASSIGN_OR_RETURN(FileWriter examples,
                   FileWriter::Create(absl::StrCat(dir, "/", kTranslationsFile)));
  ASSIGN_OR_RETURN(TempFile kernels, TempFile::Create(dir));
  ASSIGN_OR_RETURN(TempFile texts, TempFile::Create(dir));
  RETURN_IF_ERROR(examples.Append(job::CsvRow({"prompt", "completion", "split"})));
  return PairFiles(index, reviews, tables,
                   {std::move(examples), std::move(kernels), std::move(texts)});
}

// curated_kernels_ gets an empty entry for each kernel that a pair names, so that the walk knows
// whose texts to keep.
PairFiles::PairFiles(const DatasetIndex& index, const manifest::FollowedReviews& reviews,
                     TableWriter* tables, Files files)
    : index_(index),
      tables_(*tables),
      files_(std::move(files)),
      compared_(SourcesWithTwo(index)),
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

absl::string_view PairFiles::GetLanguage(uint32_t number) const {
  return dsl::GetName(index_.kernels[number].language);
}

bool PairFiles::IsCudaTriton(const Pair& pair) const {
  return GetLanguage(pair.first) == dsl::kCuda && GetLanguage(pair.second) == dsl::kTriton;
}

// A pair across splits would leak one kernel into the other's split.
bool PairFiles::IsAcrossSplits(const Pair& pair) {
  if (index_.GetSplit(pair.first) == index_.GetSplit(pair.second)) return false;
  ++parallel_.across_splits;
  across_splits_ += IsCudaTriton(pair);
  return true;
}

// Runs on the threads of the walk, since reading a kernel's words takes time. A kernel that neither
// the matcher nor a list needs gives nothing.
std::optional<PairFiles::Half> PairFiles::GetHalf(const KeptKernel& kept,
                                                  const v1::KernelReferences* references) const {
  const v1::Kernel& kernel = kept.kernel;
  const bool curated = curated_kernels_.contains(kept.number);
  const bool compared = IsCompared(index_.GetFile(kept.number).source);
  if (!curated && !(compared && kernel.role() == v1::KERNEL_ROLE_KERNEL)) return std::nullopt;
  Half half;
  v1::ParallelRow::Kernel row;
  FillParallelKernel(kept, &row);
  half.kernel = row.SerializeAsString();
  if (curated) half.text = kernel.module().empty() ? kernel.source() : kernel.module();
  half.words = ReadWords(kernel);
  if (references == nullptr) return half;
  for (const v1::TestReference& test : references->tests()) {
    half.words.tests.push_back(absl::StrCat(test.path(), "::", test.qualname()));
    if (test.reference().name().empty()) continue;
    half.words.references.push_back(
        absl::StrCat(test.reference().path(), "::", test.reference().name()));
  }
  return half;
}

// Kernels wait in files: their texts are far larger than what is compared, and a list may name
// thousands.
absl::Status PairFiles::AddHalf(uint32_t number, Half half) {
  if (IsCompared(index_.GetFile(number).source)) {
    matcher_.Add(number, half.words);
    ASSIGN_OR_RETURN(places_[number], files_.kernels.Append(half.kernel));
  }
  const auto curated = curated_kernels_.find(number);
  if (curated == curated_kernels_.end()) return absl::OkStatus();
  curated->second.words = std::move(half.words);
  ASSIGN_OR_RETURN(curated->second.kernel, files_.texts.Append(half.kernel));
  ASSIGN_OR_RETURN(curated->second.text, files_.texts.Append(job::CsvText(half.text)));
  return absl::OkStatus();
}

std::vector<ParallelPair> PairFiles::TakeCandidates() {
  // The order of kernels is that of the export, so the pairs do not depend on the walk.
  const auto before = [this](uint32_t a, uint32_t b) { return index_.Before(a, b); };
  matcher_.Prepare(before);
  std::vector<ParallelPair> taken;
  for (ParallelPair& pair : matcher_.FindPairs()) {
    const Pair numbers = {pair.a, pair.b};
    if (curated_pairs_.contains(numbers) || rejected_pairs_.contains(numbers)) continue;
    if (!IsAcrossSplits(numbers)) taken.push_back(std::move(pair));
  }
  std::stable_sort(taken.begin(), taken.end(),
                   [&](const ParallelPair& x, const ParallelPair& y) { return before(x.a, y.a); });
  return taken;
}

// Compares kernels within the source only. Scores of listed pairs are taken now, since the matcher
// forgets the source.
absl::Status PairFiles::EndSource() {
  const std::vector<ParallelPair> candidates = TakeCandidates();
  Groups groups;
  std::map<std::pair<uint32_t, absl::string_view>, int> partners;  // by kernel and other language
  for (const ParallelPair& pair : candidates) {
    groups.Join(pair.a, pair.b);
    ++partners[{pair.a, GetLanguage(pair.b)}];
    ++partners[{pair.b, GetLanguage(pair.a)}];
  }
  const std::map<uint32_t, std::string> ids = groups.FindIds(index_);
  parallel_.groups += static_cast<int64_t>(ids.size());
  RETURN_IF_ERROR(files_.kernels.Flush());
  for (const ParallelPair& pair : candidates) {
    const Pair numbers = {pair.a, pair.b};
    v1::ParallelRow row;
    row.set_group(ids.at(groups.Find(pair.a)));
    row.set_unique(partners[{pair.a, GetLanguage(pair.b)}] == 1 &&
                   partners[{pair.b, GetLanguage(pair.a)}] == 1);
    RETURN_IF_ERROR(ReadKernel(files_.kernels, places_.at(pair.a), row.mutable_a()));
    RETURN_IF_ERROR(ReadKernel(files_.kernels, places_.at(pair.b), row.mutable_b()));
    if (IsCudaTriton(numbers)) {
      ++candidates_;
      v1::PairRow view = MakeRow(numbers, row);
      FillScore(pair, &view);
      RETURN_IF_ERROR(tables_.Append(&view));
    }
    RETURN_IF_ERROR(WriteParallel(numbers, pair, &row));
  }
  for (const Pair& pair : curated_pairs_) {
    if (!places_.contains(pair.first) || !places_.contains(pair.second)) continue;
    scores_[pair] = matcher_.ScorePair(pair.first, pair.second);
  }
  matcher_ = ParallelMatcher();
  places_.clear();
  return files_.kernels.Clear();
}

absl::Status PairFiles::Close() {
  RETURN_IF_ERROR(files_.texts.Flush());
  for (const Pair& pair : listed_) {
    if (IsAcrossSplits(pair)) continue;
    ++curated_;
    RETURN_IF_ERROR(WriteCurated(pair));
  }
  return files_.examples.Close();
}

// Words of two sources have no common weights: a vocabulary of the two kernels alone says what they
// share.
ParallelPair PairFiles::ScoreCurated(const Pair& pair) {
  const auto scored = scores_.find(pair);
  if (scored != scores_.end()) return scored->second;
  ParallelMatcher matcher;
  matcher.Add(pair.first, curated_kernels_[pair.first].words);
  matcher.Add(pair.second, curated_kernels_[pair.second].words);
  matcher.Prepare([](uint32_t a, uint32_t b) { return a < b; });
  ParallelPair shared = matcher.ScorePair(pair.first, pair.second);
  shared.score = {-1, -1, -1, -1, -1, -1, -1};
  return shared;
}

// A pair of two sources has no score. A pair whose texts repeat those of an earlier one is still a
// row, but no second example.
absl::Status PairFiles::WriteCurated(const Pair& pair) {
  const CuratedKernel& cuda = curated_kernels_[pair.first];
  const CuratedKernel& triton = curated_kernels_[pair.second];
  manifest::FimPair texts;
  ASSIGN_OR_RETURN(texts.prompt, files_.texts.Read(cuda.text));
  ASSIGN_OR_RETURN(texts.completion, files_.texts.Read(triton.text));
  v1::ParallelRow parallel;
  RETURN_IF_ERROR(ReadKernel(files_.texts, cuda.kernel, parallel.mutable_a()));
  RETURN_IF_ERROR(ReadKernel(files_.texts, triton.kernel, parallel.mutable_b()));
  const ParallelPair scored = ScoreCurated(pair);
  const manifest::WordCounts words = manifest::CountWords(texts);
  const double overlap = words.total == 0 ? 0 : static_cast<double>(words.common) / words.total;
  const bool flagged = overlap >= manifest::kWordOverlapFlag;
  word_overlaps_ += flagged;
  v1::PairRow row = MakeRow(pair, parallel);
  row.set_curated(true);
  if (scored.score.total >= 0) FillScore(scored, &row);
  if (flagged) row.set_word_overlap(overlap);
  RETURN_IF_ERROR(tables_.Append(&row));
  parallel.set_curated(true);
  parallel.set_group(std::min(parallel.a().id(), parallel.b().id()));
  parallel.add_evidence()->set_kind("list");
  ++parallel_.groups;
  RETURN_IF_ERROR(WriteParallel(pair, scored, &parallel));
  if (!rows_.insert(manifest::FimPairSha1(texts)).second) {
    ++repeats_;
    return absl::OkStatus();
  }
  return files_.examples.Append(
      job::CsvRow({texts.prompt, texts.completion, std::string(index_.GetSplit(pair.first))}));
}

// Both kernels have the same split, so either gives the row's.
absl::Status PairFiles::WriteParallel(const Pair& pair, const ParallelPair& scored,
                                      v1::ParallelRow* row) {
  const SourceEntry& a = index_.GetSource(pair.first);
  const SourceEntry& b = index_.GetSource(pair.second);
  row->set_id(Sha256Hex(absl::StrCat(row->a().id(), row->b().id())).substr(0, kIdDigits));
  row->add_languages(row->a().dsl());
  row->add_languages(row->b().dsl());
  row->set_operation(scored.operation);
  row->set_phase(scored.backward ? "backward" : "forward");
  FillEvidence(scored, row);
  row->set_license(JoinLicenses(row->a().license(), row->b().license()));
  row->set_category(a.category);
  row->set_source_tier(std::max(a.tier, b.tier));
  row->set_weight(std::min(a.weight, b.weight));
  row->set_split(std::string(index_.GetSplit(pair.first)));
  FillParallelTokens(row);
  ++parallel_.by_languages[absl::StrCat(row->a().dsl(), "-", row->b().dsl())];
  return tables_.Append(row);
}

v1::PairRow PairFiles::MakeRow(const Pair& pair, const v1::ParallelRow& row) const {
  v1::PairRow view;
  view.set_split(std::string(index_.GetSplit(pair.first)));
  FillSide(row.a(), view.mutable_cuda());
  FillSide(row.b(), view.mutable_triton());
  return view;
}

}  // namespace kernelmill::dataset
