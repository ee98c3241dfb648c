#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_RESIDUE_WORDS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_RESIDUE_WORDS_H_

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::validator {

// The words and phrases by which the rules of residue.cc know harmless text beside a licence. They
// live as long as the program.

using WordSet = absl::flat_hash_set<absl::string_view>;

// Makes the set of the words of a text that lives as long as the program.
WordSet MakeSet(absl::string_view words);

const WordSet& LegalWords();
const WordSet& CauseWords();
const WordSet& SentenceWords();
const WordSet& NeutralWords();
const WordSet& PlainWords();
const WordSet& DecisiveWords();

// The beginnings of lines that go on with a name, an address or a date.
absl::Span<const char* const> NameFrames();
absl::Span<const char* const> HarmlessPhrases();

// The texts of exceptions, by which they are told from terms.
struct ExceptionText {
  const char* id;
  const char* text;
};
absl::Span<const ExceptionText> ExceptionTexts();

// Licences whose sentences may be beside any other: each grants, disclaims or asks for notices.
absl::Span<const char* const> PermissiveLicenses();

// Notices that many projects have above the notice of a licence of the list.
absl::Span<const char* const> KnownNotices();

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEXT_RESIDUE_WORDS_H_
