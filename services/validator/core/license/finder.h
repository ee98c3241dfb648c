#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/files.h"
#include "services/validator/core/license/header.h"
#include "services/validator/core/license/package_metadata.h"

namespace kernelmill::validator {

// Says which licence each file of one source is under. What speaks of the file itself comes first:
//   1. its SPDX tags;
//   2. licence texts and notices in its head. One that only names a family ("the BSD-style license
//   found
//      in the LICENSE file") is settled by the licence file; one that speaks of portions of the
//      code adds to what the licence file says;
//   3. the nearest licence file at or above its folder;
//   4. the package's metadata: a wheel's, else the nearest pyproject.toml, setup.cfg or setup.py;
//   5. what the job file says of the source.
// The first that speaks decides, also when it cannot be understood: then the answer is NOASSERTION,
// not the next source's. Keeps pointers into the tree. Not thread-safe.
class LicenseFinder {
 public:
  // `stated`: the job file's word, an SPDX expression; empty: none.
  explicit LicenseFinder(const v1::SourceTree& tree, absl::string_view stated = "");

  // `content` need only be the file's head, if that is all there is.
  v1::License Find(absl::string_view path, absl::string_view content);

 private:
  v1::License Decide(absl::string_view path, const HeaderFindings& header);
  std::optional<v1::License> FromHeader(absl::string_view path, const HeaderFindings& header);
  std::optional<v1::License> FromFamily(absl::string_view path, absl::string_view family);
  std::optional<v1::License> FromFiles(absl::string_view path);
  v1::License FromFilesOrMetadata(absl::string_view path);

  LicenseFiles files_;
  PackageMetadata packages_;
  std::optional<v1::License> stated_;
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_
