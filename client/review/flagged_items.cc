// The items that a person is asked to decide on. Candidate pairs are read first, so that one walk
// over kernels.jsonl can collect both the flagged kernels and the kernels of pairs. Items hold no
// texts; Texts() reads a kernel's row again by its offset.

#include "client/review/flagged_items.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/job/review_list.h"
#include "dataset/output/dataset_files.h"
#include "dataset/rows/row_json.h"
#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::client {
namespace {

// Returns the text of a field if it is what the dataset has: "" if the field stands for bytes that
// are not UTF-8.
std::string GetExact(const v1::KernelRow& row, absl::string_view field, const std::string& text) {
  if (absl::StrContains(text, "\xef\xbf\xbd")) return "";
  const std::string pointer = absl::StrCat("/", field);
  for (const v1::ExactBytes& other : row.not_utf8()) {
    if (other.field() == pointer) return "";
  }
  return text;
}

// Returns the part of a row that a decision refers to, with the place of the row.
FlaggedKernel MakeFlagged(const v1::KernelRow& row, int64_t offset) {
  FlaggedKernel flagged;
  flagged.repository = row.repository();
  v1::Kernel& kernel = flagged.kernel;
  kernel.set_id(row.id());
  kernel.set_sha256(row.sha256());
  kernel.set_path(GetExact(row, "path", row.path()));
  kernel.set_name(GetExact(row, "name", row.name()));
  kernel.set_qualname(GetExact(row, "qualname", row.qualname()));
  kernel.set_first_line(row.first_line());
  kernel.set_last_line(row.last_line());
  flagged.offset = offset;
  return flagged;
}

std::string Place(const FlaggedKernel& flagged) {
  const v1::Kernel& kernel = flagged.kernel;
  return absl::StrCat(flagged.repository, "  ", kernel.path(), ":", kernel.first_line(), "-",
                      kernel.last_line(), "  ", kernel.name());
}

// Returns the licence and each piece of evidence as one line of JSON.
std::string DescribeLicense(const v1::RowLicense& license) {
  std::string text = absl::StrCat(license.expression(), ", found as ", license.evidence(),
                                  ", confidence ", license.confidence(), "\n");
  for (const v1::RowLicense::Evidence& evidence : license.found()) {
    absl::StrAppend(&text, "  ", dataset::ToJson(evidence).dump(), "\n");
  }
  return text;
}

// A candidate pair, until its kernels' records are met.
struct Candidate {
  std::string cuda;
  std::string triton;
  double score = 0;
  std::string shared;
};

// Reads the candidate pairs. Curated pairs are decided already.
absl::StatusOr<std::vector<Candidate>> ReadCandidates(const std::string& dataset) {
  std::vector<Candidate> candidates;
  RETURN_IF_ERROR(dataset::ForEachRow<v1::PairRow>(
      dataset, {}, [&candidates](const v1::PairRow& row, const dataset::RowPlace&) {
        if (row.curated()) return absl::OkStatus();
        Candidate candidate{row.cuda().id(), row.triton().id(), row.score(), ""};
        // One list of all that the two have in common: words of names, tags and parameters.
        for (const auto* texts :
             {&row.shared().words(), &row.shared().tags(), &row.shared().parameters()}) {
          for (const std::string& text : *texts) absl::StrAppend(&candidate.shared, " ", text);
        }
        candidates.push_back(std::move(candidate));
        return absl::OkStatus();
      }));
  return candidates;
}

// Collects the items on a walk over kernels.jsonl.
class Collector {
 public:
  Collector(const FlaggedOptions& options, std::vector<Candidate> candidates)
      : options_(options), candidates_(std::move(candidates)) {
    for (const Candidate& candidate : candidates_) {
      // Note the ids to look for: of all other kernels the walk only keeps the flagged ones.
      paired_[candidate.cuda];
      paired_[candidate.triton];
    }
  }

  // Looks at one row: it may belong to a pair, and may have one flag or both.
  void Visit(const v1::KernelRow& row, int64_t offset) {
    const FlaggedKernel kernel = MakeFlagged(row, offset);
    const auto paired = paired_.find(kernel.kernel.id());
    if (paired != paired_.end()) paired->second = kernel;
    const double overlap = row.word_overlap();
    if (overlap > 0 && Wanted(job::kFlagWordOverlap)) {
      AddKernel(job::kFlagWordOverlap, overlap,
                absl::StrFormat("%.0f%% of the words of prompt and completion are in both",
                                overlap * 100),
                kernel);
    }
    const v1::RowLicense& license = row.license();
    if (license.confidence() < options_.license_confidence && Wanted(job::kFlagLicense)) {
      AddKernel(job::kFlagLicense, license.confidence(),
                absl::StrCat("the licence ", license.expression(), " is ", license.confidence(),
                             " sure (", license.evidence(), ")"),
                kernel);
    }
  }

  absl::StatusOr<std::vector<FlaggedItem>> Finish() && {
    for (const Candidate& candidate : candidates_) {
      const FlaggedKernel& cuda = paired_[candidate.cuda];
      const FlaggedKernel& triton = paired_[candidate.triton];
      // The walk did not meet the kernel.
      if (cuda.kernel.id().empty() || triton.kernel.id().empty()) {
        return absl::DataLossError(absl::StrCat(dataset::kPairsFile, " names kernels that ",
                                                dataset::kKernelsFile, " does not have"));
      }
      items_.push_back(
          {absl::StrCat(job::kFlagPair, ":", candidate.cuda, "-", candidate.triton),
           job::kFlagPair,
           candidate.score,
           absl::StrFormat("a CUDA kernel and a Triton kernel, score %.2f; in common:%s",
                           candidate.score, candidate.shared),
           {cuda, triton}});
    }
    std::stable_sort(items_.begin(), items_.end(),
                     [](const FlaggedItem& a, const FlaggedItem& b) { return Rank(a) < Rank(b); });
    return std::move(items_);
  }

 private:
  bool Wanted(absl::string_view flag) const {
    return options_.flags.empty() ||
           std::find(options_.flags.begin(), options_.flags.end(), flag) != options_.flags.end();
  }

  void AddKernel(const char* flag, double value, std::string summary, const FlaggedKernel& kernel) {
    items_.push_back(
        {absl::StrCat(flag, ":", kernel.kernel.id()), flag, value, std::move(summary), {kernel}});
  }

  // The order of items: overlaps, pairs, licences; in each group the most urgent first, which is
  // the highest overlap or score but the lowest confidence.
  static std::pair<int, double> Rank(const FlaggedItem& item) {
    if (item.flag == job::kFlagWordOverlap) return {0, -item.value};
    return item.flag == job::kFlagPair ? std::make_pair(1, -item.value)
                                       : std::make_pair(2, item.value);
  }

  const FlaggedOptions& options_;
  const std::vector<Candidate> candidates_;
  std::map<std::string, FlaggedKernel> paired_;
  std::vector<FlaggedItem> items_;
};

void SetReference(const FlaggedKernel& flagged, v1::KernelReference* reference) {
  const v1::Kernel& kernel = flagged.kernel;
  reference->set_id(absl::StrCat(job::kSha256Prefix, kernel.sha256()));
  reference->set_repository(flagged.repository);
  reference->set_path(kernel.path());
  reference->set_name(kernel.name());
}

}  // namespace

// Reads only the fields that items need; pairs only if they are asked for.
absl::StatusOr<FlaggedItems> FlaggedItems::Read(const std::string& dataset,
                                                const FlaggedOptions& options) {
  const auto& flags = options.flags;
  const bool pairs = flags.empty() || std::count(flags.begin(), flags.end(), job::kFlagPair) > 0;
  std::vector<Candidate> candidates;
  if (pairs) {
    ASSIGN_OR_RETURN(candidates, ReadCandidates(dataset));
  }
  Collector collector(options, std::move(candidates));
  RETURN_IF_ERROR(dataset::ForEachRow<v1::KernelRow>(
      dataset,
      {.fields = {"id", "repository", "path", "name", "qualname", "sha256", "first_line",
                  "last_line", "license", "word_overlap", "not_utf8"}},
      [&collector](const v1::KernelRow& row, const dataset::RowPlace& place) {
        collector.Visit(row, place.offset);
        return absl::OkStatus();
      }));
  FlaggedItems flagged;
  flagged.dataset_ = dataset;
  ASSIGN_OR_RETURN(flagged.items_, std::move(collector).Finish());
  return flagged;
}

absl::StatusOr<std::vector<Section>> FlaggedItems::Texts(const FlaggedItem& item,
                                                         bool whole) const {
  ASSIGN_OR_RETURN(dataset::RowReader reader,
                   dataset::RowReader::Open(dataset_, dataset::GetSchema<v1::KernelRow>()));
  std::vector<Section> sections;
  for (const FlaggedKernel& kernel : item.kernels) {
    v1::KernelRow row;
    RETURN_IF_ERROR(reader.ReadAt(kernel.offset, &row));
    // The file was written anew: this offset has a different row.
    if (row.id() != kernel.kernel.id()) {
      return absl::DataLossError("the dataset has changed since it was read");
    }
    if (item.flag == job::kFlagLicense) {
      sections.emplace_back("licence", DescribeLicense(row.license()));
    }
    if (item.flag == job::kFlagWordOverlap && !row.prompt_context().empty() && !whole) {
      sections.emplace_back("above it in the prompt", row.prompt_context());
    }
    const bool module = whole && !row.module().empty();
    sections.emplace_back(absl::StrCat(row.dsl(), "  ", Place(kernel)),
                          module ? row.module() : row.source());
  }
  return sections;
}

v1::Review FlaggedItems::NewReview(const FlaggedItem& item) {
  v1::Review review;
  review.set_flag(item.flag);
  if (item.flag == job::kFlagPair) {
    SetReference(item.kernels[0], review.mutable_cuda());
    SetReference(item.kernels[1], review.mutable_triton());
  } else {
    SetReference(item.kernels[0], review.mutable_kernel());
  }
  return review;
}

}  // namespace kernelmill::client
