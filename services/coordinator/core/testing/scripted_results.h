#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCRIPTED_RESULTS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCRIPTED_RESULTS_H_

#include <map>
#include <string>
#include <vector>

#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::coordinator {

// A job of as many git sources, "r0" and so on, not pinned, without defaults.
v1::JobSpec GitJob(int sources);

// A search for the code, as a source.
v1::Source SearchFor(const std::string& code);

// What pretended stages make of an action: a pure function of it. Digests are hashes of the action
// and the output's place; no blob stands behind them. A fetch makes `shards` of its source's name
// (default 2) with 10 files each; a search finds `found` of its code; a manifest cannot make the
// first of the job's pairs where `unmade` says why, and misses `missed_gates`; a compile makes an
// "ir" a form that is kept; everything else has `kernels` items.
struct ScriptedStages {
  std::map<std::string, int> shards;
  std::map<std::string, std::vector<std::string>> found;
  std::string unmade;
  std::vector<std::string> missed_gates;
  int kernels = 3;

  v1::StageResult Run(const v1::Action& action) const;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCRIPTED_RESULTS_H_
