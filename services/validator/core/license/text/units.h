#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_UNITS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_UNITS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::validator {

// The units into which the words beside a licence are cut: paragraphs, sentences, lines, clauses,
// and the words by which they are judged.

// Bytes [begin, end) of a text.
struct Unit {
  size_t begin = 0;
  size_t end = 0;
};

// Returns the paragraphs of a text, between blank lines and rules.
std::vector<Unit> Paragraphs(absl::string_view text);

// Returns the sentences of a paragraph: each ends behind a dot or question mark that a blank
// follows.
std::vector<Unit> Sentences(absl::string_view text, const Unit& paragraph);

std::vector<Unit> Lines(absl::string_view text, const Unit& sentence);

// Returns the clauses of a sentence. One ends behind each semicolon, and before a copyright that
// follows other words: "BSD 3-Clause License Copyright (c) 2023, Ann".
std::vector<Unit> Clauses(absl::string_view text, const Unit& sentence);

// Calls `visit` with each sentence of a text and its line, from 1.
void VisitSentences(absl::string_view text,
                    const std::function<void(absl::string_view, int)>& visit);

// Returns a unit on one line, cut to 200 bytes.
std::string Shown(absl::string_view unit);

// Returns the lower-case words of a unit. Addresses and names of files become "@".
std::vector<std::string> Tokens(absl::string_view unit);

// Returns the words with one blank before and after each, so that phrases can be found.
std::string Joined(const std::vector<std::string>& words);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_UNITS_H_
