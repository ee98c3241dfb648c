#include "dataset/output/markdown.h"

#include "absl/strings/str_replace.h"

namespace kernelmill::dataset {

// Texts of others (names, licences, paths) go into tables, so everything that could end the cell,
// start a link or become HTML is escaped.
std::string MarkdownCell(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"},
                                    {"|", "\\|"},
                                    {"`", "\\`"},
                                    {"*", "\\*"},
                                    {"_", "\\_"},
                                    {"[", "\\["},
                                    {"<", "&lt;"},
                                    {"&", "&amp;"},
                                    {"\r", " "},
                                    {"\n", " "}});
}

}  // namespace kernelmill::dataset
