// Static lists of kernels for readers without scripts. Add notes the numbers of a list's kernels;
// Finish sorts them and reads the rows that results of a search show, page by page.

#include "client/catalog/search/operation_lists.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/catalog/search/data_files.h"
#include "client/catalog/web/page.h"
#include "common/base/status.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kRowsOnPage = 500;
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

std::string OperationWords(absl::string_view operation) {
  return absl::StrReplaceAll(operation, {{"_", " "}});
}

// Returns one item of a list. Fields of a row are separated by tabs and are safe to show.
std::string ItemHtml(absl::string_view row) {
  const std::vector<absl::string_view> fields = absl::StrSplit(row, '\t');
  const auto shown = [](absl::string_view text) {
    return absl::StrCat("<bdi>", HtmlLine(text), "</bdi>");
  };
  const absl::string_view id = fields[0];
  return absl::StrCat("<li><a href=\"../kernels/", id.substr(0, 2), "/", id, ".html\">",
                      shown(fields[1]), "</a> <span class=\"quiet\">", shown(fields[2]), " · ",
                      shown(absl::StrCat(fields[3], ":", fields[4])), " · ", shown(fields[6]),
                      "</span></li>\n");
}

}  // namespace

void OperationLists::Add(const v1::KernelRow& kernel) {
  const uint32_t number = added_++;
  bool listed = false;
  for (const std::string& tag : kernel.tags()) {
    // A forged tag could name another file of the site, or make any number of lists.
    if (!IsListName(tag) || (lists_.size() >= kMaxLists && !lists_.contains(tag))) continue;
    lists_[tag].push_back(number);
    listed = true;
  }
  if (!listed) lists_[std::string(kOther)].push_back(number);
}

absl::Status OperationLists::WriteList(const std::string& operation,
                                       const std::vector<uint32_t>& kernels,
                                       TempRecords& rows) const {
  size_t begin = 0;
  int page = 1;
  do {
    const size_t end = std::min(begin + kRowsOnPage, kernels.size());
    std::string items;
    for (size_t i = begin; i < end; ++i) {
      ASSIGN_OR_RETURN(const std::string row, rows.Read(kernels[i]));
      items += ItemHtml(row);
    }
    const std::string title = absl::StrCat("Kernels: ", OperationWords(operation),
                                           page > 1 ? absl::StrCat(", page ", page) : "");
    std::string links;
    if (page > 1) {
      absl::StrAppend(&links, "<a rel=\"prev\" href=\"", FileName(operation, page - 1),
                      "\">← Previous</a> ");
    }
    if (end < kernels.size()) {
      absl::StrAppend(&links, "<a rel=\"next\" href=\"", FileName(operation, page + 1),
                      "\">Next →</a>");
    }
    RETURN_IF_ERROR(WriteSiteFile(
        site_, absl::StrCat("lists/", FileName(operation, page)),
        absl::StrCat(PageHead("../", title), "<h1>", title, "</h1>\n<ol class=\"kernels\" start=\"",
                     begin + 1, "\">\n", items, "</ol>\n",
                     links.empty() ? "" : absl::StrCat("<p>", links, "</p>\n"), PageFoot())));
    begin = end;
    ++page;
  } while (begin < kernels.size());
  return absl::OkStatus();
}

std::string OperationLists::Links(absl::string_view root) const {
  std::string html = "<ul class=\"plain columns\">\n";
  for (const auto& [operation, kernels] : lists_) {
    absl::StrAppend(&html, "<li><a href=\"", root, "lists/", operation, ".html\">",
                    OperationWords(operation), "</a> <span class=\"count\">", kernels.size(),
                    "</span></li>\n");
  }
  return absl::StrCat(html, "</ul>\n");
}

// Kernels of equal standing stay in the dataset's order.
absl::Status OperationLists::Finish(TempRecords& rows, const std::vector<uint32_t>& standings) {
  lists_.try_emplace(std::string(kOther));  // so that the folder has at least one list
  for (auto& [operation, kernels] : lists_) {
    std::stable_sort(kernels.begin(), kernels.end(),
                     [&](uint32_t a, uint32_t b) { return standings[a] > standings[b]; });
    RETURN_IF_ERROR(WriteList(operation, kernels, rows));
  }
  return WriteSiteFile(site_, "lists/index.html",
                       absl::StrCat(PageHead("../", "Kernels by operation", "lists/index.html"),
                                    "<h1>Kernels by operation</h1>\n", Links("../"), PageFoot()));
}

}  // namespace kernelmill::client
