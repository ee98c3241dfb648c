#ifndef KERNELMILL_CLIENT_COMMANDS_TIMELINE_OUTPUT_H_
#define KERNELMILL_CLIENT_COMMANDS_TIMELINE_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "client/commands/console.h"
#include "client/console/timeline.h"

namespace kernelmill::client {

// The chart; with --json an object a line, an attempt each.
void PrintTimeline(const Timeline& timeline, Console& console);

// Writes the trace events (WriteTrace) to a new or replaced file. Errors name it.
absl::Status WriteTraceFile(const Timeline& timeline, const std::string& job,
                            const std::string& path);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_TIMELINE_OUTPUT_H_
