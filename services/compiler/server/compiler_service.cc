#include "services/compiler/server/compiler_service.h"

#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/rpc/limited_calls.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/toolchains/toolchains.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "services/compiler/core/compile_kernels.h"

namespace kernelmill::compiler {
namespace {

constexpr int kMaxKernels = 256;
constexpr size_t kMaxBytes = 8u << 20;

absl::Status CheckLimits(const v1::CompileRequest& request) {
  if (request.kernels().kernels_size() > kMaxKernels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "at most ", kMaxKernels, " kernels at a time, not ", request.kernels().kernels_size()));
  }
  if (request.kernels().ByteSizeLong() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat("at most ", kMaxBytes, " bytes at a time, not ",
                                                   request.kernels().ByteSizeLong()));
  }
  return absl::OkStatus();
}

constexpr int kDefaultSeconds = 60;
constexpr int kMaxSeconds = 600;

absl::Status CheckKnown(absl::string_view field, const std::string& name,
                        absl::Span<const absl::string_view> known) {
  for (const absl::string_view one : known) {
    if (one == name) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("compile.", field, ": ", name, " is none of ", absl::StrJoin(known, ", ")));
}

// The policy with its defaults, as the stage takes it.
absl::StatusOr<v1::CompileParams> ParamsOf(const v1::CompilePolicy& policy) {
  v1::CompileParams params;
  for (const std::string& name : policy.toolchains()) {
    const toolchains::PinnedToolchain* const pinned = toolchains::FindToolchain(name);
    if (pinned == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("compile.toolchains: no toolchain is called ", name));
    }
    *params.add_toolchains() = toolchains::ToProto(*pinned);
  }
  if (policy.toolchains().empty()) {
    for (const toolchains::PinnedToolchain& one : toolchains::PinnedToolchains()) {
      *params.add_toolchains() = toolchains::ToProto(one);
    }
  }
  for (const std::string& target : policy.targets()) {
    RETURN_IF_ERROR(CheckKnown("targets", target, toolchains::CompileTargets()));
    params.add_targets(target);
  }
  if (policy.targets().empty()) {
    for (const absl::string_view target : toolchains::CompileTargets()) {
      params.add_targets(std::string(target));
    }
  }
  for (const std::string& form : policy.keep()) {
    RETURN_IF_ERROR(CheckKnown("keep", form, toolchains::KeptForms()));
    params.add_keep(form);
  }
  if (policy.max_seconds() < 0 || policy.max_seconds() > kMaxSeconds) {
    return absl::InvalidArgumentError(
        absl::StrCat("compile.max_seconds: at most ", kMaxSeconds, ", and not below 0"));
  }
  params.set_max_seconds(policy.max_seconds() == 0 ? kDefaultSeconds : policy.max_seconds());
  return params;
}

// With the forms that are kept it may be any size.
absl::Status CheckSize(const v1::CompileResponse& response) {
  const size_t bytes = response.ByteSizeLong();
  if (bytes <= static_cast<size_t>(rpc::kMaxMessageBytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the answer would have ", bytes, " bytes, more than a message may: ask for fewer ",
      "kernels at a time, or keep fewer forms"));
}

class CompilerService final
    : public v1::Compiler::WithStreamedUnaryMethod_Compile<v1::Compiler::Service> {
 public:
  CompilerService(Compiler& compiler, const rpc::CallLimits& limits)
      : compiler_(compiler), calls_({.under_way = limits}) {}

  grpc::Status StreamedCompile(
      grpc::ServerContext* context,
      grpc::ServerUnaryStreamer<v1::CompileRequest, v1::CompileResponse>* call) override {
    return calls_.Answer(*context, *call,
                         [this](const v1::CompileRequest& request, auto* response) {
                           return rpc::ToGrpcStatus(Run(request, *response));
                         });
  }

 private:
  absl::Status Run(const v1::CompileRequest& request, v1::CompileResponse& response) {
    RETURN_IF_ERROR(CheckLimits(request));
    ASSIGN_OR_RETURN(const v1::CompileParams params, ParamsOf(request.compile()));
    ASSIGN_OR_RETURN(CompiledKernels made, CompileKernels(request.kernels(), params,
                                                          /*workers=*/1, compiler_));
    *response.mutable_compiled() = std::move(made.compiled);
    for (v1::IrText& text : made.texts) *response.add_ir() = std::move(text);
    return CheckSize(response);
  }

  Compiler& compiler_;
  rpc::LimitedCalls calls_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewCompilerService(Compiler& compiler,
                                                  const rpc::CallLimits& limits) {
  return std::make_unique<CompilerService>(compiler, limits);
}

}  // namespace kernelmill::compiler
