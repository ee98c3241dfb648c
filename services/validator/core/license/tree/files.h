#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_FILES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_FILES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/tree/license_file.h"

namespace kernelmill::validator {

// The licence files of a tree, by folder. A wheel's files under *.dist-info/ belong to its root,
// and those under *.dist-info/licenses/ to the folders that they had in the project. NOTICE files
// are not licences. Keeps pointers into the tree, which must outlive this object. Not thread-safe:
// a folder is read when it is first asked for.
class LicenseFiles {
 public:
  explicit LicenseFiles(const v1::SourceTree& tree);

  // Returns the finding of each folder with licence files, from the file's folder up to `top` (one
  // of its folders, or the root), the nearest first. A folder whose files cannot be understood
  // counts too.
  std::vector<const LicenseFinding*> Above(absl::string_view path, absl::string_view top = "");

  // Returns the finding of the file with this name in one of those folders; null without one.
  const LicenseFinding* Named(absl::string_view path, absl::string_view name);

  // Returns what holds besides the licences, in the files of terms, NOTICE and README files from
  // the file's folder up to `top`: sentences that take something back which the licences grant, as
  // evidence of the rule "residue", and the licences that a README names for its folder. An EULA is
  // an agreement in place of a licence, so it does not count for a file that states its own
  // (`states_own`), or if the licence beside it says for which other paths it is.
  Evidence FindTerms(absl::string_view path, absl::string_view top, bool states_own);

  // Returns the paths of the NOTICE files at or above the file's folder, the nearest first, as
  // UTF-8.
  std::vector<std::string> Notices(absl::string_view path) const;

 private:
  struct Folder {
    std::vector<const v1::SourceFile*> files;     // LICENSE, COPYING and the like, by path
    std::vector<const v1::SourceFile*> variants;  // files in LICENSES/, to which tags refer
    std::vector<const v1::SourceFile*> besides;   // files of terms, NOTICE and README files
    bool read = false;
    bool terms_read = false;
    LicenseFinding finding;
    Evidence terms;
    Evidence agreement;  // the terms in its EULA
  };

  const LicenseFinding* InFolder(const std::string& folder);

  static Evidence ReadTerms(const v1::SourceFile& file);

  std::map<std::string, Folder> folders_;
  std::map<std::string, LicenseFinding> named_;      // by path; read when it is first needed
  std::multimap<std::string, std::string> notices_;  // paths, by folder
};

// Returns what the licence files of a tree that `wanted` accepts say, read like those of one
// folder.
LicenseFinding ReadTogether(const v1::SourceTree& tree,
                            const std::function<bool(const v1::SourceFile&)>& wanted);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_FILES_H_
