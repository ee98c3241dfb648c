#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_PACKAGE_INDEX_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_PACKAGE_INDEX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/core/rate_floor.h"

namespace kernelmill::fetcher {

// Returns the URL of the package index to use: `option` if it is not empty, else what pip would use
// here: PIP_INDEX_URL, index-url in pip's configuration files, and at last pip's own default. This
// project names no registry of its own. FAILED_PRECONDITION: there is no index; the message says
// how to set one.
absl::StatusOr<std::string> ResolvePackageIndex(const std::string& option);

// Returns index-url in the text of a pip configuration file; empty if it is not set.
std::string IndexInPipConfig(absl::string_view text);

// A file that a simple package index (PEP 503 and 691) offers.
struct IndexFile {
  std::string filename;
  std::string url;     // absolute
  std::string sha256;  // 64 lowercase hexadecimal digits; empty if the index gives none
  bool yanked = false;
};

// Returns a project's name in the normalized form of PEP 503.
std::string NormalizeProjectName(absl::string_view name);

// Return the files in a project's page at `url`. Malformed entries are dropped. DATA_LOSS: not the
// JSON of the simple API.
absl::StatusOr<std::vector<IndexFile>> ParseIndexJson(const std::string& body,
                                                      const std::string& url);
std::vector<IndexFile> ParseIndexHtml(const std::string& body, const std::string& url);

// Asks the index for a project's files. NOT_FOUND: it has no such project. Other errors: as HttpGet
// and HttpStatus.
absl::StatusOr<std::vector<IndexFile>> ListProject(const std::string& index_url,
                                                   absl::string_view name, const HostPolicy& hosts,
                                                   absl::Duration timeout, const LowestRate& rate);

// Returns whether plain HTTP may be used for the index and its files: only if the index's own URL
// does.
bool AllowsPlainHttp(const std::string& index_url);

// A package's name and its exact version.
struct PackageName {
  std::string name;
  std::string version;
};

// Parses name==version. INVALID_ARGUMENT: another form.
absl::StatusOr<PackageName> ParsePackage(absl::string_view package);

// Returns the wheel to take: the one with `sha256` if it is given. Else non-yanked wheels come
// first, then those for any Python 3 (py3-none-any), other pure ones (*-none-any) and compiled
// ones, then the lowest filename. NOT_FOUND: the version has no wheel; FAILED_PRECONDITION: no
// wheel has the hash.
absl::StatusOr<IndexFile> ChooseWheel(const std::vector<IndexFile>& files,
                                      const PackageName& package, absl::string_view sha256);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_PACKAGE_INDEX_H_
