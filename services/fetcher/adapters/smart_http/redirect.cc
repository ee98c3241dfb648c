#include "services/fetcher/adapters/smart_http/redirect.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "services/fetcher/adapters/http/http_client.h"

namespace kernelmill::fetcher {

absl::StatusOr<GitUrl> AskForRedirect(const GitUrl& repository, bool public_only,
                                      absl::Duration timeout) {
  constexpr absl::string_view kService = "/info/refs?service=git-upload-pack";
  HttpRequest request;
  request.url = absl::StrCat(absl::StripSuffix(repository.url, "/"), kService);
  request.headers = {{"Git-Protocol", "version=2"}};  // else all refs come
  request.allow_http = repository.scheme == "http";
  request.follow = false;
  request.public_only = public_only;
  request.timeout = timeout;
  ASSIGN_OR_RETURN(const HttpResponse response, HttpGet(request));
  if (response.code >= 400) return HttpStatus(response);
  absl::string_view location = response.location;
  if (!absl::ConsumeSuffix(&location, kService)) {
    return absl::FailedPreconditionError("the server redirects to what is no git repository");
  }
  ASSIGN_OR_RETURN(GitUrl next, CheckGitUrl(location, false));
  if (next.scheme != "https" && next.scheme != repository.scheme) {
    return absl::PermissionDeniedError(
        absl::StrCat("redirected from ", repository.scheme, " to ", next.scheme));
  }
  return next;
}

}  // namespace kernelmill::fetcher
