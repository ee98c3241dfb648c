#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCRIPTED_RESULTS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCRIPTED_RESULTS_H_

#include <map>
#include <string>
#include <vector>

#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::coordinator {

// Makes a job with `sources` git sources, "r0" and so on, not pinned, without defaults.
v1::JobSpec GitJob(int sources);

// Makes a source that searches for the code.
v1::Source SearchFor(const std::string& code);

// Fake stages: their results are a pure function of the action. Digests are hashes of the action
// and the output's index, without blobs. A fetch makes shards[source] shards (default 2) with 10
// files each. A search finds found[code]. A manifest fails to make the job's first pair if `unmade`
// is set, and misses `missed_gates`. A compile makes one "ir" for each kept form. A run has the
// results run_results[partition], by their hash; a fetch of a path in `fetched` has these outputs.
// Everything else has `kernels` items.
struct ScriptedStages {
  std::map<std::string, int> shards;
  std::map<std::string, std::vector<std::string>> found;
  std::string unmade;
  std::vector<std::string> unmatched;  // places that the manifest stage names
  std::vector<std::string> missed_gates;
  std::map<int, std::string> run_results;
  std::map<std::string, std::vector<v1::NamedDigest>> fetched;
  int kernels = 3;

  v1::StageResult Run(const v1::Action& action) const;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_SCRIPTED_RESULTS_H_
