// The elements that pages are made of. Text of repositories is escaped here: a function that takes
// `text` escapes it, one that takes `html` does not.

#include "client/catalog/pages/html_parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/catalog/pages/kernel_page.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {

std::string Section(absl::string_view id, absl::string_view title, absl::string_view html) {
  if (html.empty()) return "";
  return absl::StrCat("<section aria-labelledby=\"", id, "\">\n<h2 id=\"", id, "\">", title,
                      "</h2>\n", html, "</section>\n");
}

std::string Folded(absl::string_view id, absl::string_view title, absl::string_view html) {
  if (html.empty()) return "";
  return absl::StrCat("<details class=\"fold\">\n<summary><h2>", title,
                      "</h2></summary>\n<div id=\"", id, "\">\n", html, "</div>\n</details>\n");
}

std::string Fact(absl::string_view name, absl::string_view html) {
  if (html.empty()) return "";
  return absl::StrCat("<tr><th scope=\"row\">", name, "</th><td>", html, "</td></tr>\n");
}

std::string Facts(absl::string_view rows) {
  return rows.empty() ? "" : absl::StrCat("<table class=\"facts\">\n", rows, "</table>\n");
}

void Bounded::Add(absl::string_view html) {
  // After the first item that does not fit, none is added: a list without gaps is easier to
  // understand.
  if (hidden_ > 0 || html_.size() + html.size() > max_bytes_) {
    ++hidden_;
  } else {
    absl::StrAppend(&html_, html);
  }
}

std::string Bounded::Rest() const {
  if (hidden_ == 0) return "";
  return absl::StrCat("<p class=\"note\">", hidden_, " more are not shown.</p>\n");
}

std::string WideTable(absl::string_view label, const std::vector<std::string>& columns,
                      const Bounded& rows, absl::string_view kind) {
  if (rows.html().empty()) return rows.Rest();
  std::string head;
  for (const std::string& column : columns) {
    absl::StrAppend(&head, "<th scope=\"col\">", column, "</th>");
  }
  return absl::StrCat("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", label,
                      "\">\n<table class=\"", kind, "\">\n<thead><tr>", head,
                      "</tr></thead>\n<tbody>\n", rows.html(), "</tbody>\n</table>\n</div>\n",
                      rows.Rest());
}

std::string Row(const std::vector<std::string>& cells) {
  return absl::StrCat("<tr><td>", absl::StrJoin(cells, "</td><td>"), "</td></tr>\n");
}

std::string Name(absl::string_view text) { return absl::StrCat("<bdi>", Short(text), "</bdi>"); }

std::string Short(absl::string_view text, size_t max) {
  if (text.size() <= max) return HtmlLine(text);
  size_t end = max;
  // Do not cut inside a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(HtmlLine(text.substr(0, end)), "&hellip;");
}

std::string InlineCode(absl::string_view text, size_t max) {
  return text.empty() ? "" : absl::StrCat("<code>", Short(text, max), "</code>");
}

std::string Link(absl::string_view url, absl::string_view text) {
  // A link with another scheme, such as javascript:, could run code.
  if (WebUrl(url).empty()) return Name(text);
  return absl::StrCat("<a href=\"", HtmlLine(url), "\" rel=\"noreferrer\">", Name(text), "</a>");
}

std::string SentenceHtml(absl::string_view text) {
  std::string html;
  bool code = false;
  // Parts between backquotes alternate: text, code, text, ...
  for (const absl::string_view part : absl::StrSplit(text, '`')) {
    html += code ? InlineCode(part, 1000) : Short(part, 2000);
    code = !code;
  }
  return html;
}

std::string KernelLink(absl::string_view root, const CatalogEntry& entry) {
  return absl::StrCat("<a href=\"", root, KernelPagePath(entry.id), "\">", Name(entry.qualname),
                      "</a> <span class=\"quiet\">", Name(entry.repository), " ", Name(entry.path),
                      ":", entry.first_line, "</span>");
}

}  // namespace kernelmill::client
