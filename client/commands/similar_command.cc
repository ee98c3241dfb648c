// The command `similar`: extracts the kernels of files in this process, and searches for similar
// ones in a dataset. The dataset's blobs come from a cluster's store, or from the store in a
// crawl's data folder. For the second an embedded cluster is started, which locks the folder, so a
// running crawl makes it fail.

#include <google/protobuf/repeated_field.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/commands/cluster.h"
#include "client/commands/commands.h"
#include "client/commands/local_files.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/embedded/embedded_cluster.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/manifest/ledger.h"
#include "common/rpc/status.h"
#include "common/words/counted.h"
#include "dataset/export/place.h"
#include "dataset/output/json.h"
#include "kernelmill/v1/stages.grpc.pb.h"

namespace kernelmill::client {
namespace {

using dataset::Json;

constexpr int64_t kMaxFileBytes = 8 << 20;  // the limit of the services on one call
constexpr int64_t kMaxMatchedReportBytes = 256 << 20;
constexpr size_t kMaxFolderBytes = 256 << 20;

// A file to compare.
struct Query {
  std::string file;
  std::string text;
};

// Reads the file, or the Python files below a folder. INVALID_ARGUMENT: the file is empty, or the
// folder has no such file.
absl::StatusOr<std::vector<Query>> ReadQueries(const std::string& path, bool is_folder) {
  std::vector<Query> queries;
  if (!is_folder) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(path == "-" ? "/dev/stdin" : path, kMaxFileBytes));
    if (text.empty()) return absl::InvalidArgumentError(absl::StrCat(path, " is empty"));
    queries.push_back({path, std::move(text)});
    return queries;
  }
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, FindPythonFiles({path}));
  size_t bytes = 0;
  for (const LocalFile& file : files) {
    ASSIGN_OR_RETURN(std::string text, ReadFile("/" + file.absolute, kMaxFileBytes));
    bytes += text.size();
    if (bytes > kMaxFolderBytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": has more than ", kMaxFolderBytes >> 20, " MiB of Python files; name a part"));
    }
    if (!text.empty()) queries.push_back({file.shown, std::move(text)});
  }
  if (!queries.empty()) return queries;
  return absl::InvalidArgumentError(absl::StrCat(path, ": has no Python file"));
}

// The cluster that has the dataset: one elsewhere, or one in this process on a crawl's data.
class DatasetCluster {
 public:
  static absl::StatusOr<std::unique_ptr<DatasetCluster>> Open(const ClusterAddress& address,
                                                              const std::string& data_dir,
                                                              rpc::TerminationSignal& signal,
                                                              Console& console) {
    std::unique_ptr<DatasetCluster> opened(new DatasetCluster());
    if (data_dir.empty()) {
      opened->cluster_ = Connect(address, kShortReconnectTimeout, signal, console);
      return opened;
    }
    // A wrong folder would become an empty store, in which nothing is ever found.
    std::error_code error;
    if (!std::filesystem::is_directory(data_dir + "/store", error)) {
      return absl::NotFoundError(absl::StrCat(
          data_dir, " is not a crawl's data folder; set --data to the crawl's --data"));
    }
    ASSIGN_OR_RETURN(opened->embedded_, EmbeddedCluster::Start({.data_dir = data_dir}));
    opened->cluster_ = Connect(*opened->embedded_, signal);
    return opened;
  }

  Cluster& cluster() { return *cluster_; }

 private:
  DatasetCluster() = default;
  std::unique_ptr<EmbeddedCluster> embedded_;
  std::unique_ptr<Cluster> cluster_;
};

// Returns the digest in the export's report.
absl::StatusOr<cas::Digest> ReadDigest(const std::string& out_dir) {
  const std::string path = out_dir + "/report.json";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxMatchedReportBytes));
  const Json report = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool named = report.is_object() && report.contains("dataset");
  if (named && report["dataset"].is_string()) {
    return cas::ParseDigest(report["dataset"].get<std::string>());
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": `dataset` is missing"));
}

// Returns the digest of the dataset that the options name: directly, by an export's report, or by a
// job.
absl::StatusOr<cas::Digest> GetDigest(const SimilarOptions& options, CrawlClient& jobs) {
  if (!options.dataset.empty()) return cas::ParseDigest(options.dataset);
  if (!options.out_dir.empty()) return ReadDigest(options.out_dir);
  ASSIGN_OR_RETURN(const v1::JobStatus status, GetFinishedJob(jobs, options.job));
  return status.dataset();
}

// Extracts the kernels in the text; with `whole`, a text without kernels becomes one kernel.
// Standard input has no name that tells its language: it is read as Python, and if that has no
// kernels as CUDA.
absl::StatusOr<v1::KernelShard> Extract(const std::string& file, const std::string& text,
                                        bool whole, EmbeddedServices& services) {
  const auto extractor = v1::Extractor::NewStub(services.channel());
  const std::vector<std::string> paths =
      file == "-" ? std::vector<std::string>{"stdin.py", "stdin.cu"}
                  : std::vector<std::string>{std::filesystem::path(file).filename()};
  // The extractor chooses the language by the name.
  for (const std::string& path : paths) {
    v1::ExtractRequest request;
    request.add_files()->set_path(path);
    request.mutable_files(0)->set_content(text);
    v1::ExtractResponse response;
    grpc::ClientContext context;
    RETURN_IF_ERROR(rpc::FromGrpcStatus(extractor->Extract(&context, request, &response)));
    for (const v1::ExtractedFile& extracted : response.kernels().files()) {
      if (extracted.failed().empty()) continue;
      return absl::DataLossError(absl::StrCat(file, ": ", extracted.failed()));
    }
    if (response.kernels().kernels_size() > 0) return std::move(*response.mutable_kernels());
  }
  v1::KernelShard as_whole;
  if (!whole) return as_whole;
  // The whole text becomes one kernel without a name or a language.
  v1::Kernel* kernel = as_whole.add_kernels();
  kernel->set_source(text);
  kernel->set_first_line(1);
  // A last line without a line end counts too. ReadQueries has refused an empty text.
  const auto ends = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  kernel->set_last_line(ends + (text.back() == '\n' ? 0 : 1));
  return as_whole;
}

// Searches for all kernels in one call. The answer has one result for each kernel, in their order.
// Only the fields that the search compares are sent.
absl::StatusOr<v1::SimilarResponse> Search(const SimilarOptions& options,
                                           const cas::Digest& dataset,
                                           const v1::KernelShard& kernels,
                                           EmbeddedServices& services) {
  v1::SimilarRequest request;
  *request.mutable_dataset() = dataset;
  for (const v1::Kernel& kernel : kernels.kernels()) {
    v1::Kernel* asked = request.add_kernels();
    asked->set_source(kernel.source());
    asked->set_name(kernel.name());
    asked->set_dsl(kernel.dsl());
  }
  request.set_top(options.top);
  request.set_threshold(options.threshold);
  const auto deduplicator = v1::Deduplicator::NewStub(services.channel());
  v1::SimilarResponse response;
  grpc::ClientContext context;
  RETURN_IF_ERROR(rpc::FromGrpcStatus(deduplicator->Similar(&context, request, &response)));
  if (response.results_size() == kernels.kernels_size()) return response;
  return absl::InternalError("the number of the deduplicator's results is wrong");
}

std::string Lines(int first, int last) { return absl::StrCat(":", first, "-", last); }

// Returns the place of a kernel. SetText keeps the exact bytes of names that are not UTF-8 beside
// the text.
Json PlaceJson(const v1::KernelPlace& place) {
  Json json = {{"id", place.id()},
               {"repository", dataset::Text(place.repository())},
               {"commit", place.commit()},
               {"first_line", place.first_line()},
               {"last_line", place.last_line()},
               {"dsl", place.dsl()}};
  dataset::SetText(json, "/path", place.path());
  json["json_pointer"] = nullptr;
  if (place.has_json_pointer()) dataset::SetText(json, "/json_pointer", place.json_pointer());
  dataset::SetText(json, "/qualname", place.qualname());
  return json;
}

// Returns a similar kernel with its fate in the dataset. `of` is the kernel that a duplicate was
// dropped for.
Json MatchJson(const v1::SimilarKernel& match) {
  Json json = PlaceJson(match.place());
  json["kind"] = match.kind();
  json["similarity"] = dataset::Number(match.similarity());
  json["near"] = dataset::Number(match.near());
  json["structural"] = dataset::Number(match.structural());
  json["license"] = dataset::TextOrNull(match.license());
  json["fate"] = std::string(manifest::FateName(match.fate()));
  json["reason"] = dataset::TextOrNull(match.reason());
  json["of"] = nullptr;
  if (match.has_of()) {
    json["of"] = PlaceJson(match.of());
    json["of"]["similarity"] = dataset::Number(match.of_similarity());
  }
  return json;
}

// Returns one line for a kernel of the file, with its similar kernels in the order of the answer.
Json ResultJson(const std::string& file, const v1::Kernel& kernel,
                const v1::SimilarKernels& result) {
  Json json = {{"type", "similar"},
               {"dsl", kernel.dsl()},
               {"first_line", kernel.first_line()},
               {"last_line", kernel.last_line()},
               {"similar", Json::array()}};
  dataset::SetText(json, "/path", file);
  dataset::SetText(json, "/qualname", kernel.qualname());
  for (const v1::SimilarKernel& match : result.kernels()) {
    json["similar"].push_back(MatchJson(match));
  }
  return json;
}

std::string PlaceText(const v1::KernelPlace& place) {
  const std::string at = place.commit().empty() ? "" : "@" + place.commit().substr(0, 12);
  return absl::StrCat(OneLine(place.repository()), at, "  ", PathText(place.path(), place),
                      Lines(place.first_line(), place.last_line()), "  ",
                      OneLine(place.qualname()));
}

// Returns one line: similarity, kind, place, licence, and the fate with its reason.
std::string MatchText(const v1::SimilarKernel& match) {
  std::string line = absl::StrFormat("  %.3f  %-10s  %s  ", match.similarity(), match.kind(),
                                     PlaceText(match.place()));
  if (!match.license().empty()) absl::StrAppend(&line, match.license(), "  ");
  line += std::string(manifest::FateName(match.fate()));
  if (!match.reason().empty()) absl::StrAppend(&line, " (", OneLine(match.reason()), ")");
  if (match.has_of()) absl::StrAppend(&line, " of ", PlaceText(match.of()));
  return line + "\n";
}

// Returns the kernel's place in the file, then one line for each similar kernel.
std::string ResultText(const std::string& file, const v1::Kernel& kernel,
                       const v1::SimilarKernels& result) {
  std::string text =
      absl::StrCat(OneLine(file), Lines(kernel.first_line(), kernel.last_line()), "  ",
                   kernel.qualname().empty() ? "the whole text" : OneLine(kernel.qualname()), "\n");
  for (const v1::SimilarKernel& match : result.kernels()) text += MatchText(match);
  if (result.kernels().empty()) text += "  nothing is similar enough (--threshold)\n";
  return text;
}

// Returns the error of a search with what helps against it.
absl::Status ExplainSearch(const absl::Status& status, const SimilarOptions& options,
                           const Cluster& cluster) {
  // A folder that another crawl used has none of the dataset's blobs.
  if (absl::IsNotFound(status) && cluster.is_embedded()) {
    return Annotate(status, absl::StrCat(options.data_dir,
                                         " lacks the dataset: set --data to that of its crawl, or "
                                         "crawl again"));
  }
  return WithRetryHint(status, options.job, cluster.flags());
}

}  // namespace

absl::StatusOr<int> Similar(const ClusterAddress& address, const SimilarOptions& options,
                            rpc::TerminationSignal& signal, Console& console) {
  std::error_code error;
  const bool is_folder = options.file != "-" && std::filesystem::is_directory(options.file, error);
  ASSIGN_OR_RETURN(const std::vector<Query> queries, ReadQueries(options.file, is_folder));
  // Check the folder that the user named before any cluster is tried.
  if (!options.out_dir.empty()) RETURN_IF_ERROR(ReadDigest(options.out_dir).status());
  ASSIGN_OR_RETURN(const std::unique_ptr<DatasetCluster> opened,
                   DatasetCluster::Open(address, options.data_dir, signal, console));
  ASSIGN_OR_RETURN(const cas::Digest dataset, GetDigest(options, opened->cluster().jobs()));
  ASSIGN_OR_RETURN(const std::unique_ptr<EmbeddedServices> services,
                   EmbeddedServices::Start(&opened->cluster().store()));
  std::optional<int64_t> compared;
  int exit_code = kDone;
  for (const Query& query : queries) {
    const absl::StatusOr<v1::KernelShard> kernels =
        Extract(query.file, query.text, /*whole=*/!is_folder, *services);
    if (!kernels.ok()) {
      if (!is_folder) return kernels.status();
      exit_code = kInputsFailed;
      console.Warn(ErrorLine(kernels.status()));
      continue;
    }
    if (kernels->kernels().empty()) continue;
    const absl::StatusOr<v1::SimilarResponse> found = Search(options, dataset, *kernels, *services);
    RETURN_IF_ERROR(ExplainSearch(found.status(), options, opened->cluster()));
    compared = found->compared();
    for (int i = 0; i < kernels->kernels_size(); ++i) {
      const v1::Kernel& kernel = kernels->kernels(i);
      console.Result(console.json()
                         ? dataset::Canonical(ResultJson(query.file, kernel, found->results(i))) +
                               "\n"
                         : ResultText(query.file, kernel, found->results(i)));
    }
  }
  console.Note(compared.has_value()
                   ? absl::StrCat("compared with ", Counted(*compared, "kernel"), " of dataset ",
                                  cas::ToString(dataset))
                   : absl::StrCat("no kernels in ", Counted(queries.size(), "file")));
  return exit_code;
}

}  // namespace kernelmill::client
