#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_FAILURE_PAGE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_FAILURE_PAGE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/plan/plan.h"
#include "services/coordinator/core/plan/task.h"

namespace kernelmill::coordinator {

// Which failures of a job one answer has. A page is named by the task of the last failure before
// it, so that pages stay in order while the job runs, and when it ends between two of them.
class FailurePage {
 public:
  // INVALID_ARGUMENT: a page size or token that no answer gave.
  static absl::StatusOr<FailurePage> Of(const v1::ListFailuresRequest& request);

  // Null: from the first.
  const TaskKey* after() const { return after_.has_value() ? &*after_ : nullptr; }
  // How many failures to hand to Answer: one more than the page has, to know whether it is the
  // last.
  size_t limit() const { return size_ + 1; }

  // The answer with the first of them, as many as the page has and a message takes.
  v1::ListFailuresResponse Answer(std::vector<TaskFailure> failures) const;

 private:
  FailurePage(size_t size, std::optional<TaskKey> after) : size_(size), after_(after) {}

  size_t size_;
  std::optional<TaskKey> after_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_FAILURE_PAGE_H_
