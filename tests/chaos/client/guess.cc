// A client that guesses the tokens of other workers' leases.

#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "tests/chaos/client/commands.h"

namespace kernelmill::chaos {
namespace {

constexpr uint64_t kBatch = 64;

// Sends an error for the task with each of these tokens, and counts the answers by code.
absl::Status GuessBatch(v1::Work::Stub& stub, uint64_t task, uint64_t first, uint64_t count,
                        std::map<std::string, int>& answers) {
  v1::CompleteRequest request;
  request.set_worker("stranger");
  for (uint64_t token = first; token < first + count; ++token) {
    v1::Completion& completion = *request.add_completions();
    completion.mutable_lease()->set_task(task);
    completion.mutable_lease()->set_token(token);
    completion.mutable_error()->set_code(static_cast<int>(absl::StatusCode::kNotFound));
  }
  v1::CompleteResponse response;
  grpc::ClientContext context;
  const absl::Status called = rpc::FromGrpcStatus(stub.Complete(&context, request, &response));
  if (!called.ok()) return called;
  for (const auto& status : response.statuses()) {
    ++answers[absl::StatusCodeToString(rpc::FromProtoStatus(status).code())];
  }
  return absl::OkStatus();
}

}  // namespace

int Guess(const Words& words) {
  uint64_t task = 0, tokens = 0;
  if (!absl::SimpleAtoi(words[1], &task) || !absl::SimpleAtoi(words[2], &tokens)) return 2;
  const auto stub = v1::Work::NewStub(rpc::Connect(words[0]));
  std::map<std::string, int> answers;
  for (uint64_t first = 1; first <= tokens; first += kBatch) {
    const absl::Status status = GuessBatch(*stub, task, first, kBatch, answers);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
  }
  for (const auto& [code, count] : answers) std::printf("%s\t%d\n", code.c_str(), count);
  return 0;
}

}  // namespace kernelmill::chaos
