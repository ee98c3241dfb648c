#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FILES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FILES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/evidence.h"

namespace kernelmill::validator {

using spdx::kNoAssertion;
using spdx::SpdxExpression;

// What a licence text, or a folder's licence files together, come to.
struct LicenseFinding {
  std::optional<SpdxExpression> license;  // none: not recognized
  double confidence = 0;
  std::string path;  // of the file that says so, as it was given; the first of several
  Evidence evidence;
  std::vector<std::string> copyrights;  // see attribution.h
};

// Reads a LICENSE file's text: full texts, else a notice, else a bare name.
LicenseFinding ReadLicenseFile(absl::string_view text);

// The licence files of a tree by folder. A wheel's files under *.dist-info/ stand for its root, and
// those under *.dist-info/licenses/ for the folders that they had in the project. NOTICE files are
// no licences. Keeps pointers into the tree, which must outlive it. Not thread-safe: folders are
// read once, when they are first asked for.
class LicenseFiles {
 public:
  explicit LicenseFiles(const v1::SourceTree& tree);

  // That of the nearest folder at or above the file's which has licence files; null if none has. A
  // folder whose files say nothing intelligible counts too: what stands above it is then not asked.
  const LicenseFinding* Nearest(absl::string_view path);

  // That of the root folder, or null.
  const LicenseFinding* Root() { return InFolder(""); }

  // Paths of the NOTICE files at or above the file's folder, the nearest first; as UTF-8.
  std::vector<std::string> Notices(absl::string_view path) const;

 private:
  struct Folder {
    std::vector<const v1::SourceFile*> files;     // LICENSE, COPYING and the like, by path
    std::vector<const v1::SourceFile*> variants;  // of LICENSES/: texts that tags refer to
    bool read = false;
    LicenseFinding finding;
  };

  const LicenseFinding* InFolder(const std::string& folder);

  std::map<std::string, Folder> folders_;
  std::multimap<std::string, std::string> notices_;  // paths by folder
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_FILES_H_
