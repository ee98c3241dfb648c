#include "services/cli/embedded/embedded_stages.h"

#include <grpcpp/channel.h>
#include <grpcpp/impl/codegen/service_type.h>

#include "common/base/status.h"
#include "common/rpc/server.h"
#include "services/deduplicator/server/deduplicator_service.h"
#include "services/extractor/server/extractor_service.h"
#include "services/validator/server/validator_service.h"

namespace kernelmill::cli {

EmbeddedStages::EmbeddedStages(cas::BlobStore* store) {
  services_.push_back(extractor::NewExtractorService());
  services_.push_back(validator::NewValidatorService());
  if (store != nullptr) services_.push_back(deduplicator::NewDeduplicatorService(*store));
}

EmbeddedStages::~EmbeddedStages() = default;

absl::StatusOr<std::unique_ptr<EmbeddedStages>> EmbeddedStages::Start(cas::BlobStore* store) {
  std::unique_ptr<EmbeddedStages> stages(new EmbeddedStages(store));
  std::vector<grpc::Service*> services;
  for (const auto& service : stages->services_) services.push_back(service.get());
  ASSIGN_OR_RETURN(stages->server_, rpc::Server::Start({}, services));
  return stages;
}

std::shared_ptr<grpc::Channel> EmbeddedStages::channel() { return server_->InProcessChannel(); }

}  // namespace kernelmill::cli
