#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/glob.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/tree/annotations.h"
#include "services/validator/core/license/tree/files.h"
#include "services/validator/core/license/tree/package_metadata.h"
#include "services/validator/core/license/words/header.h"

namespace kernelmill::validator {

// The statements of the job file about a source: its licence and those of some paths, as SPDX
// expressions.
struct StatedLicenses {
  std::string source;  // may be empty
  std::vector<v1::PathLicense> paths;
};

// Finds the licence of each file of one source. The places are asked in this order, and the first
// one that says anything about a licence decides:
//   1. the file's SPDX tags, or those of the ".license" file beside it. A REUSE annotation with
//      precedence "override" comes first; one with "aggregate" adds to whatever is found
//   2. licence texts and notices in its head, all of them together. A notice that names only a
//      family ("the BSD-style license found in the LICENSE file") or only the root's LICENSE file
//      is settled by that file; one about portions of the code adds to the result of 3 to 7
//   3. the job file's statement about the path
//   4. REUSE's other annotations
//   5. the nearest licence file at or above its folder. An aggregate gives its main part, and the
//      parts that list the file or name an origin that the file states
//   6. the package's metadata: a wheel's, else the nearest pyproject.toml, setup.cfg or setup.py
//   7. the job file's statement about the source
// A place that decides but cannot be understood gives NOASSERTION, and no later place is asked: a
// more general place must not replace a more specific one.
//
// For a file in a folder of other people's code (source_files::FindVendoredFolder) nothing above
// that folder is asked if its name is certain, since the source cannot license other people's code.
// If the name is not certain, the source's licence counts with a confidence of at most 0.5.
//
// Keeps pointers into the tree. Not thread-safe.
class LicenseFinder {
 public:
  explicit LicenseFinder(const v1::SourceTree& tree, const StatedLicenses& stated = {});

  // Returns the licence of a file. `content` may be only the file's head. `origins`: the places
  // from which the file says that its code comes; parts of an aggregate may be about them.
  v1::License Find(absl::string_view path, absl::string_view content,
                   const std::vector<std::string>& origins = {});

 private:
  // The file whose licence is looked for.
  struct Subject {
    absl::string_view path;
    absl::string_view top;  // the folder above which nothing is asked; the root is empty
    const std::vector<std::string>& origins;
    std::vector<std::string> copyrights = {};  // the lines of its head
    bool names_place = false;                  // the head has an address of code
  };

  HeaderFindings ReadTagsOrHeader(absl::string_view path, absl::string_view content) const;
  v1::License Decide(const Subject& subject, const HeaderFindings& header);
  v1::License FromStatements(const Subject& subject, const HeaderFindings& header);
  v1::License AddTerms(const Subject& subject, bool states_own, v1::License license);
  std::optional<v1::License> FromHeader(const Subject& subject, const HeaderFindings& header);
  std::optional<v1::License> FromFamily(const Subject& subject, absl::string_view family,
                                        bool root_first);
  std::optional<v1::License> FromRoot(const Subject& subject);
  v1::License FromElsewhere(const Subject& subject);
  bool IsOwnCode(const Subject& subject);
  absl::string_view GetTop(const Subject& subject);

  LicenseFiles files_;
  PackageMetadata packages_;
  Annotations annotations_;
  // by the path of the file that the tags are for
  std::map<absl::string_view, const v1::SourceFile*> side_tags_;
  std::optional<v1::License> stated_;
  std::vector<std::pair<GlobSet, v1::License>> path_licenses_;
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_
