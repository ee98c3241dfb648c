#include "common/base/locks.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/synchronization/mutex.h"

namespace kernelmill {
namespace {

// Takes two locks in both orders, which a search for deadlocks takes for one.
void LockInBothOrders() {
  absl::Mutex a;
  absl::Mutex b;
  for (const bool a_first : {true, false}) {
    absl::MutexLock first(a_first ? &a : &b);
    absl::MutexLock second(a_first ? &b : &a);
  }
}

TEST(LocksTest, NoSearchForDeadlocksAfterItsEnd) {
  EXPECT_EXIT(
      {
        EndDeadlockSearch();
        LockInBothOrders();
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kernelmill
