#include "services/validator/core/license/words/code_names.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/validator/core/license/words/origin_words.h"

namespace kernelmill::validator {
namespace {

template <typename List>
bool Has(const List& list, absl::string_view word) {
  return absl::c_linear_search(list, word);
}

}  // namespace

bool IsAddress(absl::string_view text) {
  for (const absl::string_view begin : {"https://", "http://", "github.com/", "www.github.com/",
                                        "huggingface.co/", "gitlab.com/"}) {
    if (absl::StartsWithIgnoreCase(text, begin)) return true;
  }
  return false;
}

std::string Squeezed(absl::string_view name) {
  for (const absl::string_view owner : {"'s", "\xe2\x80\x99s", "'"})
    absl::ConsumeSuffix(&name, owner);
  std::string squeezed;
  for (const char c : name) {
    if (absl::ascii_isalnum(c)) squeezed.push_back(absl::ascii_tolower(c));
  }
  return squeezed;
}

std::vector<Word> WordsOf(absl::string_view line) {
  constexpr absl::string_view kSigns = ".,;:()[]{}<>\"'`!?*|";
  std::vector<Word> words;
  for (const absl::string_view part :
       absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty())) {
    const size_t begin = part.find_first_not_of(kSigns);
    if (begin == absl::string_view::npos) {
      if (!words.empty()) words.back().ends = true;
      continue;
    }
    const size_t end = part.find_last_not_of(kSigns) + 1;
    Word word;
    word.text = part.substr(begin, end - begin);
    word.lower = absl::AsciiStrToLower(word.text);
    word.at = static_cast<size_t>(word.text.data() - line.data());
    const absl::string_view after = part.substr(end);
    word.ends = after.find_first_of(".,;:)!?") != absl::string_view::npos;
    word.quoted = part.substr(0, begin).find_first_of("\"'`") != absl::string_view::npos;
    // "(x" begins a clause: what stands before it ends one.
    if (begin > 0 && part[0] == '(' && !words.empty()) words.back().ends = true;
    words.push_back(std::move(word));
  }
  return words;
}

bool IsOfCode(absl::string_view address) {
  const std::string lower = absl::AsciiStrToLower(address);
  if (absl::EndsWith(lower, ".pdf")) return false;
  return absl::c_none_of(kNoCode,
                         [&](absl::string_view no) { return absl::StrContains(lower, no); });
}

absl::string_view AddressAt(absl::string_view line, size_t at) {
  absl::string_view address = line.substr(at);
  address = address.substr(0, address.find_first_of(" \t\r\"'`<>|"));
  while (!address.empty() && absl::StrContains(".,;:!?)]}", address.back())) {
    // "(https://x/y_(z))": a bracket that was opened in it is its own.
    const bool own = address.back() == ')' && absl::StrContains(address, '(');
    if (own) break;
    address.remove_suffix(1);
  }
  return address;
}

namespace {

// Where an address begins in a word such as "kernel(https://x": its end if there is none.
size_t FindAddress(absl::string_view word) {
  for (const absl::string_view scheme : {"https://", "http://"}) {
    const size_t at = word.find(scheme);
    if (at != absl::string_view::npos) return at;
  }
  return IsAddress(word) ? 0 : word.size();
}

}  // namespace

std::vector<absl::string_view> Addresses(absl::string_view line) {
  std::vector<absl::string_view> found;
  for (const Word& word : WordsOf(line)) {
    const size_t at = FindAddress(word.text);
    if (at < word.text.size()) found.push_back(AddressAt(line, word.at + at));
  }
  return found;
}

std::string RepositoryOf(absl::string_view origin) {
  for (const absl::string_view scheme : {"https://", "http://", "git://", "git@", "www."}) {
    absl::ConsumePrefix(&origin, scheme);
  }
  const std::vector<absl::string_view> parts =
      absl::StrSplit(origin, absl::ByAnyChar("/:#?"), absl::SkipEmpty());
  if (parts.size() >= 3 && absl::StrContains(parts[0], '.')) {
    absl::string_view name = parts[2];
    absl::ConsumeSuffix(&name, ".git");
    return absl::StrCat(parts[1], "/", name);
  }
  if (parts.size() == 2 && !absl::StrContains(parts[0], '.')) return std::string(origin);
  return parts.empty() ? "" : std::string(parts[0]);
}

bool IsProject(absl::string_view word) { return Has(kProjects, Squeezed(word)); }

bool NamesProject(const std::vector<Word>& words, size_t at) {
  const absl::string_view text = words[at].text;
  if (IsProject(text)) return true;
  for (const absl::string_view part : absl::StrSplit(text, absl::ByAnyChar("./"))) {
    if (IsProject(part)) return true;
  }
  const absl::string_view first = text.substr(0, text.find_first_of("./"));
  if (!Has(kPlatforms, Squeezed(first))) return false;
  if (first.size() < text.size()) return true;  // "triton.ops.matmul"
  if (words[at].ends || at + 1 >= words.size()) return false;
  return Has(kOfPlatforms, words[at + 1].lower);
}

bool IsProper(absl::string_view word) {
  if (word.size() < 3 || absl::EndsWith(word, "ly") || Has(kNoProjects, Squeezed(word)))
    return false;
  const bool upper = absl::c_any_of(word, [](char c) { return absl::ascii_isupper(c); });
  const bool lower = absl::c_any_of(word, [](char c) { return absl::ascii_islower(c); });
  return upper && lower && absl::c_none_of(word, [](char c) { return c == '(' || c == '='; });
}

bool IsOwnerAndName(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  if (parts.size() != 2 || parts[0].find_first_of("_.") != absl::string_view::npos) return false;
  return absl::c_all_of(parts, [](absl::string_view part) {
    return part.size() >= 2 && absl::ascii_isalnum(part[0]) && absl::c_all_of(part, [](char c) {
             return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
           });
  });
}

bool IsSourceFile(absl::string_view text) {
  for (const absl::string_view end : {".py", ".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c"}) {
    if (text.size() > end.size() && absl::EndsWith(text, end)) return true;
  }
  return false;
}

}  // namespace kernelmill::validator
