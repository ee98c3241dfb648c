// Makes the ordering of calls through Debian's gRPC visible to ThreadSanitizer. Linked into every
// program of the tsan preset, with absl_mutex.cc.
//
// Why: libgrpc is not instrumented and passes work between threads by lock-free queues and
// reference counts. Everything before a call happens before its handler, and everything in the
// handler happens before the caller has the answer. ThreadSanitizer knows neither if both ends are
// in one process, as in most tests of services.
//
// How: a program's definitions of gRPC's few entry points take precedence over the library's, also
// for libgrpc++'s calls. A client's batch releases to_servers, which every server thread acquires
// when it gets work. A server's batch releases to_clients, which every client acquires when one of
// its batches has ended. This orders more than gRPC does (any call before any later handler), but
// never two overlapping handlers or clients, which are the races worth finding.
//
// The libraries' own memory is excluded by TSAN_OPTIONS of the test preset tsan
// (ignore_interceptors_accesses=1): libgrpc and librocksdb order it by their own atomics, and
// ThreadSanitizer only sees the accesses through memcpy, memcmp, recvmsg or free. The price is that
// our own calls of these functions are not checked; code that the compiler emits for us is.
// called_from_lib would be narrower, but wrong for librocksdb, whose mutexes guard our file
// systems. No report is suppressed.
//
// Ownership: none. Thread safety: as gRPC's. Errors: aborts if the library does not have one of
// these functions.
#include <dlfcn.h>
#include <grpc/grpc.h>
#include <sanitizer/tsan_interface.h>

#include <cstdio>
#include <cstdlib>

namespace {

char to_servers;
char to_clients;
// True if a client started this thread's last batch. A thread that plucks waits for the batch that
// it started last.
thread_local bool last_was_client = false;

template <typename Function>
Function Real(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) {
    fprintf(stderr, "grpc_calls: no %s in the libraries\n", symbol);
    abort();
  }
  return reinterpret_cast<Function>(found);
}

bool IsClient(grpc_call* call) {
  static const auto real = Real<bool (*)(grpc_call*)>("_Z19grpc_call_is_clientP9grpc_call");
  return real(call);
}

}  // namespace

extern "C" {

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                      void* reserved) {
  static const auto real = Real<decltype(&grpc_call_start_batch)>("grpc_call_start_batch");
  last_was_client = IsClient(call);
  __tsan_release(last_was_client ? &to_servers : &to_clients);
  return real(call, ops, count, tag, reserved);
}

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline,
                                      void* reserved) {
  static const auto real =
      Real<decltype(&grpc_completion_queue_next)>("grpc_completion_queue_next");
  const grpc_event event = real(queue, deadline, reserved);
  __tsan_acquire(&to_servers);
  return event;
}

grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag,
                                       gpr_timespec deadline, void* reserved) {
  static const auto real =
      Real<decltype(&grpc_completion_queue_pluck)>("grpc_completion_queue_pluck");
  const bool client = last_was_client;
  const grpc_event event = real(queue, tag, deadline, reserved);
  __tsan_acquire(client ? &to_clients : &to_servers);
  return event;
}

}  // extern "C"
