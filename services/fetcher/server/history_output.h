#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_HISTORY_OUTPUT_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_HISTORY_OUTPUT_H_

#include "absl/status/status.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "services/fetcher/core/history/walk_history.h"
#include "services/fetcher/core/selection/snapshot.h"

namespace kernelmill::fetcher {

// Walks the history that a fetched source asks for, and adds its outputs "history" and "versions"
// to the result. Counters: history.commits (walked over), history.commits_with_kernels,
// history.versions, history.probed, bytes.history (received for it, of bytes.received), and the
// sizes of the versions, bytes.history.versions, and of what only others import,
// bytes.history.imported.
// FAILED_PRECONDITION: the source has no commits, or the history exceeds a limit. Other errors are
// those of WalkHistory and the store.
absl::Status AddHistory(Snapshot& snapshot, const v1::Source& source, const HistoryLimits& limits,
                        cas::BlobStore& store, v1::StageResult& result);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_HISTORY_OUTPUT_H_
