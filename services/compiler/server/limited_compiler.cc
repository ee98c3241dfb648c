#include "services/compiler/server/limited_compiler.h"

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace kernelmill::compiler {
namespace {

class LimitedCompiler : public Compiler {
 public:
  LimitedCompiler(Compiler& compiler, int at_once) : compiler_(compiler), free_(at_once) {}

  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override {
    const Place place(*this);
    return compiler_.Compile(job);
  }

 private:
  class Place {
   public:
    explicit Place(LimitedCompiler& limit) : limit_(limit) {
      const absl::MutexLock lock(&limit_.mutex_,
                                 absl::Condition(&limit_, &LimitedCompiler::IsFree));
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

  bool IsFree() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return free_ > 0; }

  Compiler& compiler_;
  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Compiler> NewLimitedCompiler(Compiler& compiler, int at_once) {
  return std::make_unique<LimitedCompiler>(compiler, at_once);
}

}  // namespace kernelmill::compiler
