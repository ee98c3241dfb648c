#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_UPLOAD_PACK_POST_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_UPLOAD_PACK_POST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/curl_easy.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/adapters/http/http_client.h"
#include "services/fetcher/core/rate_floor.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

// The libcurl handles that are not in use, each with the connection that it holds open. A handle is
// kept under a key that says where its connection leads and what was checked when it was made. Only
// a request with the same key gets it. Bounded in number and in idle time. Thread-safe.
class HandlePool {
 public:
  static constexpr size_t kMaxIdle = 32;
  static constexpr absl::Duration kMaxIdleTime = absl::Seconds(60);

  // Returns a handle with no option set, for one user at a time. The user resets it before giving
  // it back.
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

// A request to a repository's git-upload-pack.
struct UploadPackPost {
  GitUrl repository;  // http or https
  std::string body;
  HostPolicy hosts;
  int64_t max_bytes = 0;  // in the answer
  absl::Duration timeout;
  LowestRate rate;
  // Returns the bytes so far of what the answer is for, which must keep to the rate. Null: all.
  std::function<int64_t()> arrived = nullptr;
};

using BodySink = absl::FunctionRef<absl::Status(absl::string_view bytes)>;

// Returns whether the answer is in git's protocol. If not, the sink got nothing of it.
bool IsUploadPackResult(const HttpResponse& response);

// Sends one POST to a repository's git-upload-pack, over a connection of the pool if it has one.
// Does not follow redirects, sends no credentials and keeps no cookies. The body of an
// IsUploadPackResult goes to the sink, whose first error ends the transfer and is returned. Any
// other answer is returned without its body. Other errors: as HttpGet. Thread-safe.
absl::StatusOr<HttpResponse> PostToUploadPack(HandlePool& pool, const UploadPackPost& post,
                                              BodySink sink);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_UPLOAD_PACK_POST_H_
