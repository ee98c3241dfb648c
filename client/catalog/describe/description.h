#ifndef KERNELMILL_CLIENT_CATALOG_DESCRIBE_DESCRIPTION_H_
#define KERNELMILL_CLIENT_CATALOG_DESCRIBE_DESCRIPTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/catalog/describe/code_facts.h"
#include "client/catalog/entries/kernel_row.h"

namespace kernelmill::client {

// A sentence about a kernel, the rule that made it (description.cc), and the rule's evidence: a
// rule of the tags, a line, or empty if the sentence quotes it. Plain text; code is between
// backquotes.
struct Sentence {
  std::string rule;
  std::string text;
  std::string evidence;
};

// Describes a kernel: its computation, its shapes and types, and its launch. Returns one sentence
// for each rule that applies, in the table's order. Every sentence follows from the row or the
// text.
std::vector<Sentence> Describe(const v1::KernelRow& kernel, const CodeFacts& facts);

// Returns a one-line summary: the first sentence of the docstring, or the tags in words, or the
// operations.
std::string Summary(const v1::KernelRow& kernel);

// Returns the names of decorators that belong neither to Triton nor to Python. Such a decorator may
// launch the function.
std::vector<std::string> OwnDecorators(const v1::KernelRow& kernel);

// Returns a tag in words: "layer normalization" for "layer_norm". An unknown tag stays as it is.
std::string TagPhrase(const std::string& tag);

// Returns a text with a capital as its first letter.
std::string Capitalized(std::string text);

// Returns the tags in words, without the direction and without tags that a narrower one implies.
std::vector<std::string> OperationPhrases(const v1::KernelRow& kernel);

// The author of a kernel, and the evidence: "__author__", "copyright" (the holders in the copyright
// lines of the file and its licence) or "owner" (of the repository on the web). Empty if unknown.
struct Author {
  std::string name;
  std::string evidence;
};
Author FindAuthor(const v1::KernelRow& kernel);

// Returns the holder in a copyright line: "Tri Dao" for "# Copyright (c) 2024, Tri Dao.".
std::string CopyrightHolder(absl::string_view line);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_DESCRIBE_DESCRIPTION_H_
