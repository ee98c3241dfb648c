#ifndef KERNELMILL_CLIENT_CATALOG_WEB_PAGE_H_
#define KERNELMILL_CLIENT_CATALOG_WEB_PAGE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::client {

// What a page of the site may load: scripts, styles and pictures that lie beside it, nothing from
// elsewhere, and nothing written into the page itself. `file:` stands beside 'self', since browsers
// differ on what 'self' is of a page that was opened from a folder.
inline constexpr absl::string_view kContentPolicy =
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; "
    "base-uri 'none'; form-action 'none'";

// A static page up to where its content begins, in <main>. `root` leads from the page to the site's
// folder, such as "../../". `title` is escaped here.
std::string PageHead(absl::string_view root, absl::string_view title);
std::string PageFoot();

// The first page: the search, what it finds made by its script. `title` as above; `noscript` is
// HTML, what a reader without scripts gets instead.
std::string IndexPage(absl::string_view title, absl::string_view noscript);

// Writes what the pages need into the folder `site`: assets/.
absl::Status WriteAssets(const std::string& site);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_WEB_PAGE_H_
