#include "services/fetcher/adapters/smart_http/git_errors.h"

#include "absl/strings/match.h"

namespace kernelmill::fetcher {
namespace {

struct Symptom {
  const char* text;
  absl::StatusCode code;
};

// The first that occurs decides.
constexpr Symptom kSymptoms[] = {
    {"No space left on device", absl::StatusCode::kResourceExhausted},
    {"died of signal 25", absl::StatusCode::kFailedPrecondition},  // SIGXFSZ
    {"died of signal 24", absl::StatusCode::kFailedPrecondition},  // SIGXCPU
    {"ut of memory", absl::StatusCode::kFailedPrecondition},  // over our limit, not the machine's
    {"File too large", absl::StatusCode::kFailedPrecondition},
    {"unadvertised object", absl::StatusCode::kFailedPrecondition},
    {"dumb http transport", absl::StatusCode::kFailedPrecondition},
    {"mismatched algorithms", absl::StatusCode::kFailedPrecondition},
    {"not our ref", absl::StatusCode::kNotFound},
    {"couldn't find remote ref", absl::StatusCode::kNotFound},
    {"bad object", absl::StatusCode::kDataLoss},
    {"bad tree object", absl::StatusCode::kDataLoss},
    {"unable to read tree", absl::StatusCode::kDataLoss},
    {"unable to parse object", absl::StatusCode::kDataLoss},
    {"inflate:", absl::StatusCode::kDataLoss},
    {"is corrupt", absl::StatusCode::kDataLoss},
    {"did not send all necessary objects", absl::StatusCode::kDataLoss},
    {"does not appear to be a git repository", absl::StatusCode::kNotFound},
    {"Repository not found", absl::StatusCode::kNotFound},
    {"' not found", absl::StatusCode::kNotFound},
    {"returned error: 404", absl::StatusCode::kNotFound},
    {"returned error: 410", absl::StatusCode::kNotFound},
    {"does not exist", absl::StatusCode::kNotFound},
    {"not exported", absl::StatusCode::kNotFound},
    {"not allowed", absl::StatusCode::kPermissionDenied},
    {"Authentication failed", absl::StatusCode::kPermissionDenied},
    {"could not read Username", absl::StatusCode::kPermissionDenied},
    {"could not read Password", absl::StatusCode::kPermissionDenied},
    {"Permission denied", absl::StatusCode::kPermissionDenied},
    {"Host key verification failed", absl::StatusCode::kPermissionDenied},
    {"returned error: 401", absl::StatusCode::kPermissionDenied},
    {"returned error: 403", absl::StatusCode::kPermissionDenied},
};

}  // namespace

std::optional<absl::StatusCode> CodeOfGitError(absl::string_view words) {
  for (const Symptom& symptom : kSymptoms) {
    if (absl::StrContains(words, symptom.text)) return symptom.code;
  }
  return std::nullopt;
}

}  // namespace kernelmill::fetcher
