#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_HANDLE_POOL_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_HANDLE_POOL_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/curl_easy.h"

namespace kernelmill::fetcher {

// libcurl's handles that are not in use, each with the connection that it holds open. Handles are
// kept by a key, and only a request with the same key gets one: it says where the connection leads
// and what was checked when it was made. Bounded in number and in idle time. Thread-safe.
class HandlePool {
 public:
  static constexpr size_t kMaxIdle = 32;
  static constexpr absl::Duration kMaxIdleTime = absl::Seconds(60);

  // A handle with no option set, for one user at a time. The user resets it before it goes back.
  absl::StatusOr<CurlHandle> Take(const std::string& key);
  void GiveBack(const std::string& key, CurlHandle handle);
  size_t idle() const;

 private:
  struct Idle {
    std::string key;
    CurlHandle handle;
    absl::Time since;
  };

  mutable absl::Mutex mutex_;
  std::list<Idle> idle_ ABSL_GUARDED_BY(mutex_);  // the latest first
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_HANDLE_POOL_H_
