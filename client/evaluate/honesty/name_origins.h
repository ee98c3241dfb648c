#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_NAME_ORIGINS_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_NAME_ORIGINS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/local_names.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::client {

// Resolves the names of an answer to what they are imported as, also through names that are
// assigned one. Immutable; refers to the text.
class NameOrigins {
 public:
  explicit NameOrigins(const python::ParsedText& text) : text_(text), names_(text.tree()) {}

  // Returns the dotted name that an expression stands for: np.exp is numpy.exp; empty for what is
  // the answer's own.
  std::string Resolve(python::NodeId node) const { return Resolve(node, 0); }

  const python::LocalNames& names() const { return names_; }

 private:
  std::string Resolve(python::NodeId node, int depth) const;

  const python::ParsedText& text_;
  const python::LocalNames names_;
};

// Returns whether a dotted name is a prefix, or below it.
bool IsUnder(absl::string_view dotted, absl::string_view prefix);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_NAME_ORIGINS_H_
