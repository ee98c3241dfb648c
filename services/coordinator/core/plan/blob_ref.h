#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_BLOB_REF_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_BLOB_REF_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/action.pb.h"

namespace kernelmill::coordinator {

// A NamedDigest without its name, in a third of the memory: a job may have a million of them.
struct BlobRef {
  std::array<char, 32> hash{};
  int64_t size = 0;
  int64_t items = 0;
};

v1::NamedDigest ToNamedDigest(const BlobRef& ref, absl::string_view name);

// INVALID_ARGUMENT: another name than `name`, not a digest, or no count of items.
absl::StatusOr<BlobRef> ToBlobRef(const v1::NamedDigest& digest, absl::string_view name);

// The output of a stage that promises one alone. INVALID_ARGUMENT too: it has another number.
absl::StatusOr<BlobRef> OnlyOutput(const v1::StageResult& result, absl::string_view name);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_BLOB_REF_H_
