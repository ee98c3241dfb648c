#include "client/commands/evaluate_services.h"

#include <grpcpp/client_context.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/commands/exported_kernels.h"
#include "common/base/status.h"
#include "common/rpc/status.h"
#include "services/deduplicator/server/similar_search.h"
#include "services/extractor/server/extractor_service.h"

namespace kernelmill::client {
namespace {

using deduplicator::KernelComparison;
using Matches = std::vector<std::optional<DatasetMatch>>;

// The deduplicator's limits on one call; of so many kernels it finds kTop each.
constexpr size_t kMaxQueries = 1024;
constexpr size_t kMaxQueryBytes = 8 << 20;
constexpr int kTop = 16;

// So low that any shingle in common counts.
constexpr double kAnyOverlap = 1e-9;

DatasetMatch MatchOf(const v1::SimilarKernel& kernel) {
  const v1::KernelPlace& place = kernel.place();
  return {kernel.kind(), kernel.similarity(), place.repository(),
          place.path(),  place.first_line(),  place.qualname()};
}

// What is in the dataset, or the same text as something that is.
bool IsTrainedOn(const v1::SimilarKernel& kernel) {
  return kernel.fate() == v1::FATE_KEPT || kernel.fate() == v1::FATE_DUPLICATE;
}

}  // namespace

EvaluateServices::EvaluateServices(EmbeddedServices& services,
                                   std::shared_ptr<grpc::Channel> compiler, TrainedOn trained_on)
    : extractor_(v1::Extractor::NewStub(services.channel())),
      validator_(v1::Validator::NewStub(services.channel())),
      deduplicator_(v1::Deduplicator::NewStub(services.channel())),
      compiler_(compiler == nullptr ? nullptr : v1::Compiler::NewStub(compiler)),
      trained_on_(std::move(trained_on)) {}

absl::StatusOr<v1::KernelShard> EvaluateServices::Extract(const v1::ExtractRequest& request) {
  v1::ExtractResponse response;
  grpc::ClientContext context;
  RETURN_IF_ERROR(rpc::FromGrpcStatus(extractor_->Extract(&context, request, &response)));
  return std::move(*response.mutable_kernels());
}

absl::StatusOr<v1::VerdictShard> EvaluateServices::Validate(const v1::ValidateRequest& request) {
  v1::ValidateResponse response;
  grpc::ClientContext context;
  RETURN_IF_ERROR(rpc::FromGrpcStatus(validator_->Validate(&context, request, &response)));
  return std::move(*response.mutable_verdicts());
}

absl::StatusOr<v1::CompiledShard> EvaluateServices::Compile(const v1::CompileRequest& request) {
  if (compiler_ == nullptr) return absl::FailedPreconditionError("no compiler was started");
  v1::CompileResponse response;
  grpc::ClientContext context;
  RETURN_IF_ERROR(rpc::FromGrpcStatus(compiler_->Compile(&context, request, &response)));
  return std::move(*response.mutable_compiled());
}

absl::StatusOr<int> EvaluateServices::FirstErrorLine(const std::string& text) {
  return extractor::FirstErrorLine(text);
}

absl::StatusOr<ShingleOverlap> EvaluateServices::Compare(const std::string& text,
                                                         const std::string& reference) {
  v1::SimilarRequest request;
  request.add_kernels()->set_source(text);
  request.set_top(1);
  request.set_threshold(kAnyOverlap);
  ASSIGN_OR_RETURN(const auto comparison, KernelComparison::Open(request));
  v1::KernelShard others;
  others.add_kernels()->set_source(reference);
  comparison->Add(others);
  const std::vector<KernelComparison::Match> matches = comparison->Matches()[0];
  if (matches.empty()) return ShingleOverlap{};
  return ShingleOverlap{matches[0].near, matches[0].structural};
}

absl::StatusOr<Matches> EvaluateServices::FindInDataset(const std::vector<v1::Kernel>& kernels) {
  if (trained_on_.dataset.has_value()) return FindInStore(kernels);
  return FindInExport(trained_on_.folder, kernels, trained_on_.threshold);
}

absl::StatusOr<Matches> EvaluateServices::FindInStore(const std::vector<v1::Kernel>& kernels) {
  Matches matches;
  while (matches.size() < kernels.size()) {
    v1::SimilarRequest request;
    *request.mutable_dataset() = *trained_on_.dataset;
    request.set_top(kTop);
    request.set_threshold(trained_on_.threshold);
    size_t bytes = 0;
    for (size_t i = matches.size(); i < kernels.size(); ++i) {
      bytes += kernels[i].source().size() + kernels[i].name().size();
      if (i - matches.size() == kMaxQueries || (i > matches.size() && bytes > kMaxQueryBytes))
        break;
      *request.add_kernels() = kernels[i];
    }
    v1::SimilarResponse response;
    grpc::ClientContext context;
    RETURN_IF_ERROR(rpc::FromGrpcStatus(deduplicator_->Similar(&context, request, &response)));
    if (response.results_size() != request.kernels_size()) {
      return absl::InternalError("the deduplicator answered for other kernels");
    }
    for (const v1::SimilarKernels& result : response.results()) {
      std::optional<DatasetMatch>& match = matches.emplace_back();
      for (const v1::SimilarKernel& kernel : result.kernels()) {
        if (match.has_value() || !IsTrainedOn(kernel)) continue;
        match = MatchOf(kernel);
      }
    }
  }
  return matches;
}

}  // namespace kernelmill::client
