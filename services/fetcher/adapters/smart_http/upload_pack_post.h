#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_UPLOAD_PACK_POST_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_UPLOAD_PACK_POST_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/http_client.h"
#include "services/fetcher/adapters/smart_http/handle_pool.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

struct UploadPackPost {
  GitUrl repository;  // http or https
  std::string body;
  bool public_only = true;  // connections lead to public addresses alone
  int64_t max_bytes = 0;    // of the answer
  absl::Duration timeout;
};

using BodySink = absl::FunctionRef<absl::Status(absl::string_view bytes)>;

// Whether the answer is one of git's protocol; else the sink has not got any of it.
bool IsUploadPackResult(const HttpResponse& response);

// One POST to a repository's git-upload-pack, over a connection of the pool's if it has one. Does
// not follow redirects; sends no credentials, and keeps no cookies. The body of an
// IsUploadPackResult goes to the sink, whose first error ends it all and is returned. Any other
// answer is OK here, its body dropped. Errors else as HttpGet's. Thread-safe.
absl::StatusOr<HttpResponse> PostToUploadPack(HandlePool& pool, const UploadPackPost& post,
                                              BodySink sink);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_UPLOAD_PACK_POST_H_
