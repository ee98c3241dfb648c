#include "client/review/flagged_items.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/job/review_list.h"
#include "dataset/output/dataset_files.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::json;

std::string TextAt(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

double NumberAt(const Json& row, const char* key, double otherwise) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number() ? found->get<double>() : otherwise;
}

// The text at `key` if it is what the dataset has, and not what was made of bytes that are no
// UTF-8.
std::string ExactAt(const Json& row, const char* key) {
  std::string text = TextAt(row, key);
  if (absl::StrContains(text, "\xef\xbf\xbd")) return "";
  const auto others = row.find("not_utf8");
  if (others == row.end() || !others->is_array()) return text;
  for (const Json& other : *others) {
    if (other.is_object() && TextAt(other, "field") == absl::StrCat("/", key)) return "";
  }
  return text;
}

FlaggedKernel ReadKernel(const Json& row, int64_t offset, int64_t size) {
  FlaggedKernel flagged;
  flagged.repository = TextAt(row, "repository");
  v1::Kernel& kernel = flagged.kernel;
  kernel.set_id(TextAt(row, "id"));
  kernel.set_sha256(TextAt(row, "sha256"));
  kernel.set_path(ExactAt(row, "path"));
  kernel.set_name(ExactAt(row, "name"));
  kernel.set_qualname(ExactAt(row, "qualname"));
  kernel.set_first_line(static_cast<int32_t>(NumberAt(row, "first_line", 0)));
  kernel.set_last_line(static_cast<int32_t>(NumberAt(row, "last_line", 0)));
  flagged.offset = offset;
  flagged.size = size;
  return flagged;
}

std::string Place(const FlaggedKernel& flagged) {
  const v1::Kernel& kernel = flagged.kernel;
  return absl::StrCat(flagged.repository, "  ", kernel.path(), ":", kernel.first_line(), "-",
                      kernel.last_line(), "  ", kernel.name());
}

std::string LicenseText(const Json& license) {
  std::string text =
      absl::StrCat(TextAt(license, "expression"), ", found as ", TextAt(license, "evidence"),
                   ", confidence ", NumberAt(license, "confidence", 0), "\n");
  const auto found = license.find("found");
  if (found == license.end() || !found->is_array()) return text;
  for (const Json& evidence : *found) absl::StrAppend(&text, "  ", evidence.dump(), "\n");
  return text;
}

// A candidate pair, until its kernels' records are met.
struct Candidate {
  std::string cuda;
  std::string triton;
  double score = 0;
  std::string shared;
};

// Calls visit(row, offset, size) for each line of a file of JSON lines.
template <typename Visit>
absl::Status ForEachRow(const std::string& path, Visit visit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, " is not there; is it a dataset?"));
  std::string line;
  for (int64_t offset = 0; std::getline(file, line);) {
    const auto size = static_cast<int64_t>(line.size());
    const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object()) return absl::DataLossError(absl::StrCat(path, " has no JSON lines"));
    visit(row, offset, size);
    offset += size + 1;
  }
  return file.bad() ? absl::DataLossError("cannot read " + path) : absl::OkStatus();
}

absl::StatusOr<std::vector<Candidate>> ReadCandidates(const std::string& dataset) {
  std::vector<Candidate> candidates;
  const auto visit = [&](const Json& row, int64_t, int64_t) {
    const auto curated = row.find("curated");
    if (curated == row.end() || *curated != false || !row.contains("cuda")) return;
    Candidate candidate{TextAt(row["cuda"], "id"), TextAt(row.value("triton", Json()), "id"),
                        NumberAt(row, "score", 0), ""};
    const Json shared = row.value("shared", Json::object());
    for (const char* key : {"words", "tags", "parameters"}) {
      if (!shared.is_object() || !shared.contains(key)) continue;
      for (const Json& text : shared[key]) {
        if (text.is_string()) absl::StrAppend(&candidate.shared, " ", text.get<std::string>());
      }
    }
    candidates.push_back(std::move(candidate));
  };
  RETURN_IF_ERROR(ForEachRow(dataset + "/" + dataset::kPairsFile, visit));
  return candidates;
}

// Collects the items on a walk over kernels.jsonl.
class Collector {
 public:
  Collector(const FlaggedOptions& options, std::vector<Candidate> candidates)
      : options_(options), candidates_(std::move(candidates)) {
    for (const Candidate& candidate : candidates_) {
      paired_[candidate.cuda];
      paired_[candidate.triton];
    }
  }

  void Visit(const Json& row, int64_t offset, int64_t size) {
    const FlaggedKernel kernel = ReadKernel(row, offset, size);
    const auto paired = paired_.find(kernel.kernel.id());
    if (paired != paired_.end()) paired->second = kernel;
    const double overlap = NumberAt(row, "word_overlap", 0);
    if (overlap > 0 && Wanted(job::kFlagWordOverlap)) {
      AddKernel(job::kFlagWordOverlap, overlap,
                absl::StrFormat("%.0f%% of the words of prompt and completion are in both",
                                overlap * 100),
                kernel);
    }
    const Json license = row.value("license", Json::object());
    const double confidence = NumberAt(license, "confidence", 0);
    if (confidence < options_.license_confidence && Wanted(job::kFlagLicense)) {
      AddKernel(job::kFlagLicense, confidence,
                absl::StrCat("the licence ", TextAt(license, "expression"), " is ", confidence,
                             " sure (", TextAt(license, "evidence"), ")"),
                kernel);
    }
  }

  absl::StatusOr<std::vector<FlaggedItem>> Finish() && {
    for (const Candidate& candidate : candidates_) {
      const FlaggedKernel& cuda = paired_[candidate.cuda];
      const FlaggedKernel& triton = paired_[candidate.triton];
      if (cuda.size == 0 || triton.size == 0) {
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

absl::StatusOr<FlaggedItems> FlaggedItems::Read(const std::string& dataset,
                                                const FlaggedOptions& options) {
  const auto& flags = options.flags;
  const bool pairs = flags.empty() || std::count(flags.begin(), flags.end(), job::kFlagPair) > 0;
  std::vector<Candidate> candidates;
  if (pairs) {
    ASSIGN_OR_RETURN(candidates, ReadCandidates(dataset));
  }
  Collector collector(options, std::move(candidates));
  RETURN_IF_ERROR(ForEachRow(
      dataset + "/" + dataset::kKernelsFile,
      [&](const Json& row, int64_t offset, int64_t size) { collector.Visit(row, offset, size); }));
  FlaggedItems flagged;
  flagged.dataset_ = dataset;
  ASSIGN_OR_RETURN(flagged.items_, std::move(collector).Finish());
  return flagged;
}

absl::StatusOr<std::vector<Section>> FlaggedItems::Texts(const FlaggedItem& item,
                                                         bool whole) const {
  std::ifstream file(dataset_ + "/" + dataset::kKernelsFile, std::ios::binary);
  std::vector<Section> sections;
  for (const FlaggedKernel& kernel : item.kernels) {
    std::string line(static_cast<size_t>(kernel.size), '\0');
    file.seekg(kernel.offset);
    file.read(line.data(), kernel.size);
    const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object() || TextAt(row, "id") != kernel.kernel.id()) {
      return absl::DataLossError("the dataset has changed since it was read");
    }
    const std::string place = absl::StrCat(TextAt(row, "dsl"), "  ", Place(kernel));
    if (item.flag == job::kFlagLicense) {
      sections.emplace_back("licence", LicenseText(row.value("license", Json::object())));
    }
    const std::string context = TextAt(row, "prompt_context");
    if (item.flag == job::kFlagWordOverlap && !context.empty() && !whole) {
      sections.emplace_back("above it in the prompt", context);
    }
    const std::string module = TextAt(row, "module");
    sections.emplace_back(place, whole && !module.empty() ? module : TextAt(row, "source"));
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
