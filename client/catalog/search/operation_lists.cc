// Static lists of kernels for readers without scripts. A list's rows are collected until a page is
// full; the page is written when the next row arrives, because only then it is known that another
// page follows and needs a link. Finish writes the last page of each list.

#include "client/catalog/search/operation_lists.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/catalog/search/data_files.h"
#include "client/catalog/web/page.h"
#include "common/base/status.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kRowsOnPage = 500;
constexpr size_t kMaxShown = 200;  // bytes of a name or a path
// Tags come from a fixed table, but a forged file may have more.
constexpr size_t kMaxLists = 200;
constexpr absl::string_view kOther = "other";

// Returns whether a tag can be a file's name.
bool IsListName(absl::string_view tag) {
  return !tag.empty() && tag.size() <= 40 && tag != "index" &&
         std::all_of(tag.begin(), tag.end(), [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
         });
}

// Tags have no dash, so that pages of different lists have different names.
std::string FileName(absl::string_view operation, int page) {
  return page == 1 ? absl::StrCat(operation, ".html") : absl::StrCat(operation, "-", page, ".html");
}

std::string Words(absl::string_view operation) {
  return absl::StrReplaceAll(operation, {{"_", " "}});
}

// Returns one item of a list. A row must not depend on the list, because a kernel's row goes into
// several.
std::string RowHtml(const v1::KernelRow& kernel) {
  const auto shown = [](absl::string_view text) {
    return absl::StrCat("<bdi>", HtmlLine(ShownText(text, kMaxShown)), "</bdi>");
  };
  return absl::StrCat("<li><a href=\"../kernels/", kernel.id().substr(0, 2), "/", kernel.id(),
                      ".html\">", shown(kernel.qualname()), "</a> <span class=\"quiet\">",
                      shown(kernel.repository()), " · ",
                      shown(absl::StrCat(kernel.path(), ":", kernel.first_line())), " · ",
                      shown(kernel.license().expression()), "</span></li>\n");
}

}  // namespace

absl::Status OperationLists::AddRow(const std::string& operation, const std::string& row) {
  List& list = lists_[operation];
  if (list.rows_on_page == kRowsOnPage) RETURN_IF_ERROR(WritePage(operation, list, true));
  list.rows.append(row);
  ++list.rows_on_page;
  ++list.kernels;
  return absl::OkStatus();
}

absl::Status OperationLists::Add(const v1::KernelRow& kernel) {
  const std::string row = RowHtml(kernel);
  bool listed = false;
  for (const std::string& tag : kernel.tags()) {
    // A forged tag could name another file of the site, or make any number of lists.
    if (!IsListName(tag) || (lists_.size() >= kMaxLists && !lists_.contains(tag))) continue;
    RETURN_IF_ERROR(AddRow(tag, row));
    listed = true;
  }
  return listed ? absl::OkStatus() : AddRow(std::string(kOther), row);
}

// Writes the open page of a list and starts the next one. `more`: another page follows, to which
// this one links.
absl::Status OperationLists::WritePage(const std::string& operation, List& list, bool more) {
  const std::string title = absl::StrCat("Kernels: ", Words(operation),
                                         list.page > 1 ? absl::StrCat(", page ", list.page) : "");
  std::string links;
  if (list.page > 1) {
    absl::StrAppend(&links, "<a rel=\"prev\" href=\"", FileName(operation, list.page - 1),
                    "\">← Previous</a> ");
  }
  if (more) {
    absl::StrAppend(&links, "<a rel=\"next\" href=\"", FileName(operation, list.page + 1),
                    "\">Next →</a>");
  }
  const std::string html =
      absl::StrCat(PageHead("../", title), "<h1>", title, "</h1>\n<ol start=\"",
                   (list.page - 1) * kRowsOnPage + 1, "\">\n", list.rows, "</ol>\n",
                   links.empty() ? "" : absl::StrCat("<p>", links, "</p>\n"), PageFoot());
  RETURN_IF_ERROR(
      WriteSiteFile(site_, absl::StrCat("lists/", FileName(operation, list.page)), html));
  list.rows.clear();
  list.rows_on_page = 0;
  ++list.page;
  return absl::OkStatus();
}

std::string OperationLists::Links(absl::string_view root) const {
  std::string html = "<ul class=\"plain columns\">\n";
  for (const auto& [operation, list] : lists_) {
    absl::StrAppend(&html, "<li><a href=\"", root, "lists/", operation, ".html\">",
                    Words(operation), "</a> <span class=\"count\">", list.kernels,
                    "</span></li>\n");
  }
  return absl::StrCat(html, "</ul>\n");
}

absl::Status OperationLists::Finish() {
  lists_.try_emplace(std::string(kOther));  // so that the folder has at least one list
  for (auto& [operation, list] : lists_) RETURN_IF_ERROR(WritePage(operation, list, false));
  return WriteSiteFile(site_, "lists/index.html",
                       absl::StrCat(PageHead("../", "Kernels by operation"),
                                    "<h1>Kernels by operation</h1>\n", Links("../"), PageFoot()));
}

}  // namespace kernelmill::client
