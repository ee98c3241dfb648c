#include "services/exporter/core/pair_files.h"

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/config/csv.h"
#include "services/exporter/core/records.h"

namespace kernelmill::exporter {
namespace {

// Of thousandths; null where nothing can be said.
Json Share(int thousandths) {
  return thousandths < 0 ? Json() : Number(static_cast<double>(thousandths) / 1000);
}

Json TextList(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(Text(text));
  return list;
}

Json PairJson(Json cuda, Json triton, bool curated, const ScoredPair* scored) {
  Json json = {{"cuda", std::move(cuda)}, {"triton", std::move(triton)}, {"curated", curated}};
  if (scored == nullptr) {
    json["score"] = json["signals"] = json["shared"] = nullptr;
    return json;
  }
  json["score"] = Share(scored->score.total);
  json["signals"] = {{"names", Share(scored->score.names)},
                     {"operations", Share(scored->score.operations)},
                     {"parameters", Share(scored->score.parameters)}};
  json["shared"] = {{"words", TextList(scored->words)},
                    {"tags", TextList(scored->tags)},
                    {"parameters", TextList(scored->parameters)}};
  return json;
}

}  // namespace

absl::StatusOr<PairFiles> PairFiles::Create(const std::string& dir, const DatasetIndex& index) {
  ASSIGN_OR_RETURN(FileWriter records, FileWriter::Create(absl::StrCat(dir, "/", kPairsFile)));
  ASSIGN_OR_RETURN(FileWriter examples,
                   FileWriter::Create(absl::StrCat(dir, "/", kTranslationsFile)));
  ASSIGN_OR_RETURN(Spool spool, Spool::Create(dir));
  RETURN_IF_ERROR(examples.Append(config::CsvRow({"prompt", "completion"})));
  return PairFiles(index, std::move(records), std::move(examples), std::move(spool));
}

PairFiles::PairFiles(const DatasetIndex& index, FileWriter records, FileWriter examples,
                     Spool spool)
    : index_(index),
      records_(std::move(records)),
      examples_(std::move(examples)),
      spool_(std::move(spool)) {
  for (const dataset::CuratedPair& pair : index.pairs) {
    if (!pair.problem.empty()) continue;
    made_.emplace(pair.cuda, pair.triton);
    listed_[pair.cuda];
    listed_[pair.triton];
  }
}

absl::Status PairFiles::AddKernel(uint32_t number, const v1::Kernel& kernel) {
  const auto listed = listed_.find(number);
  const bool launched = kernel.role() == v1::KERNEL_ROLE_KERNEL;
  if (listed == listed_.end() && !launched) return absl::OkStatus();
  finder_.Add(number, kernel);
  names_[number] = kernel.name();
  if (listed == listed_.end()) return absl::OkStatus();
  listed->second.name = kernel.name();
  const std::string& text = kernel.module().empty() ? kernel.source() : kernel.module();
  ASSIGN_OR_RETURN(listed->second.text, spool_.Append(config::CsvText(text)));
  return absl::OkStatus();
}

absl::Status PairFiles::EndSource() {
  finder_.Prepare([this](uint32_t a, uint32_t b) { return index_.Before(a, b); });
  for (const ScoredPair& pair : finder_.FindPairs()) {
    if (made_.contains({pair.cuda, pair.triton})) continue;
    ++candidates_;
    RETURN_IF_ERROR(records_.Append(Canonical(PairJson(SideJson(pair.cuda, names_[pair.cuda]),
                                                       SideJson(pair.triton, names_[pair.triton]),
                                                       /*curated=*/false, &pair)) +
                                    "\n"));
  }
  for (const Pair& pair : made_) {
    if (!names_.contains(pair.first) || !names_.contains(pair.second)) continue;
    scores_[pair] = finder_.ScoreOf(pair.first, pair.second);
  }
  finder_ = PairFinder();
  names_.clear();
  return absl::OkStatus();
}

absl::Status PairFiles::Close() {
  absl::flat_hash_set<Pair> written;
  for (const dataset::CuratedPair& curated : index_.pairs) {
    const Pair pair = {curated.cuda, curated.triton};
    if (!curated.problem.empty() || !written.insert(pair).second) continue;
    ++curated_;
    RETURN_IF_ERROR(WriteListed(pair));
  }
  RETURN_IF_ERROR(records_.Close());
  return examples_.Close();
}

absl::Status PairFiles::WriteListed(const Pair& pair) {
  const Listed& cuda = listed_[pair.first];
  const Listed& triton = listed_[pair.second];
  const auto scored = scores_.find(pair);
  RETURN_IF_ERROR(records_.Append(
      Canonical(PairJson(SideJson(pair.first, cuda.name), SideJson(pair.second, triton.name),
                         /*curated=*/true, scored == scores_.end() ? nullptr : &scored->second)) +
      "\n"));
  ASSIGN_OR_RETURN(const std::string prompt, spool_.Read(cuda.text));
  ASSIGN_OR_RETURN(const std::string completion, spool_.Read(triton.text));
  return examples_.Append(config::CsvRow({prompt, completion}));
}

Json PairFiles::SideJson(uint32_t number, const std::string& name) const {
  Json json = Provenance(index_, number);
  json["name"] = Text(name);
  return json;
}

}  // namespace kernelmill::exporter
