#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_DECORATORS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_DECORATORS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// A decorator in a function's text.
struct Decorator {
  std::string text;    // without '@' and comments after it, as written
  std::string callee;  // the dotted name that it begins with; empty if it begins otherwise
  size_t begin = 0;    // of `text`, in the function's text
  size_t line_begin = 0;
  size_t line_end = 0;  // [line_begin, line_end) are its whole lines, with the last line end
  int first_line = 0;   // from 0, in the function's text
  int last_line = 0;
  absl::flat_hash_set<std::string> words;  // names that it may read

  size_t end() const { return begin + text.size(); }
};

// The parts of a decorated function's text.
struct DecoratedFunction {
  std::string name;
  std::vector<Decorator> decorators;       // outermost first
  absl::flat_hash_set<std::string> words;  // names that the signature and the body may read
};

// Returns nullopt if the text is no decorated function, or has something else before it.
std::optional<DecoratedFunction> ReadDecoratedFunction(absl::string_view function);

// Returns every name that a text may read: without members and names of keyword arguments, but with
// all words within f-strings.
absl::flat_hash_set<std::string> ReadNames(absl::string_view text);

// Returns the value of a keyword argument in a call's text, as written; empty without the argument.
std::string FindKeywordArgument(absl::string_view call, absl::string_view keyword);

// A replacement for bytes [begin, end) of a text.
struct TextEdit {
  size_t begin = 0;
  size_t end = 0;
  std::string replacement;
};

// `edits` are in order and do not overlap.
std::string ApplyEdits(absl::string_view text, const std::vector<TextEdit>& edits);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_DECORATORS_H_
