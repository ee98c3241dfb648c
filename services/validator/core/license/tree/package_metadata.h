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

// A declaration in a package's metadata, and its line.
struct Declaration {
  std::string text;      // "MIT", "License :: OSI Approved :: MIT License", a whole text
  int line = 0;          // 0 if there are no lines
  bool is_file = false;  // the text is the name of a file that has the licence, or a glob (PEP 639)
};

// Returns the declarations of pyproject.toml ([project], [tool.poetry], [tool.setuptools]),
// setup.cfg ([metadata]) or setup.py (arguments that are plain strings): `license` first, then
// classifiers and the names of licence files. Nothing is evaluated, so only values that are written
// out are found. The file's name decides how it is read.
std::vector<Declaration> ReadDeclarations(absl::string_view path, absl::string_view content);

// Returns the licence that the declarations give: an expression, else a text or name, else all
// classifiers together; nothing if none of them says anything. A name of a licence file says that
// there is a licence, and not which one. `path`: the file, for the evidence; empty for a wheel's
// metadata.
std::optional<v1::License> ReadDeclared(absl::string_view path,
                                        const std::vector<Declaration>& declarations);

// The licences that the metadata of a tree's packages declares. Not thread-safe.
class PackageMetadata {
 public:
  explicit PackageMetadata(const v1::SourceTree& tree);

  // Returns a wheel's licence, else that of the nearest folder at or above the file's with such a
  // file. If `top` is not the root, only folders within `top` count.
  std::optional<v1::License> Nearest(absl::string_view path, absl::string_view top = "") const;

 private:
  std::optional<v1::License> wheel_;
  std::map<std::string, v1::License> folders_;
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_PACKAGE_METADATA_H_
