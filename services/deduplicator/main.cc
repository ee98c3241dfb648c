// kernelmill-deduplicator: a worker for the stages sign, pair, resolve, split and manifest.

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "common/flags/parser.h"
#include "common/flags/server_flags.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "services/deduplicator/server/deduplicator_service.h"
#include "services/deduplicator/server/deduplicator_stages.h"

int main(int argc, char** argv) {
  namespace flags = kernelmill::flags;
  namespace deduplicator = kernelmill::deduplicator;
  flags::Parser parser("Finds duplicates and contamination, and makes the manifests of datasets.",
                       "kernelmill-deduplicator");
  flags::ServerFlags server_flags;
  server_flags.version = kernelmill::Version();
  server_flags.listen = "127.0.0.1:7075";
  server_flags.metrics = "127.0.0.1:8075";
  flags::WorkerFlags worker_flags;
  flags::AddServerFlags(parser.app(), &server_flags);
  flags::AddWorkerFlags(parser.app(), &worker_flags);
  flags::CallFlags calls;
  flags::AddCallFlags(parser.app(), &calls);
  deduplicator::SpillOptions spill;
  parser
      .Add("--spill-dir", &spill.folder,
           "folder for shingles that do not fit into memory; default: the system's temp folder")
      .Variable("KERNELMILL_SPILL_DIR")
      .ExistingFolder();
  if (const auto exit_status = flags::ParseFlags(parser.app(), argc, argv)) return *exit_status;
  return kernelmill::worker::RunWorkerProcess(
      server_flags, worker_flags, deduplicator::NewDeduplicatorStages(spill),
      [&calls](kernelmill::cas::BlobStore& store) {
        return deduplicator::NewDeduplicatorService(store,
                                                    {calls.max_calls_per_caller, calls.max_calls});
      });
}
