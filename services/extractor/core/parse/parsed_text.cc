#include "services/extractor/core/parse/parsed_text.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "services/extractor/core/parse/bracket_repair.h"

namespace kernelmill::extractor {

absl::StatusOr<std::unique_ptr<const ParsedText>> ParsedText::Parse(absl::string_view text,
                                                                    const PythonParser& parser) {
  std::unique_ptr<ParsedText> parsed(new ParsedText(text));
  ASSIGN_OR_RETURN(SyntaxTree tree, parsed->ParseTolerantly(parser));
  parsed->tree_.emplace(std::move(tree));
  parsed->imports_.emplace(*parsed->tree_);
  parsed->calls_.emplace(*parsed->tree_, *parsed->imports_);
  return std::unique_ptr<const ParsedText>(std::move(parsed));
}

absl::StatusOr<SyntaxTree> ParsedText::ParseTolerantly(const PythonParser& parser) {
  copy_ = TextForParser(text_);
  ASSIGN_OR_RETURN(SyntaxTree tree, parser.Parse(copy_ ? absl::string_view(*copy_) : text_));
  has_errors_ = tree.has_errors();
  if (!has_errors_) return absl::StatusOr<SyntaxTree>(std::move(tree));
  for (NodeId node = 0; node < tree.size() && first_error_line_ == 0; ++node) {
    if (tree.KindOf(node) != Kind::kError && !tree[node].missing) continue;
    const size_t at = std::min<size_t>(tree[node].start, text_.size() - 1);
    first_error_line_ = lines_.LineOf(at);
  }
  std::optional<std::string> repaired = ReplaceUnclosedBrackets(tree.text());
  if (!repaired) return absl::StatusOr<SyntaxTree>(std::move(tree));
  copy_ = std::move(repaired);
  return parser.Parse(*copy_);
}

}  // namespace kernelmill::extractor
