#ifndef KERNELMILL_COMMON_SPDX_TEXT_DEPRECATED_IDS_H_
#define KERNELMILL_COMMON_SPDX_TEXT_DEPRECATED_IDS_H_

#include "absl/strings/string_view.h"

namespace kernelmill::spdx {

// A deprecated identifier of the SPDX list and what replaces it: a licence, and for some what then
// stands after WITH.
struct DeprecatedId {
  const char* old_id;
  const char* id;
  const char* exception;
};

// Null if the list does not deprecate it; letter case does not matter. "Net-SNMP" and the like,
// which nothing replaces, stand for themselves.
const DeprecatedId* FindDeprecatedId(absl::string_view id);

}  // namespace kernelmill::spdx

#endif  // KERNELMILL_COMMON_SPDX_TEXT_DEPRECATED_IDS_H_
