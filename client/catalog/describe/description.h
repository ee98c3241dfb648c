#ifndef KERNELMILL_CLIENT_CATALOG_DESCRIBE_DESCRIPTION_H_
#define KERNELMILL_CLIENT_CATALOG_DESCRIBE_DESCRIPTION_H_

#include <string>
#include <vector>

#include "client/catalog/describe/code_facts.h"
#include "client/catalog/entries/catalog_kernel.h"

namespace kernelmill::client {

// A sentence about a kernel, the rule of rules.cc that made it, and what the rule went by: a rule
// of the tags, a line, or nothing where the sentence itself quotes it. Plain text; code in it
// stands between backquotes.
struct Sentence {
  std::string rule;
  std::string text;
  std::string evidence;
};

// What a kernel computes, for which shapes and types, and how it is launched: a sentence for each
// rule that holds, in the table's order. Nothing is said that the row or the text does not say.
std::vector<Sentence> Describe(const CatalogKernel& kernel, const CodeFacts& facts);

// What to show where one line has room: its docstring's first sentence, else its tags in words,
// else its operations.
std::string Summary(const CatalogKernel& kernel);

// Names of decorators that are neither Triton's nor Python's own: what launches a function may be
// made by one.
std::vector<std::string> OwnDecorators(const CatalogKernel& kernel);

// A tag as people say it: "layer normalization" of "layer_norm"; the tag itself where it is new.
std::string TagPhrase(const std::string& tag);

// The tags in words, without those that a narrower one implies and without the direction.
std::vector<std::string> OperationPhrases(const CatalogKernel& kernel);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_DESCRIBE_DESCRIPTION_H_
