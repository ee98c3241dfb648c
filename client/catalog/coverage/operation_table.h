#ifndef KERNELMILL_CLIENT_CATALOG_COVERAGE_OPERATION_TABLE_H_
#define KERNELMILL_CLIENT_CATALOG_COVERAGE_OPERATION_TABLE_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::client {

// An operation that somebody could want a kernel of, as data; operation_table.cc has all.
struct KnownOperation {
  absl::string_view name;
  absl::string_view list;  // whose it is: aten, kernelbench, seeds
  // What a kernel that does it has: parts joined by " & ", each a choice of "#tag" (an operation's
  // tag; "#untagged": it has none) or a phrase of its names, run together, joined by "|".
  absl::string_view parts;
  absl::string_view near;  // the tag of the operations that are most like it
  bool differentiable;     // so that a backward pass is wanted too
};

absl::Span<const KnownOperation> KnownOperations();

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_COVERAGE_OPERATION_TABLE_H_
