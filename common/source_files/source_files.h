#ifndef KERNELMILL_COMMON_SOURCE_FILES_SOURCE_FILES_H_
#define KERNELMILL_COMMON_SOURCE_FILES_SOURCE_FILES_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace kernelmill::source_files {

// Which files speak of the code beside them, by their paths alone: licences, notices, what a
// package says of itself and what it requires. The fetcher brings these, the validator reads them,
// the client looks for them: all ask here, so that nobody reads what nobody brings.
enum class Kind {
  kOther,
  // LICENSE*, LICENCE*, COPYING* and UNLICENSE* in any case, unless it is code or markup.
  kLicense,
  // In a folder LICENSES: a text that SPDX tags refer to.
  kLicenseText,
  // REUSE.toml and .reuse/dep5: which files are under which licence.
  kAnnotations,
  // "a.cu.license": the tags of a.cu, for which REUSE keeps a file beside it.
  kSideTags,
  // NOTICE* in any case, unless it is code: it must go along, and says nothing of the licence.
  kNotice,
  // One of kMetadataFiles.
  kMetadata,
};

// In the order in which they are asked for a licence.
inline constexpr absl::string_view kMetadataFiles[] = {"pyproject.toml", "setup.cfg", "setup.py"};

// A wheel's records keep the licences of its project: "x.dist-info/licenses/a/LICENSE" is taken for
// "a/LICENSE".
Kind KindOf(absl::string_view path);

// The folder whose code a file of a kind is about: its own, or the one that holds its LICENSES
// folder.
absl::string_view FolderItIsAbout(absl::string_view path);

// The file that "a.cu.license" has the tags of; empty of other paths.
absl::string_view FileOfSideTags(absl::string_view path);

// A folder of other people's code.
struct VendoredFolder {
  absl::string_view path;       // "third_party/x"; "third_party" of a file right below it
  absl::string_view container;  // "third_party"
  // Its name means nothing else: third_party, 3rdparty, _vendor. "vendor", "external", "extern",
  // "deps" and "submodules" may be the project's own.
  bool certain = false;
};

// The innermost that the file lies in.
std::optional<VendoredFolder> VendoredFolderOf(absl::string_view path);

// Whether a licence file's name, in lower case, says that it is of code which is only shipped
// along: LICENSE-THIRD-PARTY.
bool IsOfThirdParties(absl::string_view name);

// Whether it lies in a wheel's own records, name-version.dist-info at the top, and whether it is
// the one that holds its metadata.
bool IsInDistInfo(absl::string_view path);
bool IsWheelMetadata(absl::string_view path);

// The place, from 0, among files that may state which packages a source needs, of which the first
// are to be believed first: a wheel's METADATA, then pyproject.toml, setup.cfg, setup.py and
// requirements*.txt at the root. Nothing for other files.
std::optional<int> RequirementRank(absl::string_view path);

}  // namespace kernelmill::source_files

#endif  // KERNELMILL_COMMON_SOURCE_FILES_SOURCE_FILES_H_
