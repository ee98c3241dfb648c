// Abseil 20220623 waits until a deadline of the wall clock: futex with FUTEX_CLOCK_REALTIME. If
// that clock is set back by an hour, each wait takes an hour longer. gRPC's timers are such waits:
// calls miss their deadlines, and connections are not made again. Later releases of Abseil wait on
// the monotonic clock. Until Debian has one of them, this file replaces libc's syscall(), through
// which Abseil calls futex, and converts such deadlines to the monotonic clock. All other system
// calls pass through unchanged.

#include "common/base/clock.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <ctime>

namespace kernelmill {

void KeepWaitsMonotonic() {}

}  // namespace kernelmill

#if defined(__x86_64__) || defined(__aarch64__)

namespace {

constexpr int64_t kNanos = 1'000'000'000;

int64_t ToNanos(const timespec& time) { return time.tv_sec * kNanos + time.tv_nsec; }

int64_t NanosNow(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return ToNanos(now);
}

// Converts a deadline of the wall clock to one of the monotonic clock.
timespec Monotonic(const timespec& deadline) {
  const int64_t left = std::max<int64_t>(ToNanos(deadline) - NanosNow(CLOCK_REALTIME), 0);
  const int64_t at = NanosNow(CLOCK_MONOTONIC) + left;
  return {at / kNanos, at % kNanos};
}

// Makes the system call itself, as libc's syscall() would.
long Kernel(long number, const long* a) {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = a[3];
  register long r8 asm("r8") = a[4];
  register long r9 asm("r9") = a[5];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#else
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a[0];
  register long x1 asm("x1") = a[1];
  register long x2 asm("x2") = a[2];
  register long x3 asm("x3") = a[3];
  register long x4 asm("x4") = a[4];
  register long x5 asm("x5") = a[5];
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
#endif
}

// A futex wait without a deadline (null) is not affected by the clock and passes through unchanged.
bool WaitsOnWallClock(long number, const long* arguments) {
  return number == SYS_futex && (arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET &&
         (arguments[1] & FUTEX_CLOCK_REALTIME) != 0 && arguments[3] != 0;
}

}  // namespace

// A function with C linkage in the program takes the place of libc's at link time. The kernel
// returns -errno, from -1 to -4095; libc's function returns -1 and sets errno.
extern "C" long syscall(long number, ...) noexcept {
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  timespec deadline;
  if (WaitsOnWallClock(number, arguments)) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): syscall(2) passes its pointers as numbers.
    deadline = Monotonic(*reinterpret_cast<const timespec*>(arguments[3]));
    arguments[3] = reinterpret_cast<long>(&deadline);
    arguments[1] &= ~static_cast<long>(FUTEX_CLOCK_REALTIME);
  }
  const long result = Kernel(number, arguments);
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

#endif
