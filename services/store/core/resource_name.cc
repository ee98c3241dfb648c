#include "services/store/core/resource_name.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::store {
namespace {

// The grammar of the REAPI's resource names:
//
//   read   := [instance "/"] blob
//   write  := [instance "/"] "uploads/" id "/" blob ["/" anything]
//   blob   := "blobs/" hash "/" size | "compressed-blobs/zstd/" hash "/" size
//
// The instance may have several segments, but none that is a keyword; so the first keyword ends it.
// All errors are INVALID_ARGUMENT and quote the name.
constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kMaxInstanceBytes = 1024;
constexpr size_t kMaxUploadIdBytes = 128;

using Segments = absl::Span<const absl::string_view>;

bool IsKeyword(absl::string_view segment) {
  static constexpr std::array<absl::string_view, 7> kKeywords = {
      "blobs",      "uploads",      "actions",         "actionResults",
      "operations", "capabilities", "compressed-blobs"};
  return std::find(kKeywords.begin(), kKeywords.end(), segment) != kKeywords.end();
}

absl::Status Malformed(absl::string_view name, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("resource name ", JsonString(name.substr(0, 200)), ": ", why));
}

absl::StatusOr<std::vector<absl::string_view>> Split(absl::string_view name) {
  if (name.size() > kMaxNameBytes) return Malformed(name, "too long");
  return std::vector<absl::string_view>(absl::StrSplit(name, '/'));
}

// Moves the segments before the first keyword from `rest` to the instance.
absl::Status TakeInstance(absl::string_view name, Segments* rest, ResourceName* parsed) {
  const auto keyword = std::find_if(rest->begin(), rest->end(), IsKeyword);
  if (keyword == rest->end()) return Malformed(name, "must contain 'blobs' or 'uploads'");
  parsed->instance = absl::StrJoin(rest->begin(), keyword, "/");
  // An empty instance has no segment at all, so "/blobs/..." is malformed.
  if (rest->front().empty()) return Malformed(name, "must not begin with a slash");
  RETURN_IF_ERROR(CheckInstanceName(parsed->instance));
  rest->remove_prefix(keyword - rest->begin());
  return absl::OkStatus();
}

// Takes blobs/{hash}/{size} or compressed-blobs/zstd/{hash}/{size} from the front of `rest`.
absl::Status TakeBlob(absl::string_view name, Segments* rest, ResourceName* parsed) {
  if (rest->empty()) return Malformed(name, "must contain 'blobs' or 'compressed-blobs'");
  const absl::string_view kind = rest->front();
  rest->remove_prefix(1);
  if (kind == "compressed-blobs") {
    if (rest->empty() || rest->front() != "zstd")
      return Malformed(name, "the compressor must be zstd");
    rest->remove_prefix(1);
    parsed->compression = Compression::kZstd;
  } else if (kind != "blobs") {
    return Malformed(name, "expected 'blobs' or 'compressed-blobs'");
  }
  if (rest->size() < 2) return Malformed(name, "the hash or the size is missing");
  cas::Digest digest;
  digest.set_hash(std::string((*rest)[0]));
  const absl::string_view size = (*rest)[1];
  int64_t bytes = 0;
  const bool digits = !size.empty() && std::all_of(size.begin(), size.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || !absl::SimpleAtoi(size, &bytes))
    return Malformed(name, "the size must be a number");
  digest.set_size_bytes(bytes);
  ASSIGN_OR_RETURN(parsed->blob, ToBlobId(digest));
  rest->remove_prefix(2);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInstanceName(absl::string_view instance) {
  if (instance.empty()) return absl::OkStatus();
  if (instance.size() > kMaxInstanceBytes) {
    return absl::InvalidArgumentError("instance name: too long");
  }
  for (const absl::string_view segment : absl::StrSplit(instance, '/')) {
    if (segment.empty() || IsKeyword(segment)) {
      return absl::InvalidArgumentError(
          absl::StrCat("instance name: must not contain the segment ", JsonString(segment)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ResourceName> ParseReadName(absl::string_view name) {
  ASSIGN_OR_RETURN(const std::vector<absl::string_view> segments, Split(name));
  Segments rest(segments);
  ResourceName parsed;
  RETURN_IF_ERROR(TakeInstance(name, &rest, &parsed));
  RETURN_IF_ERROR(TakeBlob(name, &rest, &parsed));
  if (!rest.empty()) return Malformed(name, "unexpected text after the size");
  return parsed;
}

absl::StatusOr<ResourceName> ParseWriteName(absl::string_view name) {
  ASSIGN_OR_RETURN(const std::vector<absl::string_view> segments, Split(name));
  Segments rest(segments);
  ResourceName parsed;
  RETURN_IF_ERROR(TakeInstance(name, &rest, &parsed));
  if (rest.front() != "uploads" || rest.size() < 2) return Malformed(name, "expected 'uploads'");
  parsed.upload = std::string(rest[1]);
  if (parsed.upload.empty() || parsed.upload.size() > kMaxUploadIdBytes) {
    return Malformed(name, "the upload id is empty or too long");
  }
  rest.remove_prefix(2);
  RETURN_IF_ERROR(TakeBlob(name, &rest, &parsed));
  return parsed;  // clients may append anything to the size
}

}  // namespace kernelmill::store
