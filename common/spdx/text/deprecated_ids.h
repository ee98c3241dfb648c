#ifndef KERNELMILL_COMMON_SPDX_TEXT_DEPRECATED_IDS_H_
#define KERNELMILL_COMMON_SPDX_TEXT_DEPRECATED_IDS_H_

#include "absl/strings/string_view.h"

namespace kernelmill::spdx {

// A deprecated identifier of the SPDX list and what replaces it: a licence, and for some an
// exception to write after WITH.
struct DeprecatedId {
  const char* old_id;
  const char* id;
  const char* exception;
};

// Returns the entry of a deprecated identifier, in any letter case; null if the list does not
// deprecate it. "Net-SNMP" and other identifiers without a successor replace themselves.
const DeprecatedId* FindDeprecatedId(absl::string_view id);

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_TEXT_DEPRECATED_IDS_H_
