#include <string>

#include "absl/status/statusor.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "common/base/status.h"
#include "common/job/job_file.h"

namespace kernelmill::client {

absl::StatusOr<int> Check(const std::string& job_file, Console& console) {
  ASSIGN_OR_RETURN(const v1::JobSpec spec, job::LoadJobFile(job_file));
  console.Result(console.json() ? MessageJson(spec) + "\n" : job::JobFileYaml(spec));
  return kDone;
}

}  // namespace kernelmill::client
