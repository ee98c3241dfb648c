#include "services/coordinator/core/plan/blob_ref.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/digest.h"

namespace kernelmill::coordinator {
namespace {

constexpr int64_t kMaxItems = int64_t{1}
                              << 31;  // files or kernels of a shard, pairs of a partition

}  // namespace

v1::NamedDigest ToNamedDigest(const BlobRef& ref, absl::string_view name) {
  v1::NamedDigest digest;
  digest.set_name(std::string(name));
  digest.mutable_digest()->set_hash(
      absl::BytesToHexString(absl::string_view(ref.hash.data(), ref.hash.size())));
  digest.mutable_digest()->set_size_bytes(ref.size);
  digest.set_items(ref.items);
  return digest;
}

absl::StatusOr<BlobRef> ToBlobRef(const v1::NamedDigest& digest, absl::string_view name) {
  if (digest.name() != name) {
    return absl::InvalidArgumentError(
        absl::StrCat("output ", JsonString(digest.name()), " where '", name, "' belongs"));
  }
  RETURN_IF_ERROR(Annotate(cas::CheckDigest(digest.digest()), name));
  if (digest.items() < 0 || digest.items() > kMaxItems) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", digest.items(), " items"));
  }
  BlobRef ref;
  const std::string raw = absl::HexStringToBytes(digest.digest().hash());
  std::copy(raw.begin(), raw.end(), ref.hash.begin());
  ref.size = digest.digest().size_bytes();
  ref.items = digest.items();
  return ref;
}

absl::StatusOr<BlobRef> OnlyOutput(const v1::StageResult& result, absl::string_view name) {
  if (result.outputs_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(result.outputs_size(), " outputs where one '", name, "' belongs"));
  }
  return ToBlobRef(result.outputs(0), name);
}

}  // namespace kernelmill::coordinator
