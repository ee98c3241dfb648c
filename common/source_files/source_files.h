#ifndef KERNELMILL_COMMON_SOURCE_FILES_SOURCE_FILES_H_
#define KERNELMILL_COMMON_SOURCE_FILES_SOURCE_FILES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::source_files {

// The kinds of files that say something about the code beside them: its licence, notices, what a
// package declares and requires. A file's path gives its kind. The fetcher fetches these files, the
// validator reads them and the client looks for them. All of them ask here, so that no file is read
// that was not fetched.
enum class Kind {
  kOther,
  // LICENSE*, LICENCE*, COPYING* and UNLICENSE* in any case, except code and markup.
  kLicense,
  // A text in a folder LICENSES, to which SPDX tags refer.
  kLicenseText,
  // REUSE.toml and .reuse/dep5, which say which files are under which licence.
  kAnnotations,
  // "a.cu.license", which holds the tags of a.cu (REUSE).
  kSideTags,
  // ADDITIONAL_TERMS*, *_POLICY*, ADDENDUM* and the like: terms beside a licence.
  kTerms,
  // README*, which may take back what the licence beside it grants.
  kReadme,
  // NOTICE* and COPYRIGHT* in any case, except code. It must be passed on with the code, and does
  // not give its licence.
  kNotice,
  // One of kMetadataFiles.
  kMetadata,
};

// In the order in which a licence is looked for in them.
inline constexpr absl::string_view kMetadataFiles[] = {"pyproject.toml", "setup.cfg", "setup.py"};

// Returns the kind of a file. A wheel keeps its project's licences in its records:
// "x.dist-info/licenses/a/LICENSE" counts as "a/LICENSE".
Kind GetKind(absl::string_view path);

// Returns the glob of all files of the path's kind, if the name alone says that the file holds code
// in which kernels are found: of notebooks, of CUDA and HIP, of Metal. Empty for other files. Those
// in Python and C++, and documents, may have nothing to do with kernels.
absl::string_view GlobOfCode(absl::string_view path);

// Returns the folder whose code a file of such a kind is about: its own folder, or the one that
// holds its LICENSES folder.
absl::string_view FolderItIsAbout(absl::string_view path);

// Returns the file that "a.cu.license" has the tags of; empty for other paths.
absl::string_view FileOfSideTags(absl::string_view path);

// A folder of other people's code.
struct VendoredFolder {
  absl::string_view path;       // "third_party/x"; "third_party" of a file right below it
  absl::string_view container;  // "third_party"
  // Its name has no other meaning: third_party, 3rdparty, _vendor. Folders named "vendor",
  // "external", "extern", "deps" and "submodules" may be the project's own.
  bool certain = false;
};

// Returns the innermost such folder that holds the file.
std::optional<VendoredFolder> FindVendoredFolder(absl::string_view path);

// Returns whether a licence file's name, in lower case, says that it covers only code that is
// shipped along: LICENSE-THIRD-PARTY.
bool IsOfThirdParties(absl::string_view name);

// Return whether the file is in a wheel's own records, name-version.dist-info at the top, and
// whether it is the record with the metadata.
bool IsInDistInfo(absl::string_view path);
bool IsWheelMetadata(absl::string_view path);

// Returns the rank, from 0 (the most reliable), of a file that may state which packages a source
// needs: a wheel's METADATA, then pyproject.toml, setup.cfg, setup.py and requirements*.txt at the
// root. Nothing for other files.
std::optional<int> RequirementRank(absl::string_view path);

// Returns the versions of a package that a file with a RequirementRank asks for: the first PEP 440
// specifier next to the package's name, as written except for blanks around it. Empty if there is
// no such specifier.
//
// Nothing is executed or expanded. METADATA, setup.cfg and requirements files are read by lines,
// pyproject.toml and setup.py by their string literals ("triton>=3.0.0"). In pyproject.toml, lines
// that give the name a value (triton = ">=3.0.0") count too.
std::string RequiredVersion(absl::string_view path, absl::string_view content,
                            absl::string_view package);

}  // namespace kernelmill::source_files

#endif  // KERNELMILL_COMMON_SOURCE_FILES_SOURCE_FILES_H_
