#ifndef KERNELMILL_COMMON_BASE_LOG_BATCH_H_
#define KERNELMILL_COMMON_BASE_LOG_BATCH_H_

#include "common/base/log.h"

namespace kernelmill {

// For who logs many lines at once: while one lives, what its thread logs is kept, and written some
// kilobytes at a time. At its end all is written.
class LogBatch {
 public:
  LogBatch();
  ~LogBatch();
  LogBatch(const LogBatch&) = delete;
  LogBatch& operator=(const LogBatch&) = delete;
};

// Whether lines of the level are written, for who would have to collect what they say.
bool Logs(LogLevel level);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_LOG_BATCH_H_
