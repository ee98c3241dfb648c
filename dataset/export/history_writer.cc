#include "dataset/export/history_writer.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/dsl/languages.h"
#include "common/job/opt_out.h"
#include "common/manifest/older_languages.h"
#include "dataset/export/change_outcomes.h"
#include "dataset/export/fill_rows.h"
#include "dataset/export/place.h"
#include "dataset/export/redact.h"
#include "dataset/training/change_conversations.h"
#include "kernelmill/v1/history.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {
namespace {

// The rules for the changes of one source.
struct SourceRules {
  uint32_t first_number = 0;  // its first kernel
  uint32_t kernels = 0;
  std::vector<std::string> licenses;  // by kernel, from the first
  std::vector<bool> of_tree;          // by kernel: the licence rests on a file of the tree
  std::vector<int32_t> tiers;         // by kernel, of quality
  // For kernels that are gone: the licence that all kernels of the source have, and their split.
  std::string only_license;
  bool only_of_tree = true;
  std::string usual_split = "train";
  job::SourceOptOut opt_out;
};

// Says whether a licence was found in files beside the code, and not in the code or the job file.
bool RestsOnTree(absl::string_view evidence) {
  return absl::StartsWith(evidence, "file:") || absl::StartsWith(evidence, "annotation:") ||
         evidence == "metadata";
}

class HistoryWriter {
 public:
  HistoryWriter(cas::BlobStore& store, const DatasetIndex& index, const ReferenceGuard& guard,
                const HistorySinks& sinks)
      : store_(store), index_(index), guard_(guard), sinks_(sinks) {}

  absl::StatusOr<HistoryCounts> Run() {
    counts_.compiles = index_.manifest.has_compile();
    for (int s = 0; s < index_.manifest.sources_size(); ++s) {
      const v1::ManifestSource& source = index_.manifest.sources(s);
      if (!source.source().has_history()) continue;
      counts_.is_asked = true;
      if (source.failed() || source.changes().empty()) continue;
      RETURN_IF_ERROR(WriteSource(s));
    }
    return std::move(counts_);
  }

 private:
  absl::Status WriteSource(int s) {
    ASSIGN_OR_RETURN(const SourceRules rules, ReadRules(s));
    ASSIGN_OR_RETURN(const VersionResults results,
                     VersionResults::Read(store_, index_.manifest.sources(s)));
    const int64_t before = counts_.rows;
    v1::HistorySums sums;
    for (const auto& digest : index_.manifest.sources(s).changes()) {
      ASSIGN_OR_RETURN(auto shard, cas::GetMessage<v1::ChangeShard>(store_, digest));
      manifest::NameLanguages(&shard);
      if (shard.has_sums()) sums = shard.sums();
      for (const v1::KernelChange& change : shard.changes()) {
        RETURN_IF_ERROR(WriteChange(s, rules, results, change));
      }
    }
    counts_.changes += sums.changes();
    counts_.kernels += sums.kernels();
    counts_.compiled += results.kernels();
    counts_.sources.push_back({{"repository", index_.sources[static_cast<size_t>(s)].repository},
                               {"commits", sums.commits_seen()},
                               {"end", sums.end()},
                               {"commits_with_kernels", sums.commits_with_kernels()},
                               {"commits_with_changes", sums.commits_with_changes()},
                               {"changes", sums.changes()},
                               {"kernels", sums.kernels()},
                               {"added", sums.added()},
                               {"removed", sums.removed()},
                               {"moved", sums.moved()},
                               {"versions", sums.versions()},
                               {"lost_versions", sums.lost_versions()},
                               {"rows", counts_.rows - before}});
    return absl::OkStatus();
  }

  absl::StatusOr<SourceRules> ReadRules(int s) const {
    SourceRules rules;
    const uint32_t count = static_cast<uint32_t>(index_.kernels.size());
    while (rules.first_number < count && index_.GetFile(rules.first_number).source != s) {
      ++rules.first_number;
    }
    RETURN_IF_ERROR(ReadLicenses(s, rules));
    std::map<std::string, int64_t> splits;
    std::set<std::string> licenses;
    for (uint32_t i = 0; i < rules.kernels; ++i) {
      const uint32_t number = rules.first_number + i;
      const v1::Fate fate = index_.DecisionOn(number).fate();
      if (fate == v1::FATE_KEPT) ++splits[std::string(index_.GetSplit(number))];
      if (fate == v1::FATE_KEPT || fate == v1::FATE_DUPLICATE) {
        licenses.insert(rules.licenses[i]);
        rules.only_of_tree = rules.only_of_tree && rules.of_tree[i];
      }
    }
    if (licenses.size() == 1) rules.only_license = *licenses.begin();
    int64_t most = 0;
    for (const auto& [split, kernels] : splits) {
      if (kernels > most) rules.usual_split = split;
      most = std::max(most, kernels);
    }
    const job::OptOutIndex entries(index_.manifest.opt_out());
    google::protobuf::RepeatedPtrField<v1::OptOut> naming;
    for (const int entry : entries.Naming(index_.manifest.sources(s).source())) {
      *naming.Add() = index_.manifest.opt_out(entry);
    }
    ASSIGN_OR_RETURN(rules.opt_out, job::SourceOptOut::Compile(naming));
    return rules;
  }

  absl::Status ReadLicenses(int s, SourceRules& rules) const {
    for (const auto& digest : index_.manifest.sources(s).verdicts()) {
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::VerdictShard>(store_, digest));
      for (const v1::Verdict& verdict : shard.verdicts()) {
        rules.licenses.push_back(verdict.license().expression());
        rules.of_tree.push_back(RestsOnTree(verdict.license().evidence()));
        rules.tiers.push_back(verdict.quality().tier());
      }
    }
    rules.kernels = static_cast<uint32_t>(rules.licenses.size());
    if (rules.first_number + rules.kernels > index_.kernels.size()) {
      return absl::DataLossError("a source has more verdicts than kernels");
    }
    return absl::OkStatus();
  }

  absl::Status WriteChange(int s, const SourceRules& rules, const VersionResults& results,
                           const v1::KernelChange& change) {
    std::optional<uint32_t> head;
    if (change.has_head()) {
      if (change.head() < 0 || change.head() >= rules.kernels) {
        return absl::DataLossError("a change names a kernel that its source does not have");
      }
      head = rules.first_number + static_cast<uint32_t>(change.head());
    }
    v1::HistoryRow row;
    std::string reason = FindReason(rules, change, head, row);
    if (reason.empty()) {
      FillRow(s, change, &row);
      RETURN_IF_ERROR(FillResults(results, change.before(), row.mutable_before()));
      RETURN_IF_ERROR(FillResults(results, change.after(), row.mutable_after()));
      if (!RedactTexts(index_.manifest.quality(), &row)) reason = "secret";
    }
    if (!reason.empty()) {
      ++counts_.withheld[reason];
      return absl::OkStatus();
    }
    FillTurns(&row);
    CountRow(row);
    RETURN_IF_ERROR(WriteConversations(s, head ? rules.tiers[*head - rules.first_number] : 0, row));
    return sinks_.tables->Append(&row);
  }

  void CountRow(const v1::HistoryRow& row) {
    ++counts_.rows;
    ++counts_.kinds[row.kind()];
    ++counts_.matches[row.match()];
    counts_.with_claims += row.claims().empty() ? 0 : 1;
    if (!row.has_repair()) return;
    ++counts_.judged;
    if (row.repair()) ++counts_.repairs[row.kind()];
    if (row.breaks()) ++counts_.breaks[row.kind()];
  }

  absl::Status WriteConversations(int s, int32_t tier, const v1::HistoryRow& change) {
    const Conversations conversations = MakeChangeConversations(change);
    for (const NotAsked& one : conversations.not_asked) sinks_.conversations->Count(one);
    for (const Conversation& conversation : conversations.asked) {
      if (!sinks_.conversations->Add(MakeInstructKey(conversation))) continue;
      v1::InstructRow row;
      FillInstructRow(change, conversation, &row);
      const int64_t tokens = sinks_.mix->DrawsFrom("instruct") ? CountTokens(conversation) : 0;
      sinks_.mix->AddRow(
          "instruct",
          {s, dsl::GetNumber(change.after().dsl()), tier, conversation.template_name, row.split()},
          tokens);
      RETURN_IF_ERROR(sinks_.tables->Append(&row));
    }
    return absl::OkStatus();
  }

  // Returns why a change must not get out, and fills the fields that depend on its kernel; empty if
  // it may.
  std::string FindReason(const SourceRules& rules, const v1::KernelChange& change,
                         std::optional<uint32_t> head, v1::HistoryRow& row) const {
    bool of_tree = rules.only_of_tree;
    if (head.has_value()) {
      const v1::Decision& decision = index_.DecisionOn(*head);
      if (decision.fate() == v1::FATE_CONTAMINATED) return "contaminated";
      const bool kept = decision.fate() == v1::FATE_KEPT;
      if (!kept && decision.fate() != v1::FATE_DUPLICATE) {
        return absl::StartsWith(decision.reason(), job::kOptOutReason) ? "opt_out" : "rejected";
      }
      const size_t place = *head - rules.first_number;
      row.set_license(rules.licenses[place]);
      of_tree = rules.of_tree[place];
      if (kept) row.set_kernel_id(index_.kernels[*head].id());
      row.set_split(std::string(index_.GetSplit(kept ? *head : decision.leader())));
    } else {
      if (rules.only_license.empty()) return "license";
      row.set_license(rules.only_license);
      row.set_split(rules.usual_split);
    }
    for (const v1::KernelVersion* version : {&change.before(), &change.after()}) {
      if (rules.opt_out.Names(version->path(), {absl::string_view(version->sha256())})) {
        return "opt_out";
      }
      for (const v1::ModulePiece& piece : version->pieces()) {
        if (!piece.path().empty() && rules.opt_out.Names(piece.path(), {})) return "opt_out";
      }
      for (const std::string* text :
           {&version->source(), &version->module(), &version->launcher()}) {
        if (guard_.Withholds(*text)) return "holdout";
      }
    }
    const std::string& files = change.license_files();
    if (of_tree && files != "same" && files != "unknown") return "license_files";
    return "";
  }

  void FillRow(int s, const v1::KernelChange& change, v1::HistoryRow* row) const {
    const SourceEntry& source = index_.sources[static_cast<size_t>(s)];
    const std::string zero(1, '\0');
    row->set_change_id(
        Sha256Hex(absl::StrCat(source.repository, zero, change.commit(), zero,
                               change.before().path(), zero, change.before().first_line(), zero,
                               change.before().sha256(), zero, change.after().path(), zero,
                               change.after().first_line(), zero, change.after().sha256()))
            .substr(0, 32));
    row->set_repository(source.repository);
    row->set_repository_url(source.url);
    row->set_commit(change.commit());
    row->set_parent(change.parent());
    row->set_merge(change.parents() > 1);
    row->set_date(absl::FormatTime("%Y-%m-%d", absl::FromUnixSeconds(change.author_time()),
                                   absl::UTCTimeZone()));
    row->set_message(change.message());
    row->set_url(CommitLink(source.url, change.commit()));
    row->set_lineage(change.lineage());
    row->set_match(change.match());
    row->set_similarity(change.similarity());
    row->set_kind(change.kind());
    *row->mutable_evidence() = change.evidence();
    FillVersion(source, change.parent(), change.before(), row->mutable_before());
    FillVersion(source, change.commit(), change.after(), row->mutable_after());
    row->set_diff(change.diff());
    for (const v1::Claim& claim : change.claims()) FillClaim(claim, row->add_claims());
    *row->mutable_reverts() = change.reverts();
    *row->mutable_reverted_by() = change.reverted_by();
    row->set_license_files(change.license_files());
    row->set_commit_kernels(change.commit_kernels());
    row->set_category(source.category);
    row->set_weight(source.weight);
  }

  static void FillVersion(const SourceEntry& source, const std::string& commit,
                          const v1::KernelVersion& version, v1::HistoryRow::Version* out) {
    out->set_path(version.path());
    out->set_name(version.name());
    out->set_qualname(version.qualname());
    out->set_first_line(version.first_line());
    out->set_last_line(version.last_line());
    out->set_url(
        WebLink(source.url, commit, version.path(), version.first_line(), version.last_line()));
    out->set_source(version.source());
    out->set_sha256(version.sha256());
    out->set_module(version.module());
    FillPieces(version.pieces(), out->mutable_pieces());
    out->set_launcher(version.launcher());
    out->set_dsl(version.dsl());
    out->set_role(version.role());
  }

  static absl::Status FillResults(const VersionResults& results, const v1::KernelVersion& version,
                                  v1::HistoryRow::Version* out) {
    ASSIGN_OR_RETURN(const v1::CompiledKernel* const compiled, results.Find(version));
    if (compiled != nullptr) FillCompile(*compiled, out->mutable_compile());
    return absl::OkStatus();
  }

  static void FillClaim(const v1::Claim& claim, v1::HistoryRow::Claim* out) {
    out->set_form(claim.form());
    out->set_text(claim.text());
    if (claim.has_value()) out->set_value(claim.value());
    if (claim.has_before()) out->set_before(claim.before());
    if (claim.has_after()) out->set_after(claim.after());
    out->set_unit(claim.unit());
    *out->mutable_hardware() = claim.hardware();
  }

  cas::BlobStore& store_;
  const DatasetIndex& index_;
  const ReferenceGuard& guard_;
  const HistorySinks sinks_;
  HistoryCounts counts_;
};

}  // namespace

Json HistoryCounts::ToJson() const {
  if (!is_asked) return nullptr;
  Json compile = nullptr;
  if (compiles) {
    compile = {
        {"versions", compiled}, {"judged", judged}, {"repairs", repairs}, {"breaks", breaks}};
  }
  return {{"sources", sources},
          {"changes", changes},
          {"kernels", kernels},
          {"rows", rows},
          {"kinds", kinds},
          {"matches", matches},
          {"with_claims", with_claims},
          {"compile", std::move(compile)},
          {"withheld", withheld}};
}

std::optional<std::map<std::string, int64_t>> HistoryCounts::GetOutcomes() const {
  if (!is_asked) return std::nullopt;
  std::map<std::string, int64_t> outcomes = withheld;
  outcomes["rows"] = rows;
  return outcomes;
}

std::optional<std::map<std::string, int64_t>> HistoryCounts::GetTurns() const {
  if (!is_asked || !compiles) return std::nullopt;
  std::map<std::string, int64_t> turns = {{"judged", judged}, {"repairs", 0}, {"breaks", 0}};
  for (const auto& [kind, count] : repairs) turns["repairs"] += count;
  for (const auto& [kind, count] : breaks) turns["breaks"] += count;
  return turns;
}

absl::StatusOr<HistoryCounts> WriteHistory(cas::BlobStore& store, const DatasetIndex& index,
                                           const ReferenceGuard& guard, const HistorySinks& sinks) {
  return HistoryWriter(store, index, guard, sinks).Run();
}

}  // namespace kernelmill::dataset
