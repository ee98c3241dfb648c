// A library for LD_PRELOAD that makes what the tests of faults cannot ask a kernel for: fsync that
// fails or is slow, a wall clock that jumps, a stage that is slow, a file whose content ends the
// process that reads it. The programs under test have no hook for any of it.
//
// KERNELMILL_SHIM names the control file, which the test maps and changes at any time (shim.py
// knows the same layout). Without it every function here does what the C library's does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct control {
  _Atomic int64_t clock_offset_ns;  // added to CLOCK_REALTIME, never to CLOCK_MONOTONIC
  _Atomic int64_t sync_errno;       // fsync and its kin fail with it; 0: they work
  _Atomic int64_t file_delay_us;    // how long the extractor takes longer over each file
  _Atomic int64_t syncs_failed;     // counted here, read by the test: the fault was met
  _Atomic int64_t shifted_reads;
  _Atomic int64_t poisoned;
  _Atomic int64_t table_sync_us;  // how long syncs take longer, but of a database's log
  _Atomic int64_t sync_us;        // how long every sync takes longer
  char poison[64];  // a file with these bytes in it kills its extractor; empty: none does
};

static struct control none;
static struct control* control = &none;

__attribute__((constructor)) static void map_control(void) {
  const char* path = getenv("KERNELMILL_SHIM");
  if (path == NULL) return;
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) abort();
  void* mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) abort();
  control = mapped;
}

// ---------------------------------------------------------------- fsync

static int sync_fails(void) {
  const int64_t error = control->sync_errno;
  if (error == 0) return 0;
  atomic_fetch_add(&control->syncs_failed, 1);
  errno = (int)error;
  return 1;
}

// A disk on which flushes and compaction do not keep up with what is written to the log.
static void wait_for_table(int fd) {
  if (control->sync_us > 0) usleep((useconds_t)control->sync_us);
  const int64_t delay = control->table_sync_us;
  if (delay == 0) return;
  char link[32], path[512];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof(path));
  if (size > 5 && (memcmp(path + size - 4, ".sst", 4) == 0 || memcmp(path + size - 5, ".blob", 5) == 0)) {
    usleep((useconds_t)delay);
  }
}

int fsync(int fd) {
  wait_for_table(fd);
  return sync_fails() ? -1 : (int)syscall(SYS_fsync, fd);
}
int fdatasync(int fd) {
  wait_for_table(fd);
  return sync_fails() ? -1 : (int)syscall(SYS_fdatasync, fd);
}
int syncfs(int fd) { return sync_fails() ? -1 : (int)syscall(SYS_syncfs, fd); }
int sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags) {
  return sync_fails() ? -1 : (int)syscall(SYS_sync_file_range, fd, offset, bytes, flags);
}

// ---------------------------------------------------------------- the wall clock

#define SECOND 1000000000LL
// A wait for a moment of the wall clock is cut in slices of this, so that a jump ends or prolongs
// it, as the kernel would.
#define SLICE (20 * SECOND / 1000)

static int64_t to_ns(const struct timespec* t) { return t->tv_sec * SECOND + t->tv_nsec; }

static struct timespec to_timespec(int64_t ns) {
  return (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
}

static int64_t true_now(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return to_ns(&now);
}

static int64_t shifted_now(void) {
  const int64_t offset = control->clock_offset_ns;
  if (offset != 0) atomic_fetch_add(&control->shifted_reads, 1);
  return true_now() + offset;
}

static int (*next_clock_gettime)(clockid_t, struct timespec*);

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (next_clock_gettime == NULL) next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const int done = next_clock_gettime(clock, now);
  const int64_t offset = control->clock_offset_ns;
  if (done == 0 && offset != 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    atomic_fetch_add(&control->shifted_reads, 1);
    *now = to_timespec(to_ns(now) + offset);
  }
  return done;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  const int64_t ns = shifted_now();
  *now = (struct timeval){.tv_sec = ns / SECOND, .tv_usec = ns % SECOND / 1000};
  return 0;
}

time_t time(time_t* out) {
  const time_t seconds = (time_t)(shifted_now() / SECOND);
  if (out != NULL) *out = seconds;
  return seconds;
}

// The true moment at which to look again at a wait that lasts until `deadline` of the shifted
// clock; 0: it has passed.
static int64_t next_look(int64_t deadline) {
  const int64_t left = deadline - shifted_now();
  if (left <= 0) return 0;
  return true_now() + (left < SLICE ? left : SLICE);
}

int pthread_cond_timedwait(pthread_cond_t* restrict cond, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict deadline) {
  static int (*next)(pthread_cond_t*, pthread_mutex_t*, const struct timespec*);
  if (next == NULL) next = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  const int monotonic = cond->__data.__wrefs & 2;  // __PTHREAD_COND_CLOCK_MONOTONIC_MASK
  if (control == &none || monotonic) return next(cond, mutex, deadline);
  for (;;) {
    const int64_t look = next_look(to_ns(deadline));
    if (look == 0) return ETIMEDOUT;
    const struct timespec until = to_timespec(look);
    const int done = next(cond, mutex, &until);
    if (done != ETIMEDOUT) return done;
  }
}

// Abseil waits with futexes until moments of the wall clock.
long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (next == NULL) next = dlsym(RTLD_NEXT, "syscall");
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(arguments, long);
  va_end(arguments);
  const long wall = FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME;
  const struct timespec* deadline = (const struct timespec*)a[3];
  if (number != SYS_futex || (a[1] & ~(long)FUTEX_PRIVATE_FLAG) != wall || deadline == NULL ||
      control == &none) {
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  for (;;) {
    const int64_t look = next_look(to_ns(deadline));
    if (look == 0) {
      errno = ETIMEDOUT;
      return -1;
    }
    const struct timespec until = to_timespec(look);
    const long done = next(number, a[0], a[1], a[2], (long)&until, a[4], a[5]);
    if (done == 0 || errno != ETIMEDOUT) return done;
  }
}

// ---------------------------------------------------------------- files

// The extractor looks for this first when it reads a file for kernels; not when it only lists one. The fetcher
// looks for it too, which is none of this.
static const char kOncePerFile[] = "jit";

static int is_extractor(void) {
  static const char name[] = "kernelmill-extractor";  // and its next release
  return strncmp(program_invocation_short_name, name, sizeof(name) - 1) == 0;
}

void* memmem(const void* text, size_t text_size, const void* word, size_t word_size) {
  static void* (*next)(const void*, size_t, const void*, size_t);
  if (next == NULL) next = dlsym(RTLD_NEXT, "memmem");
  if (word_size == sizeof(kOncePerFile) - 1 && memcmp(word, kOncePerFile, word_size) == 0 && is_extractor()) {
    const size_t poison = strnlen(control->poison, sizeof(control->poison));
    if (poison != 0 && next(text, text_size, control->poison, poison) != NULL) {
      atomic_fetch_add(&control->poisoned, 1);
      raise(SIGKILL);
    }
    const int64_t delay = control->file_delay_us;
    if (delay > 0) usleep((useconds_t)delay);
  }
  return next(text, text_size, word, word_size);
}
