#ifndef KERNELMILL_CLIENT_CATALOG_WEB_PAGE_H_
#define KERNELMILL_CLIENT_CATALOG_WEB_PAGE_H_

#include <array>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::client {

inline constexpr size_t kMaxSiteFile = 1 << 20;  // a size that page hosts and phones handle well

// Writes a file of a site at `path` below the folder `site`, and creates its folders. It does not
// sync: a site can be made again. INTERNAL: the file is larger than kMaxSiteFile.
absl::Status WriteSiteFile(const std::string& site, absl::string_view path,
                           absl::string_view content);

// A file of the front end.
struct Asset {
  absl::string_view name;
  absl::string_view bytes;
};

// The front end, bundled by esbuild when this program was built (assets.cmake).
extern const std::array<Asset, 4> kAssets;

// index.html with the placeholders @META@, @NAV@, @TITLE@, @OVERVIEW@ and @NOSCRIPT@.
extern const absl::string_view kIndexTemplate;

// The content policy of a page: it loads scripts, styles and pictures of the site only, and nothing
// inline. It names `file:` beside 'self' because browsers differ on 'self' for a page opened from a
// folder.
inline constexpr absl::string_view kContentPolicy =
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; "
    "base-uri 'none'; form-action 'none'";

// Returns the begin of a static page, up to its content in <main>. `root` leads from the page to
// the site's folder, such as "../../". `title` is escaped here. `current` is the page of the
// navigation that is marked as shown, such as "learn.html"; a page below none has none.
std::string PageHead(absl::string_view root, absl::string_view title,
                     absl::string_view current = "");
std::string PageFoot();

// Returns the first page: the search, filled by its script. `title` is escaped here; `overview` is
// HTML about the dataset, and `noscript` HTML for readers without scripts.
std::string IndexPage(absl::string_view title, absl::string_view overview,
                      absl::string_view noscript);

// Writes the assets of the pages into the folder `site`: assets/.
absl::Status WriteAssets(const std::string& site);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_WEB_PAGE_H_
