#include "dataset/output/markdown.h"

#include "absl/strings/str_replace.h"

namespace kernelmill::dataset {

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
