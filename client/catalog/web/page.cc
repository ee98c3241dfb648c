// The frame of all pages: head, navigation and foot, with placeholders in the form @NAME@. Each
// page names its way to the site's folder (@ROOT@), because a site that is opened from a folder has
// no absolute paths.

#include "client/catalog/web/page.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

// Both end without a line break. @ROOT@ leads to the site's folder.
constexpr absl::string_view kMeta = R"(<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="@POLICY@">
<title>@TITLE@</title>
<link rel="icon" href="@ROOT@assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="@ROOT@assets/site.css">)";

constexpr absl::string_view kNavigation = R"(<header class="top">
<a class="home" href="@ROOT@index.html">kernelmill catalog</a>
<nav aria-label="Site">
<a href="@ROOT@index.html">Search</a>
<a href="@ROOT@lists/index.html">Operations</a>
<a href="@ROOT@learn.html">Learn</a>
<a href="@ROOT@coverage.html">Coverage</a>
</nav>
</header>)";

constexpr absl::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
@META@
<script src="@ROOT@assets/kernel.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
@NAV@
<main id="main">
)";

std::string Meta(absl::string_view root, absl::string_view title) {
  return absl::StrReplaceAll(
      kMeta, {{"@ROOT@", root}, {"@TITLE@", HtmlLine(title)}, {"@POLICY@", kContentPolicy}});
}

// The first link of the navigation, which leads home, has a class before its address, and is not
// marked.
std::string Navigation(absl::string_view root, absl::string_view current) {
  const std::string link = absl::StrCat("<a href=\"@ROOT@", current, "\"");
  return absl::StrReplaceAll(
      absl::StrReplaceAll(kNavigation, {{link, absl::StrCat(link, " aria-current=\"page\"")}}),
      {{"@ROOT@", root}});
}

}  // namespace

std::string PageHead(absl::string_view root, absl::string_view title, absl::string_view current) {
  return absl::StrReplaceAll(
      kHead,
      {{"@META@", Meta(root, title)}, {"@NAV@", Navigation(root, current)}, {"@ROOT@", root}});
}

std::string PageFoot() { return "</main>\n</body>\n</html>\n"; }

// The template comes from the front end's build; see kIndexTemplate.
std::string IndexPage(absl::string_view title, absl::string_view overview,
                      absl::string_view noscript) {
  return absl::StrReplaceAll(kIndexTemplate, {{"@META@", Meta("", title)},
                                              {"@NAV@", Navigation("", "index.html")},
                                              {"@TITLE@", HtmlLine(title)},
                                              {"@OVERVIEW@", overview},
                                              {"@NOSCRIPT@", noscript}});
}

absl::Status WriteAssets(const std::string& site) {
  for (const Asset& asset : kAssets) {
    RETURN_IF_ERROR(WriteSiteFile(site, absl::StrCat("assets/", asset.name), asset.bytes));
  }
  return absl::OkStatus();
}

absl::Status WriteSiteFile(const std::string& site, absl::string_view path,
                           absl::string_view content) {
  // Writers bound their files, so a larger file is an error in this program.
  if (content.size() > kMaxSiteFile) {
    return absl::InternalError(absl::StrCat(
        path, " has ", content.size(), " bytes; the limit for a file of a site is ", kMaxSiteFile));
  }
  const std::filesystem::path file = absl::StrCat(site, "/", path);
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) return ErrnoStatus(error.value(), file.parent_path().string());
  FileDescriptor descriptor(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) return ErrnoStatus(errno, file.string());
  RETURN_IF_ERROR(WriteAll(descriptor.get(), content, file.string()));
  // Some file systems report a full disk only when a file is closed.
  return descriptor.Close() == 0 ? absl::OkStatus() : ErrnoStatus(errno, file.string());
}

}  // namespace kernelmill::client
