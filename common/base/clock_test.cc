#include "common/base/clock.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace kernelmill {
namespace {

// tests/chaos/clock_test.py shows that waits end in time when the clock is set.
TEST(MonotonicWaits, AWaitForTheWallClockTakesAsLongAsItShould) {
  KeepWaitsMonotonic();
  uint32_t word = 1;
  timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 1;
  const auto start = std::chrono::steady_clock::now();
  errno = 0;
  EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | FUTEX_PRIVATE_FLAG,
                    1, &deadline, nullptr, FUTEX_BITSET_MATCH_ANY),
            -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(990));
  EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 2, &deadline,
                    nullptr, FUTEX_BITSET_MATCH_ANY),
            -1);
  EXPECT_EQ(errno, EAGAIN) << "the word has another value";
}

TEST(MonotonicWaits, OtherSystemCallsPassThrough) {
  EXPECT_EQ(syscall(SYS_getpid), getpid());
  errno = 0;
  EXPECT_EQ(syscall(SYS_close, -1), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace kernelmill
