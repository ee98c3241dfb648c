#ifndef KERNELMILL_CLIENT_CONSOLE_TRACE_H_
#define KERNELMILL_CLIENT_CONSOLE_TRACE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/console/timeline.h"

namespace kernelmill::client {

// The timeline as Chrome's trace events in JSON, which Perfetto opens too: a process for each
// worker, with a row for each of its slots, on which attempts lie with their lookup, run and store;
// and one for the queue, with the waits as async events. Times are microseconds since the job's
// first. Handed to `write` in pieces, until it fails.
absl::Status WriteTrace(const Timeline& timeline, const std::string& job,
                        const std::function<absl::Status(absl::string_view)>& write);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_TRACE_H_
