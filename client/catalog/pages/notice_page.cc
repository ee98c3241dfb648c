#include "absl/strings/str_cat.h"
#include "client/catalog/pages/html_parts.h"
#include "client/catalog/pages/site_pages.h"
#include "client/catalog/web/page.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxText = 150'000;  // bytes: of quotes alone six times as much HTML

}  // namespace

std::string NoticePage(const Notice& notice) {
  absl::string_view text = notice.text;
  const bool cut = text.size() > kMaxText;
  if (cut) text = text.substr(0, text.rfind('\n', kMaxText));
  return absl::StrCat(PageHead("../", absl::StrCat(notice.path, ", ", notice.repository)), "<h1>",
                      Name(notice.path), "</h1>\n<p>", Link(notice.url, notice.repository),
                      "</p>\n<pre class=\"prose\">\n", HtmlCode(text.substr(0, kMaxText)),
                      "</pre>\n", cut ? "<p class=\"note\">The rest is not shown.</p>\n" : "",
                      PageFoot());
}

}  // namespace kernelmill::client
