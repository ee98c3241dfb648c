#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_HTML_PARTS_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_HTML_PARTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/catalog/relatives/overview.h"

namespace kernelmill::client {

// Parts that the catalog's pages are made of. What is called `html` goes in as it is; all else is
// text of strangers, which is escaped here.

// A heading and what is below it; nothing where that is nothing. `id` is what links name.
std::string Section(absl::string_view id, absl::string_view title, absl::string_view html);

// A row of table.facts; nothing where `html` is nothing.
std::string Fact(absl::string_view name, absl::string_view html);
std::string Facts(absl::string_view rows);

// Rows or items up to a bound of bytes.
class Bounded {
 public:
  explicit Bounded(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Nothing more is taken once something did not fit.
  void Add(absl::string_view html);
  const std::string& html() const { return html_; }
  // A sentence on how many did not fit; nothing where all did.
  std::string Rest() const;

 private:
  const size_t max_bytes_;
  size_t hidden_ = 0;
  std::string html_;
};

// A table in a box that scrolls sideways; `label` says what it is. Nothing without rows.
std::string WideTable(absl::string_view label, const std::vector<std::string>& columns,
                      const Bounded& rows, absl::string_view kind = "facts");
// A row of cells that are HTML.
std::string Row(const std::vector<std::string>& cells);

// A name in an element of its own, so that its letters turn no others.
std::string Name(absl::string_view text);
// On one line, at most `max` bytes of it.
std::string Short(absl::string_view text, size_t max = 300);
std::string InlineCode(absl::string_view text, size_t max = 300);
// A link where the URL is the web's, else the text alone.
std::string Link(absl::string_view url, absl::string_view text);

// A sentence of a description: what stands between backquotes is code.
std::string SentenceHtml(absl::string_view text);

// Links to a kernel's page from a page `root` away from the site's folder, with its place.
std::string KernelLink(absl::string_view root, const CatalogEntry& entry);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_HTML_PARTS_H_
