#include "services/compiler/server/limited_compiler.h"

#include <stop_token>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace kernelmill::compiler {
namespace {

class LimitedCompiler : public Compiler {
 public:
  LimitedCompiler(Compiler& compiler, int at_once) : compiler_(compiler), free_(at_once) {}

  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override {
    const Place place(*this, job.stop);
    if (job.stop.stop_requested()) return absl::CancelledError("no longer wanted");
    return compiler_.Compile(job);
  }

 private:
  // Taken without waiting, beyond the limit, by who is stopped.
  class Place {
   public:
    Place(LimitedCompiler& limit, const std::stop_token& stop) : limit_(limit) {
      // Conditions are looked at when the mutex is released.
      const std::stop_callback look(stop, [this] { const absl::MutexLock lock(&limit_.mutex_); });
      const auto may_begin = [&] {
        limit_.mutex_.AssertReaderHeld();
        return limit_.free_ > 0 || stop.stop_requested();
      };
      const absl::MutexLock lock(&limit_.mutex_, absl::Condition(&may_begin));
      --limit_.free_;
    }
    ~Place() {
      const absl::MutexLock lock(&limit_.mutex_);
      ++limit_.free_;
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    LimitedCompiler& limit_;
  };

  Compiler& compiler_;
  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Compiler> NewLimitedCompiler(Compiler& compiler, int at_once) {
  return std::make_unique<LimitedCompiler>(compiler, at_once);
}

}  // namespace kernelmill::compiler
