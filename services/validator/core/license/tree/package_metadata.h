#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_PACKAGE_METADATA_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_PACKAGE_METADATA_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::validator {

// A declaration in a package's metadata, and where it stands.
struct Declaration {
  std::string text;  // "MIT", "License :: OSI Approved :: MIT License", a whole text
  int line = 0;      // 0 where there are no lines
};

// What pyproject.toml ([project] and [tool.poetry]), setup.cfg ([metadata]) or setup.py (arguments
// that are plain strings) declares: `license`, then classifiers. Nothing is evaluated; what is not
// written out is not found. The file's name decides how it is read.
std::vector<Declaration> ReadDeclarations(absl::string_view path, absl::string_view content);

// What the declarations come to: an expression, else a text or name, else the classifiers together;
// none if there are none that say anything. `path` of the file for its evidence; empty: a wheel's.
std::optional<v1::License> ReadDeclared(absl::string_view path,
                                        const std::vector<Declaration>& declarations);

// The metadata of a tree's packages. Keeps pointers into the tree. Not thread-safe.
class PackageMetadata {
 public:
  explicit PackageMetadata(const v1::SourceTree& tree);

  // A wheel's, else that of the nearest folder at or above the file's whose files declare a
  // licence. Below a folder `top` that is not the root, only that of a folder in it.
  std::optional<v1::License> Nearest(absl::string_view path, absl::string_view top = "") const;

 private:
  std::optional<v1::License> wheel_;
  std::map<std::string, v1::License> folders_;
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_PACKAGE_METADATA_H_
