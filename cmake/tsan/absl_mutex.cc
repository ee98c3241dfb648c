// Makes the synchronization of Debian's Abseil visible to ThreadSanitizer. Linked into every
// program of the tsan preset only.
//
// Why: libabsl_synchronization.so is not instrumented and calls futex(2) directly. So to
// ThreadSanitizer an absl::Mutex orders nothing, and every guarded field would be reported as a
// race. Suppressing those reports would also suppress the real ones.
//
// How: this file defines the members of absl::Mutex, CondVar and Notification that are out of line
// in the library, except ...WithTimeout, which call ...WithDeadline (an inner call must not report
// twice). A program's definition takes precedence over a library's, for calls from our code and,
// through the PLT, for calls from libgrpc and Abseil itself. Each function reports to
// ThreadSanitizer (tsan_interface.h) before and after it calls the library's function
// (dlsym(RTLD_NEXT)), as Abseil does itself when built with -fsanitize=thread. Memory accesses
// between the two reports are ignored; that covers a condition that an unlocking thread evaluates
// for a waiting one. The linker's --wrap would miss the libraries' calls.
//
// Ownership: none. Thread safety: as the wrapped functions. Errors: aborts if the library does not
// have one of these functions.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace {

// The library's function under a mangled name; looked up once per place of use.
template <typename Function>
Function Real(std::atomic<void*>& known, const char* symbol) {
  void* found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = dlsym(RTLD_NEXT, symbol);
    if (found == nullptr) {
      fprintf(stderr, "absl_mutex: no %s in the libraries\n", symbol);
      abort();
    }
    known.store(found, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function>(found);
}

// Abseil's inline namespace is part of each name.
#define ABSL_SYMBOL(rest) "_ZN4absl7debian3" rest
#define ABSL_CONST_SYMBOL(rest) "_ZNK4absl7debian3" rest
#define CALL_REAL(type, symbol, ...)               \
  [&] {                                            \
    static std::atomic<void*> known{nullptr};      \
    return Real<type>(known, symbol)(__VA_ARGS__); \
  }()

// kMuWriter of mutex.cc: set in a Mutex's only word while a writer holds it.
constexpr intptr_t kWriterBit = 0x8;

unsigned HowHeld(absl::Mutex* mutex) {
  intptr_t word = reinterpret_cast<std::atomic<intptr_t>*>(mutex)->load(std::memory_order_relaxed);
  return (word & kWriterBit) != 0 ? 0u : __tsan_mutex_read_lock;
}

// A wait gives the mutex up and takes it again.
template <typename Wait>
auto WaitWithout(absl::Mutex* mutex, Wait wait) {
  const unsigned how = HowHeld(mutex);
  __tsan_mutex_pre_unlock(mutex, how);
  auto result = wait();
  __tsan_mutex_post_unlock(mutex, how);
  __tsan_mutex_pre_lock(mutex, how);
  __tsan_mutex_post_lock(mutex, how, 0);
  return result;
}

template <typename Lock>
auto LockWith(absl::Mutex* mutex, unsigned how, Lock lock) {
  __tsan_mutex_pre_lock(mutex, how);
  auto result = lock();
  __tsan_mutex_post_lock(mutex, how, 0);
  return result;
}

template <typename TryLock>
bool TryLockWith(absl::Mutex* mutex, unsigned how, TryLock try_lock) {
  how |= __tsan_mutex_try_lock;
  __tsan_mutex_pre_lock(mutex, how);
  const bool taken = try_lock();
  __tsan_mutex_post_lock(mutex, taken ? how : how | __tsan_mutex_try_lock_failed, 0);
  return taken;
}

void Acquire(const std::atomic<bool>* flag) {
  __tsan_acquire(const_cast<std::atomic<bool>*>(flag));
}

using MutexDo = void (*)(absl::Mutex*);
using MutexTry = bool (*)(absl::Mutex*);
using MutexWhen = void (*)(absl::Mutex*, const absl::Condition&);
using MutexWhenUntil = bool (*)(absl::Mutex*, const absl::Condition&, absl::Time);
using CondVarWait = void (*)(absl::CondVar*, absl::Mutex*);
using CondVarWaitUntil = bool (*)(absl::CondVar*, absl::Mutex*, absl::Time);
using NotificationDo = void (*)(absl::Notification*);
using NotificationWait = void (*)(const absl::Notification*);
using NotificationWaitFor = bool (*)(const absl::Notification*, absl::Duration);
using NotificationWaitUntil = bool (*)(const absl::Notification*, absl::Time);

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

Mutex::~Mutex() {
  CALL_REAL(MutexDo, ABSL_SYMBOL("5MutexD1Ev"), this);
  __tsan_mutex_destroy(this, __tsan_mutex_not_static);
}

void Mutex::Lock() {
  LockWith(this, 0, [this] { return CALL_REAL(MutexDo, ABSL_SYMBOL("5Mutex4LockEv"), this), 0; });
}

void Mutex::Unlock() {
  __tsan_mutex_pre_unlock(this, 0);
  CALL_REAL(MutexDo, ABSL_SYMBOL("5Mutex6UnlockEv"), this);
  __tsan_mutex_post_unlock(this, 0);
}

bool Mutex::TryLock() {
  return TryLockWith(this, 0,
                     [this] { return CALL_REAL(MutexTry, ABSL_SYMBOL("5Mutex7TryLockEv"), this); });
}

void Mutex::ReaderLock() {
  LockWith(this, __tsan_mutex_read_lock,
           [this] { return CALL_REAL(MutexDo, ABSL_SYMBOL("5Mutex10ReaderLockEv"), this), 0; });
}

void Mutex::ReaderUnlock() {
  __tsan_mutex_pre_unlock(this, __tsan_mutex_read_lock);
  CALL_REAL(MutexDo, ABSL_SYMBOL("5Mutex12ReaderUnlockEv"), this);
  __tsan_mutex_post_unlock(this, __tsan_mutex_read_lock);
}

bool Mutex::ReaderTryLock() {
  return TryLockWith(this, __tsan_mutex_read_lock, [this] {
    return CALL_REAL(MutexTry, ABSL_SYMBOL("5Mutex13ReaderTryLockEv"), this);
  });
}

void Mutex::Await(const Condition& condition) {
  if (condition.Eval()) {
    return;
  }
  WaitWithout(this, [&] {
    return CALL_REAL(MutexWhen, ABSL_SYMBOL("5Mutex5AwaitERKNS0_9ConditionE"), this, condition), 0;
  });
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  if (condition.Eval()) {
    return true;
  }
  return WaitWithout(this, [&] {
    return CALL_REAL(MutexWhenUntil,
                     ABSL_SYMBOL("5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE"), this,
                     condition, deadline);
  });
}

void Mutex::LockWhen(const Condition& condition) {
  LockWith(this, 0, [&] {
    return CALL_REAL(MutexWhen, ABSL_SYMBOL("5Mutex8LockWhenERKNS0_9ConditionE"), this, condition),
           0;
  });
}

bool Mutex::LockWhenWithDeadline(const Condition& condition, Time deadline) {
  return LockWith(this, 0, [&] {
    return CALL_REAL(MutexWhenUntil,
                     ABSL_SYMBOL("5Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE"), this,
                     condition, deadline);
  });
}

void Mutex::ReaderLockWhen(const Condition& condition) {
  LockWith(this, __tsan_mutex_read_lock, [&] {
    return CALL_REAL(MutexWhen, ABSL_SYMBOL("5Mutex14ReaderLockWhenERKNS0_9ConditionE"), this,
                     condition),
           0;
  });
}

bool Mutex::ReaderLockWhenWithDeadline(const Condition& condition, Time deadline) {
  return LockWith(this, __tsan_mutex_read_lock, [&] {
    return CALL_REAL(MutexWhenUntil,
                     ABSL_SYMBOL("5Mutex26ReaderLockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE"),
                     this, condition, deadline);
  });
}

void CondVar::Wait(Mutex* mutex) {
  WaitWithout(mutex, [&] {
    return CALL_REAL(CondVarWait, ABSL_SYMBOL("7CondVar4WaitEPNS0_5MutexE"), this, mutex), 0;
  });
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  return WaitWithout(mutex, [&] {
    return CALL_REAL(CondVarWaitUntil,
                     ABSL_SYMBOL("7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE"), this, mutex,
                     deadline);
  });
}

// HasBeenNotified() is inline and reads notified_yet_ with acquire; Notify()'s release store is the
// library's.
void Notification::Notify() {
  __tsan_release(&notified_yet_);
  CALL_REAL(NotificationDo, ABSL_SYMBOL("12Notification6NotifyEv"), this);
}

void Notification::WaitForNotification() const {
  CALL_REAL(NotificationWait, ABSL_CONST_SYMBOL("12Notification19WaitForNotificationEv"), this);
  Acquire(&notified_yet_);
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  bool notified =
      CALL_REAL(NotificationWaitFor,
                ABSL_CONST_SYMBOL("12Notification30WaitForNotificationWithTimeoutENS0_8DurationE"),
                this, timeout);
  Acquire(&notified_yet_);
  return notified;
}

bool Notification::WaitForNotificationWithDeadline(Time deadline) const {
  bool notified =
      CALL_REAL(NotificationWaitUntil,
                ABSL_CONST_SYMBOL("12Notification31WaitForNotificationWithDeadlineENS0_4TimeE"),
                this, deadline);
  Acquire(&notified_yet_);
  return notified;
}

ABSL_NAMESPACE_END
}  // namespace absl
