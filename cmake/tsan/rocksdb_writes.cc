// Lets ThreadSanitizer see who writes to a RocksDB after whom. Linked into every program of the
// tsan preset, beside absl_mutex.cc.
//
// Why. Writers of Debian's librocksdb, which is not instrumented, take turns by atomics of
// WriteThread. What one writer leaves for the next (the batch that groups are merged in, the state
// of the log's file, a follower's status) is touched by code that is ours to ThreadSanitizer:
// std::string's templates, inline functions of RocksDB's headers, our file systems.
//
// How. This file defines the members by which a writer joins a group and by which it leads and
// leaves one; each calls the library's own, found by dlsym(RTLD_NEXT), and says what it orders:
// joining publishes the writer's batch to who leads, leaving publishes what the leader did to who
// is next.
//
// Ownership: none. Thread safety: as RocksDB's. Errors: aborts if the library lacks one of these
// functions.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace rocksdb {

class Status;

// As in RocksDB's db/write_thread.h, which is not installed; all here is by reference.
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
