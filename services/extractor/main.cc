// kernelmill-extractor: the worker that finds kernels in files and links them to what they need.
#include <grpcpp/impl/service_type.h>

#include <memory>

#include "common/flags/parser.h"
#include "common/flags/server_flags.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "services/extractor/server/extractor_service.h"
#include "services/extractor/server/extractor_stages.h"

int main(int argc, char** argv) {
  kernelmill::flags::ServerFlags server;
  server.version = kernelmill::Version();
  server.listen = "127.0.0.1:7073";
  server.metrics = "127.0.0.1:8073";
  kernelmill::flags::WorkerFlags worker;
  kernelmill::flags::Parser parser(
      "Finds kernels in source files and links them, as a worker of a coordinator.",
      "kernelmill-extractor");
  kernelmill::flags::AddServerFlags(parser.app(), &server);
  kernelmill::flags::AddWorkerFlags(parser.app(), &worker);
  kernelmill::flags::CallFlags calls;
  kernelmill::flags::AddCallFlags(parser.app(), &calls);
  if (const auto exit_status = kernelmill::flags::ParseFlags(parser.app(), argc, argv))
    return *exit_status;
  return kernelmill::worker::RunWorkerProcess(
      server, worker, kernelmill::extractor::NewExtractorStages(), [&calls](auto&) {
        return kernelmill::extractor::NewExtractorService(
            {calls.max_calls_per_caller, calls.max_calls});
      });
}
