#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_DECORATORS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_DECORATORS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// A decorator as a function's text has it.
struct Decorator {
  std::string text;    // without '@' and comments after it, as written
  std::string callee;  // the dotted name that it begins with; empty where it begins otherwise
  size_t begin = 0;    // of `text`, in the function's text
  size_t line_begin = 0;
  size_t line_end = 0;  // with its line end: the whole lines that it stands on
  int first_line = 0;   // from 0, in the function's text
  int last_line = 0;
  absl::flat_hash_set<std::string> words;  // names that it may read

  size_t end() const { return begin + text.size(); }
};

// A function's text taken apart: its decorators, outermost first, and what may be read by the rest.
struct DecoratedFunction {
  std::string name;
  std::vector<Decorator> decorators;
  absl::flat_hash_set<std::string> words;  // of the signature and the body
};

// Nothing where the text is no function that is decorated, or has something else before it.
std::optional<DecoratedFunction> TakeApart(absl::string_view function);

// Every name of a text that may be read there: not those of members and of keyword arguments, but
// all words within f-strings.
absl::flat_hash_set<std::string> NamesReadIn(absl::string_view text);

// What a call's text gives for a keyword argument, as written; empty where it gives none by that
// name.
std::string KeywordArgument(absl::string_view call, absl::string_view keyword);

// Bytes [begin, end) of a text and what comes in their place.
struct TextEdit {
  size_t begin = 0;
  size_t end = 0;
  std::string replacement;
};

// `edits` do not overlap, and stand in order.
std::string Edited(absl::string_view text, const std::vector<TextEdit>& edits);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_DECORATORS_H_
