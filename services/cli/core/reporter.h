#ifndef KERNELMILL_SERVICES_CLI_CORE_REPORTER_H_
#define KERNELMILL_SERVICES_CLI_CORE_REPORTER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::cli {

// Shows a job's progress while it runs. Not thread-safe.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void Show(const v1::JobStatus& status, absl::Time now) = 0;
  // The coordinator does not answer, and is tried again.
  virtual void ShowLost(const absl::Status& error) = 0;
};

using Writer = std::function<void(absl::string_view)>;

// A bar a stage, redrawn in place on a terminal, and a line if tasks are tried again. `width`
// answers with its columns now.
std::unique_ptr<Reporter> NewBarReporter(Writer write, std::function<int()> width);

// A line for each stage that has moved, at most every two seconds and when the job ends; one when
// other tasks are tried again.
std::unique_ptr<Reporter> NewPlainReporter(Writer write);

// The status as a JSON object a line, at every change.
std::unique_ptr<Reporter> NewJsonReporter(Writer write);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CORE_REPORTER_H_
