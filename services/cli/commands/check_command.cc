#include <string>

#include "absl/status/statusor.h"
#include "common/base/status.h"
#include "common/config/job_file.h"
#include "services/cli/commands/commands.h"
#include "services/cli/core/exit_code.h"
#include "services/cli/core/format.h"

namespace kernelmill::cli {

absl::StatusOr<int> Check(const std::string& job_file, Console& console) {
  ASSIGN_OR_RETURN(const v1::JobSpec spec, config::LoadJobFile(job_file));
  console.Result(console.json() ? MessageJson(spec) + "\n" : config::JobFileYaml(spec));
  return kDone;
}

}  // namespace kernelmill::cli
