#include "services/cli/catalog/web/page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/status.h"
#include "services/cli/catalog/web/assets.h"
#include "services/cli/catalog/web/site_file.h"
#include "services/cli/text/html_text.h"

namespace kernelmill::cli {
namespace {

constexpr absl::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="@POLICY@">
<title>@TITLE@</title>
<link rel="icon" href="@ROOT@assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="@ROOT@assets/site.css">
<script src="@ROOT@assets/kernel.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="home" href="@ROOT@index.html">kernelmill catalog</a>
<nav aria-label="Site">
<a href="@ROOT@index.html">Search</a>
<a href="@ROOT@lists/index.html">Operations</a>
<a href="@ROOT@learn.html">Learn</a>
<a href="@ROOT@coverage.html">Coverage</a>
</nav>
</header>
<main id="main">
)";

}  // namespace

std::string PageHead(absl::string_view root, absl::string_view title) {
  return absl::StrReplaceAll(
      kHead, {{"@ROOT@", root}, {"@TITLE@", HtmlLine(title)}, {"@POLICY@", kContentPolicy}});
}

std::string PageFoot() { return "</main>\n</body>\n</html>\n"; }

std::string IndexPage(absl::string_view title, absl::string_view noscript) {
  return absl::StrReplaceAll(
      kIndexTemplate,
      {{"@TITLE@", HtmlLine(title)}, {"@POLICY@", kContentPolicy}, {"@NOSCRIPT@", noscript}});
}

absl::Status WriteAssets(const std::string& site) {
  for (const Asset& asset : kAssets) {
    RETURN_IF_ERROR(WriteSiteFile(site, absl::StrCat("assets/", asset.name), asset.bytes));
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::cli
