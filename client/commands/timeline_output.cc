#include "client/commands/timeline_output.h"

#include <errno.h>
#include <fcntl.h>

#include <nlohmann/json.hpp>

#include "client/console/format.h"
#include "client/console/trace.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::client {

void PrintTimeline(const Timeline& timeline, Console& console) {
  if (!console.json()) return console.Result(TimelineText(timeline));
  for (const Span& span : timeline.spans()) {
    console.Result(JsonLine({{"task", span.task},
                             {"stage", timeline.name(span.stage)},
                             {"source", timeline.name(span.source)},
                             {"attempt", span.attempt},
                             {"worker", timeline.name(span.worker)},
                             {"outcome", timeline.name(span.outcome)},
                             {"ready_unix_ms", span.ready_ms},
                             {"leased_unix_ms", span.leased_ms},
                             {"ended_unix_ms", span.ended_ms},
                             {"waited_us", span.waited_us},
                             {"lookup_us", span.lookup_us},
                             {"run_us", span.run_us},
                             {"store_us", span.store_us}}));
  }
}

absl::Status WriteTraceFile(const Timeline& timeline, const std::string& job,
                            const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  RETURN_IF_ERROR(WriteTrace(
      timeline, job, [&](absl::string_view piece) { return WriteAll(file.get(), piece, path); }));
  return file.Close() == 0 ? absl::OkStatus() : ErrnoStatus(errno, path);
}

}  // namespace kernelmill::client
