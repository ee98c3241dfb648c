// kernelmill-validator: the worker that judges kernels.
#include <grpcpp/impl/service_type.h>

#include <memory>

#include "common/flags/parser.h"
#include "common/flags/server_flags.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "services/validator/server/validator_service.h"
#include "services/validator/server/validator_stages.h"

int main(int argc, char** argv) {
  kernelmill::flags::ServerFlags server;
  server.version = kernelmill::Version();
  server.listen = "127.0.0.1:7074";
  server.metrics = "127.0.0.1:8074";
  kernelmill::flags::WorkerFlags worker;
  kernelmill::flags::Parser parser(
      "Finds the licences of kernels and checks their quality, as a worker of a coordinator.",
      "kernelmill-validator");
  kernelmill::flags::AddServerFlags(parser.app(), &server);
  kernelmill::flags::AddWorkerFlags(parser.app(), &worker);
  kernelmill::flags::CallFlags calls;
  kernelmill::flags::AddCallFlags(parser.app(), &calls);
  if (const auto exit_status = kernelmill::flags::ParseFlags(parser.app(), argc, argv))
    return *exit_status;
  return kernelmill::worker::RunWorkerProcess(
      server, worker, kernelmill::validator::NewValidatorStages(), [&calls](auto&) {
        return kernelmill::validator::NewValidatorService(
            {calls.max_calls_per_caller, calls.max_calls});
      });
}
