#include "common/worker/source_action.h"

#include <string>

#include "common/job/source_spec.h"

namespace kernelmill::worker {

v1::Action SourceAction(StageId stage, const v1::Source& source, bool require_hashes) {
  v1::Action action;
  const StageInfo& info = GetStageInfo(stage);
  action.set_stage(std::string(info.name));
  action.set_stage_version(info.version);
  v1::StageParams& params = *action.mutable_params();
  if (stage == StageId::kDiscover) {
    *params.mutable_discover()->mutable_discover() = source.discover();
  } else if (stage == StageId::kPin) {
    *params.mutable_pin()->mutable_source() = job::FetchPart(source);
    params.mutable_pin()->set_require_hashes(require_hashes);
  } else {
    *params.mutable_fetch()->mutable_source() = job::FetchPart(source);
  }
  return action;
}

}  // namespace kernelmill::worker
