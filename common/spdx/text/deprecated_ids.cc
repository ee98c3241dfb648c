#include "common/spdx/text/deprecated_ids.h"

#include "absl/strings/match.h"

namespace kernelmill::spdx {
namespace {

// The deprecated identifiers of the SPDX list, in its order. GNU licences were renamed to say -only
// or -or-later; the others name a licence with an exception, or a newer name of the same text.
constexpr DeprecatedId kDeprecated[] = {
    {"AGPL-1.0", "AGPL-1.0-only", ""},
    {"AGPL-3.0", "AGPL-3.0-only", ""},
    {"BSD-2-Clause-FreeBSD", "BSD-2-Clause", ""},
    {"BSD-2-Clause-NetBSD", "BSD-2-Clause", ""},
    {"bzip2-1.0.5", "bzip2-1.0.6", ""},
    {"eCos-2.0", "GPL-2.0-or-later", "eCos-exception-2.0"},
    {"GFDL-1.1", "GFDL-1.1-only", ""},
    {"GFDL-1.2", "GFDL-1.2-only", ""},
    {"GFDL-1.3", "GFDL-1.3-only", ""},
    {"GPL-1.0", "GPL-1.0-only", ""},
    {"GPL-1.0+", "GPL-1.0-or-later", ""},
    {"GPL-2.0", "GPL-2.0-only", ""},
    {"GPL-2.0+", "GPL-2.0-or-later", ""},
    {"GPL-2.0-with-autoconf-exception", "GPL-2.0-only", "Autoconf-exception-2.0"},
    {"GPL-2.0-with-bison-exception", "GPL-2.0-only", "Bison-exception-2.2"},
    {"GPL-2.0-with-classpath-exception", "GPL-2.0-only", "Classpath-exception-2.0"},
    {"GPL-2.0-with-font-exception", "GPL-2.0-only", "Font-exception-2.0"},
    {"GPL-2.0-with-GCC-exception", "GPL-2.0-only", "GCC-exception-2.0"},
    {"GPL-3.0", "GPL-3.0-only", ""},
    {"GPL-3.0+", "GPL-3.0-or-later", ""},
    {"GPL-3.0-with-autoconf-exception", "GPL-3.0-only", "Autoconf-exception-3.0"},
    {"GPL-3.0-with-GCC-exception", "GPL-3.0-only", "GCC-exception-3.1"},
    {"LGPL-2.0", "LGPL-2.0-only", ""},
    {"LGPL-2.0+", "LGPL-2.0-or-later", ""},
    {"LGPL-2.1", "LGPL-2.1-only", ""},
    {"LGPL-2.1+", "LGPL-2.1-or-later", ""},
    {"LGPL-3.0", "LGPL-3.0-only", ""},
    {"LGPL-3.0+", "LGPL-3.0-or-later", ""},
    {"Net-SNMP", "Net-SNMP", ""},
    {"Nunit", "Nunit", ""},
    {"StandardML-NJ", "SMLNJ", ""},
    {"wxWindows", "LGPL-2.0-or-later", "WxWindows-exception-3.1"},
};

}  // namespace

// Returns null if the id is not deprecated. A linear search over some thirty entries.
const DeprecatedId* FindDeprecatedId(absl::string_view id) {
  for (const DeprecatedId& deprecated : kDeprecated) {
    if (absl::EqualsIgnoreCase(deprecated.old_id, id)) return &deprecated;
  }
  return nullptr;
}

}  // namespace kernelmill::spdx
