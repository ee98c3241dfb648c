#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/tree/annotations.h"
#include "services/validator/core/license/tree/files.h"
#include "services/validator/core/license/tree/package_metadata.h"
#include "services/validator/core/license/words/header.h"

namespace kernelmill::validator {

// Says which licence each file of one source is under. What speaks of the file itself comes first:
//   1. its SPDX tags, or those of the ".license" file beside it; an annotation of REUSE that
//      overrides them comes before, one that is an aggregate adds to whatever is found;
//   2. licence texts and notices in its head, all of them together. One that names only a family
//      ("the BSD-style license found in the LICENSE file") or only the root's LICENSE file is
//      settled by that file; one that speaks of portions of the code adds to what 3 to 6 say;
//   3. REUSE's annotations;
//   4. the nearest licence file at or above its folder. Of an aggregate the main part, and the part
//      that lists the file or names where the file says that its code comes from;
//   5. the package's metadata: a wheel's, else the nearest pyproject.toml, setup.cfg or setup.py;
//   6. what the job file says of the source.
// The first that speaks decides, also when it cannot be understood: then the answer is NOASSERTION,
// not the next one's.
//
// A file in a folder of other people's code (source_files::VendoredFolderOf) is asked for no
// further than that folder if its name is certain: the source's licence was not theirs to give.
// Where the name may mean something else, the source's counts with a confidence of at most 0.5.
//
// Keeps pointers into the tree. Not thread-safe.
class LicenseFinder {
 public:
  // `stated`: the job file's word, an SPDX expression; empty: none.
  explicit LicenseFinder(const v1::SourceTree& tree, absl::string_view stated = "");

  // `content` need only be the file's head, if that is all there is. `origins`: where the file says
  // that its code comes from, of which parts of an aggregate may speak.
  v1::License Find(absl::string_view path, absl::string_view content,
                   const std::vector<std::string>& origins = {});

 private:
  // A file that is being asked about.
  struct Subject {
    absl::string_view path;
    absl::string_view top;  // the folder above which nothing is asked; the root is empty
    const std::vector<std::string>& origins;
  };

  HeaderFindings ReadTagsOrHeader(absl::string_view path, absl::string_view content) const;
  v1::License Decide(const Subject& subject, const HeaderFindings& header);
  std::optional<v1::License> FromHeader(const Subject& subject, const HeaderFindings& header);
  std::optional<v1::License> FromFamily(const Subject& subject, absl::string_view family,
                                        bool root_first);
  std::optional<v1::License> FromRoot(const Subject& subject);
  v1::License FromElsewhere(const Subject& subject);

  LicenseFiles files_;
  PackageMetadata packages_;
  Annotations annotations_;
  std::map<absl::string_view, const v1::SourceFile*> side_tags_;  // by the file that they are of
  std::optional<v1::License> stated_;
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FINDER_H_
