#include "services/coordinator/core/jobs/failure_page.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kernelmill::coordinator {
namespace {

constexpr int kMaxPageSize = 1000;
// Of a page; a failure has some kilobytes at most.
constexpr size_t kMaxPageBytes = 4 << 20;

// "stage.source.shard.sub_shard", as numbers.
std::string TokenOf(const TaskKey& task) {
  return absl::StrCat(static_cast<int>(task.stage), ".", task.source, ".", task.shard, ".",
                      task.sub_shard);
}

absl::StatusOr<TaskKey> TaskOf(const std::string& token) {
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  uint32_t stage = 0, sub_shard = 0;
  TaskKey task;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[0], &stage) || stage >= kStageCount ||
      !absl::SimpleAtoi(parts[1], &task.source) || !absl::SimpleAtoi(parts[2], &task.shard) ||
      !absl::SimpleAtoi(parts[3], &sub_shard) || sub_shard > UINT16_MAX) {
    return absl::InvalidArgumentError("page_token: is none that an answer gave");
  }
  task.stage = static_cast<StageId>(stage);
  task.sub_shard = static_cast<SubShard>(sub_shard);
  return task;
}

}  // namespace

absl::StatusOr<FailurePage> FailurePage::Of(const v1::ListFailuresRequest& request) {
  if (request.page_size() < 0 || request.page_size() > kMaxPageSize) {
    return absl::InvalidArgumentError(absl::StrCat("page_size: is not 0 to ", kMaxPageSize));
  }
  const int size = request.page_size() == 0 ? kMaxPageSize : request.page_size();
  if (request.page_token().empty()) return FailurePage(size, std::nullopt);
  const absl::StatusOr<TaskKey> after = TaskOf(request.page_token());
  if (!after.ok()) return after.status();
  return FailurePage(size, *after);
}

v1::ListFailuresResponse FailurePage::Answer(std::vector<TaskFailure> failures) const {
  v1::ListFailuresResponse answer;
  size_t bytes = 0;
  for (size_t i = 0; i < failures.size(); ++i) {
    const size_t more = failures[i].failure.ByteSizeLong();
    const bool full = i == size_ || (i > 0 && bytes + more > kMaxPageBytes);
    if (full) {
      answer.set_next_page_token(TokenOf(failures[i - 1].task));
      break;
    }
    bytes += more;
    *answer.add_failures() = std::move(failures[i].failure);
  }
  return answer;
}

}  // namespace kernelmill::coordinator
