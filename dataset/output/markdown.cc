#include "dataset/output/markdown.h"

#include "absl/strings/str_replace.h"
#include "common/text/safe_text.h"

namespace kernelmill::dataset {

// Texts of others (names, licences, paths) go into tables, so everything that could end the cell,
// start a link or become HTML is escaped. GitHub makes links of bare addresses too.
std::string MarkdownCell(absl::string_view text) {
  return absl::StrReplaceAll(SafeLine(absl::StrReplaceAll(text, {{"\r", " "}, {"\n", " "}})),
                             {{"\\", "\\\\"},
                              {"://", "&#58;//"},
                              {"www.", "www&#46;"},
                              {"@", "&#64;"},
                              {"|", "\\|"},
                              {"`", "\\`"},
                              {"*", "\\*"},
                              {"_", "\\_"},
                              {"[", "\\["},
                              {"<", "&lt;"},
                              {"&", "&amp;"}});
}

}  // namespace kernelmill::dataset
