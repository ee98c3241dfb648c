#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_HTML_PARTS_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_HTML_PARTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/catalog/relatives/relatives.h"

namespace kernelmill::client {

// Parts of the catalog's pages. A parameter `html` is HTML; all other text is foreign and is
// escaped here.

// Returns a heading with content; empty without content. Links use `id`.
std::string Section(absl::string_view id, absl::string_view title, absl::string_view html);

// Returns a heading that unfolds its content, for evidence that few readers need; empty without
// content. `id` is inside, so that a link to it unfolds the section.
std::string Folded(absl::string_view id, absl::string_view title, absl::string_view html);

// Returns a row of table.facts; empty if `html` is empty.
std::string Fact(absl::string_view name, absl::string_view html);
std::string Facts(absl::string_view rows);

// A list of rows or items with a limit of bytes.
class Bounded {
 public:
  explicit Bounded(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Adds an item. After the first item that does not fit, all are left out.
  void Add(absl::string_view html);
  const std::string& html() const { return html_; }
  // Returns a sentence with the number of items left out; empty if no item is left out.
  std::string Rest() const;

 private:
  const size_t max_bytes_;
  size_t hidden_ = 0;
  std::string html_;
};

// Returns a table in a box that scrolls sideways, with a label; empty without rows.
std::string WideTable(absl::string_view label, const std::vector<std::string>& columns,
                      const Bounded& rows, absl::string_view kind = "grid");
// Returns a row of cells, which are HTML.
std::string Row(const std::vector<std::string>& cells);

// Returns a name in an element of its own, which isolates its text direction.
std::string Name(absl::string_view text);
// Returns at most `max` bytes of text on one line.
std::string Short(absl::string_view text, size_t max = 300);
std::string InlineCode(absl::string_view text, size_t max = 300);
// Returns a link if the URL is on the web; otherwise the text.
std::string Link(absl::string_view url, absl::string_view text);

// Returns a sentence of a description. Text between backquotes is code.
std::string SentenceHtml(absl::string_view text);

// Returns a link to a kernel's page, with the kernel's place. `root` leads to the site's folder.
std::string KernelLink(absl::string_view root, const CatalogEntry& entry);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_HTML_PARTS_H_
