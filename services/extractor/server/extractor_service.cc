#include "services/extractor/server/extractor_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/parse/python_parser.h"
#include "common/rpc/limited_calls.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/core/link/link.h"

namespace kernelmill::extractor {

using python::ParsedText;
using python::StandardParser;

namespace {

// Bounds of one call. Larger sources are jobs.
constexpr int kMaxFiles = 256;
constexpr size_t kMaxBytes = 8u << 20;
// In an answer. Modules repeat the helpers that kernels share, so a short file may have a long one.
constexpr size_t kMaxAnswerBytes = 15u << 20;
constexpr size_t kMaxModuleBytes = 8u << 20;

absl::Status CheckLimits(const v1::ExtractRequest& request) {
  if (request.files_size() > kMaxFiles) {
    return absl::InvalidArgumentError(
        absl::StrCat("files: must be at most ", kMaxFiles, ", not ", request.files_size()));
  }
  size_t bytes = 0;
  for (const v1::SourceFile& file : request.files()) bytes += file.content().size();
  if (bytes > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("files: must have at most ", kMaxBytes, " bytes in all, not ", bytes));
  }
  return absl::OkStatus();
}

absl::Status CheckAnswer(size_t bytes) {
  if (bytes <= kMaxAnswerBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("files: their kernels take ", bytes, " bytes, and an answer has at most ",
                   kMaxAnswerBytes, ": send fewer files, or make a job of them"));
}

// Answers each call with a parser that all calls share; parsers are thread-safe.
class ExtractorService final : public v1::Extractor::Service {
 public:
  explicit ExtractorService(const rpc::CallLimits& limits) : calls_({.under_way = limits}) {
    MarkMethodStreamed(rpc::GetMethodIndex("kernelmill.v1.Extractor.Extract"),
                       calls_.NewHandler<v1::ExtractRequest, v1::ExtractResponse>(
                           [this](grpc::ServerContext&, auto& request, auto* response) {
                             return rpc::ToGrpcStatus(ExtractAndLink(request, *response));
                           }));
  }

 private:
  absl::Status ExtractAndLink(v1::ExtractRequest& request, v1::ExtractResponse& response) const {
    RETURN_IF_ERROR(CheckLimits(request));
    v1::FileShard files;
    *files.mutable_files() = std::move(*request.mutable_files());
    ASSIGN_OR_RETURN(const v1::KernelShard extracted, ExtractKernels(files, parser_));
    const size_t bytes = extracted.ByteSizeLong();
    if (bytes <= kMaxAnswerBytes) {
      ASSIGN_OR_RETURN(*response.mutable_kernels(),
                       LinkSource(extracted, {.max_shard_bytes = kMaxModuleBytes}));
    }
    return CheckAnswer(std::max(bytes, response.ByteSizeLong()));
  }

  rpc::LimitedCalls calls_;
  StandardParser parser_;
};

}  // namespace

absl::StatusOr<int> FirstErrorLine(absl::string_view text) {
  const StandardParser parser;
  const auto parsed = ParsedText::Parse(text, parser);
  if (absl::IsResourceExhausted(parsed.status())) return 0;
  RETURN_IF_ERROR(parsed.status());
  return (*parsed)->has_errors() ? (*parsed)->first_error_line() : 0;
}

std::unique_ptr<grpc::Service> NewExtractorService(const rpc::CallLimits& limits) {
  return std::make_unique<ExtractorService>(limits);
}

}  // namespace kernelmill::extractor
