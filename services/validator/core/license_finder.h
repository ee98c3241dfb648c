#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license_files.h"
#include "services/validator/core/license_header.h"

namespace kernelmill::validator {

// Says which licence each file of one source is under. What speaks of the file itself comes first:
//   1. its SPDX tags;
//   2. licence texts and notices in its head. One that only names a family ("the BSD-style license
//   found
//      in the LICENSE file") is settled by the licence file; one that speaks of portions of the
//      code adds to what the licence file says;
//   3. the nearest licence file at or above its folder;
//   4. the package's metadata.
// The first that speaks decides, also when it cannot be understood: then the answer is NOASSERTION,
// not the next source's. Keeps pointers into the tree. Not thread-safe.
class LicenseFinder {
 public:
  explicit LicenseFinder(const v1::SourceTree& tree);

  // `content` need only be the file's head, if that is all there is.
  v1::License Find(absl::string_view path, absl::string_view content);

 private:
  std::optional<v1::License> FromHeader(absl::string_view path, const HeaderFindings& header);
  std::optional<v1::License> FromFamily(absl::string_view path, absl::string_view family);
  std::optional<v1::License> FromFiles(absl::string_view path);
  v1::License FromFilesOrMetadata(absl::string_view path);

  LicenseFiles files_;
  std::optional<v1::License> metadata_;
};

// What a package's metadata declares (License-Expression, License, classifiers); none if it says
// nothing.
std::optional<v1::License> ReadDeclaredLicenses(const v1::SourceTree& tree);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_
