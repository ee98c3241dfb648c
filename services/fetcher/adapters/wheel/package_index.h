#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_PACKAGE_INDEX_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_PACKAGE_INDEX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// A file that a simple package index (PEP 503 and 691) offers.
struct IndexFile {
  std::string filename;
  std::string url;     // absolute
  std::string sha256;  // 64 lowercase hexadecimal digits; empty if the index gives none
  bool yanked = false;
};

// A project's name in the one form that PEP 503 gives it.
std::string NormalizeProjectName(absl::string_view name);

// The files in a project's page at `url`. Entries that make no sense are left out. DATA_LOSS: not
// JSON of the simple API.
absl::StatusOr<std::vector<IndexFile>> ParseIndexJson(const std::string& body,
                                                      const std::string& url);
std::vector<IndexFile> ParseIndexHtml(const std::string& body, const std::string& url);

// Asks the index for a project's files. NOT_FOUND: it has no such project; else as HttpGet and
// HttpStatus.
absl::StatusOr<std::vector<IndexFile>> ListProject(const std::string& index_url,
                                                   absl::string_view name);

// Where the index and the files that it names may be fetched from: plain HTTP only if the index
// itself is.
bool AllowsPlainHttp(const std::string& index_url);

struct PackageName {
  std::string name;
  std::string version;
};

// name==version. INVALID_ARGUMENT: it is not that.
absl::StatusOr<PackageName> ParsePackage(absl::string_view package);

// The one wheel of the version to take: that with `sha256` if it is given; else what is not yanked
// before what is, for any Python 3 (py3-none-any) before other pure ones (*-none-any) before
// compiled ones, and then by the least file name. NOT_FOUND: there is no wheel of that version;
// FAILED_PRECONDITION: none has the hash.
absl::StatusOr<IndexFile> ChooseWheel(const std::vector<IndexFile>& files,
                                      const PackageName& package, absl::string_view sha256);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_PACKAGE_INDEX_H_
