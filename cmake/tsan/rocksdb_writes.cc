// Makes the order of writers of a RocksDB visible to ThreadSanitizer. Linked into every program of
// the tsan preset, with absl_mutex.cc.
//
// Why: Debian's librocksdb is not instrumented, and its writers take turns by atomics of
// WriteThread. The data that one writer passes to the next (the batch for merged groups, the state
// of the log file, a follower's status) is accessed by code that ThreadSanitizer counts as ours:
// std::string's templates, inline functions of RocksDB's headers, our file systems.
//
// How: this file defines the members by which a writer joins, leads and leaves a group. Each calls
// the library's function (dlsym(RTLD_NEXT)) and reports the order: joining publishes the writer's
// batch to the leader; leaving publishes the leader's work to the next one.
//
// Ownership: none. Thread safety: as RocksDB's. Errors: aborts if the library does not have one of
// these functions.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace rocksdb {

class Status;

// The declaration from RocksDB's db/write_thread.h, which is not installed.
class WriteThread {
 public:
  struct Writer;
  struct WriteGroup;
  void JoinBatchGroup(Writer* writer);
  size_t EnterAsBatchGroupLeader(Writer* leader, WriteGroup* group);
  void ExitAsBatchGroupLeader(WriteGroup& group, Status& status);
};

namespace {

template <typename Function>
Function Real(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) {
    fprintf(stderr, "rocksdb_writes: no %s in the libraries\n", symbol);
    abort();
  }
  return reinterpret_cast<Function>(found);
}

}  // namespace

void WriteThread::JoinBatchGroup(Writer* writer) {
  static const auto real = Real<void (*)(WriteThread*, Writer*)>(
      "_ZN7rocksdb11WriteThread14JoinBatchGroupEPNS0_6WriterE");
  __tsan_release(this);
  real(this, writer);
  __tsan_acquire(this);
}

size_t WriteThread::EnterAsBatchGroupLeader(Writer* leader, WriteGroup* group) {
  static const auto real = Real<size_t (*)(WriteThread*, Writer*, WriteGroup*)>(
      "_ZN7rocksdb11WriteThread23EnterAsBatchGroupLeaderEPNS0_6WriterEPNS0_10WriteGroupE");
  const size_t bytes = real(this, leader, group);
  __tsan_acquire(this);
  return bytes;
}

void WriteThread::ExitAsBatchGroupLeader(WriteGroup& group, Status& status) {
  static const auto real = Real<void (*)(WriteThread*, WriteGroup&, Status&)>(
      "_ZN7rocksdb11WriteThread22ExitAsBatchGroupLeaderERNS0_10WriteGroupERNS_6StatusE");
  __tsan_release(this);
  real(this, group, status);
}

}  // namespace rocksdb
