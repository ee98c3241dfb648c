#ifndef KERNELMILL_CLIENT_COMMANDS_KEPT_DATASETS_H_
#define KERNELMILL_CLIENT_COMMANDS_KEPT_DATASETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/grpc/store_client.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// A dataset of a job, of which a collection may drop something.
struct LooseDataset {
  std::string job;
  cas::Digest manifest;
  int64_t bytes = 0;  // that nobody holds; the action results that go with them included
};

// The datasets of the jobs that are DONE of which nobody holds all. Nothing rests on the names of
// holds: the store is asked what a collection of everything would drop, with and without a hold of
// ours on what the datasets need. What the store no longer has cannot be lost, and is passed over.
// `blobs` and `store` are the same store.
absl::StatusOr<std::vector<LooseDataset>> LooseDatasets(const std::vector<v1::JobStatus>& jobs,
                                                        cas::BlobStore& blobs, StoreClient& store);

// "2 datasets of jobs: triton-000007 (abc/120, 1.5 GiB), ...".
std::string LooseText(const std::vector<LooseDataset>& loose);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_KEPT_DATASETS_H_
