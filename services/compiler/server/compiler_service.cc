#include "services/compiler/server/compiler_service.h"

#include <grpcpp/grpcpp.h>

#include <stop_token>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/job/job_spec.h"
#include "common/rpc/cancellation.h"
#include "common/rpc/limited_calls.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/compiler/core/compile_kernels.h"

namespace kernelmill::compiler {
namespace {

constexpr int kMaxKernels = 256;
constexpr size_t kMaxBytes = 8u << 20;

// Bounds the work of one call. A caller with more kernels sends more calls.
absl::Status CheckLimits(const v1::CompileRequest& request) {
  if (request.kernels().kernels_size() > kMaxKernels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernels: at most ", kMaxKernels, " a call, not ", request.kernels().kernels_size()));
  }
  if (request.kernels().ByteSizeLong() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernels: at most ", kMaxBytes, " bytes a call, not ", request.kernels().ByteSizeLong()));
  }
  return absl::OkStatus();
}

// Refuses a response above the message limit: kept forms can have any size.
absl::Status CheckSize(const v1::CompileResponse& response) {
  const size_t bytes = response.ByteSizeLong();
  if (bytes <= static_cast<size_t>(rpc::kMaxMessageBytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the response would have ", bytes,
      " bytes, more than a message may have: send fewer kernels ", "a call, or keep fewer forms"));
}

// The service. It stops compiling when the caller is gone.
class CompilerService final : public v1::Compiler::Service {
 public:
  CompilerService(Compiler& compiler, const rpc::CallLimits& limits, int workers)
      : compiler_(compiler), workers_(workers), calls_({.under_way = limits}) {
    MarkMethodStreamed(
        rpc::GetMethodIndex("kernelmill.v1.Compiler.Compile"),
        calls_.NewHandler<v1::CompileRequest, v1::CompileResponse>(
            [this](grpc::ServerContext& context, const auto& request, auto* response) {
              const rpc::CallStop stop(context);
              return rpc::ToGrpcStatus(Run(request, stop.token(), *response));
            }));
  }

 private:
  // Compiles the kernels of a call. An error refuses the whole call: one of the limits, of the
  // compile policy, or of the compiler.
  absl::Status Run(const v1::CompileRequest& request, const std::stop_token& stop,
                   v1::CompileResponse& response) {
    RETURN_IF_ERROR(CheckLimits(request));
    RETURN_IF_ERROR(job::CheckCompile(request.compile()));
    const v1::CompileParams params =
        job::MakeCompileParams(job::WithCompileDefaults(request.compile()));
    ASSIGN_OR_RETURN(CompiledKernels made,
                     CompileKernels(request.kernels(), params, workers_, compiler_, stop));
    *response.mutable_compiled() = std::move(made.compiled);
    for (v1::IrText& text : made.texts) *response.add_ir() = std::move(text);
    return CheckSize(response);
  }

  Compiler& compiler_;
  const int workers_;
  rpc::LimitedCalls calls_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewCompilerService(Compiler& compiler, const rpc::CallLimits& limits,
                                                  int workers) {
  return std::make_unique<CompilerService>(compiler, limits, workers);
}

}  // namespace kernelmill::compiler
