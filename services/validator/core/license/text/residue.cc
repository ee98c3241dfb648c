// Residue, the words of a file beside a known licence text, the basic idea: the sentences that take
// a right away cannot be listed, so the harmless ones are, and everything else counts as terms. A
// text is cut into paragraphs, these into sentences, and a sentence that is not harmless as a whole
// into its lines. A unit is harmless if one of a few rules knows it:
//
//   plain words   each of its words is in kPlainWords. The list has no negation, no "must", "may" or
//                 "only", and no word for using, copying or training: without these no sentence can
//                 restrict anything.
//   a frame       "written by NAME", "Copyright (c) 2020 NAME": a beginning that is known, then up
//                 to kMaxName words, and no word of kDecisiveWords.
//   a known text  its words follow one another in a permissive licence or in one of those that were
//                 found, in runs of at least kRun words.
//
// The lists (residue_words.cc) were made on the licence files of all repositories that were read;
// no half was held out (docs/architecture/licences.md).
#include "services/validator/core/license/text/residue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/spdx/license_list.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/residue_words.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxUnits = 8;
constexpr size_t kMaxShown = 200;
constexpr size_t kMaxName = 24;
constexpr size_t kMaxHeading = 60;
constexpr size_t kRun = 8;
constexpr size_t kMaxUnit = 16 << 10;  // bytes; nothing longer is harmless
constexpr size_t kMaxLead = 8;         // words before a statement

bool IsLegal(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return LegalWords().contains(word); });
}

// The punctuation of Unicode that separates words: Latin-1's signs, dashes, quotes, bullets, boxes.
bool IsMark(uint32_t c) {
  return (c >= 0x80 && c <= 0xbf) || c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) ||
         (c >= 0x2100 && c <= 0x214f) || (c >= 0x2190 && c <= 0x27bf) || c == 0xfeff ||
         (c >= 0x3000 && c <= 0x303f) || c == 0xfffd;
}

// Reads the code point at `at`; a byte that begins none is U+FFFD.
uint32_t CodePoint(absl::string_view text, size_t at, size_t* size) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
  *size = 1;
  if (byte < 0x80) return byte;
  if (more == 0 || at + static_cast<size_t>(more) >= text.size()) return 0xfffd;
  uint32_t c = byte & (0x3f >> more);
  for (int i = 1; i <= more; ++i) {
    const auto next = static_cast<unsigned char>(text[at + static_cast<size_t>(i)]);
    if ((next & 0xc0) != 0x80) return 0xfffd;
    c = c << 6 | (next & 0x3f);
  }
  *size = static_cast<size_t>(more) + 1;
  return c;
}

// Returns whether an address or a file's name says that there are terms: TERMS.md.
bool NamesTerms(absl::string_view token) {
  const std::string lower = absl::AsciiStrToLower(token);
  for (const char* word : {"term", "addend", "rider", "polic", "restrict", "condition", "eula",
                           "usage", "use-", "use_", "commercial", "noai", "no-ai", "no_ai"}) {
    if (absl::StrContains(lower, word)) return true;
  }
  return false;
}

// Returns whether the token is an address of the web or of mail, or the name of a file.
bool IsAddress(absl::string_view token) {
  if (absl::StrContains(token, "://") || absl::StartsWith(token, "www.")) return true;
  if (absl::StrContains(token, '@')) return true;
  if (absl::StartsWith(token, "LICENSE-") || absl::StartsWith(token, "LICENCE-")) return true;
  const size_t dot = token.rfind('.');
  const bool inner = dot != absl::string_view::npos && dot > 0 && dot + 1 < token.size();
  if (inner && absl::ascii_isalpha(token[dot + 1])) return true;
  return absl::StrContains(token, '/') && token.find_first_not_of("/") != std::string::npos &&
         !absl::StartsWith(token, "and/") && !absl::EndsWith(token, "/or");
}

bool IsNumber(absl::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return absl::ascii_isdigit(c) || c == '.' || c == 'v' || c == 'x';
  });
}

// Cuts a unit into lower-case words. Addresses and names of files become "@".
std::vector<std::string> Tokens(absl::string_view unit) {
  std::vector<std::string> tokens;
  for (absl::string_view token : absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"))) {
    while (!token.empty() && absl::StrContains("<>()[]{}\"'`,;:*_.!?", token.back()))
      token.remove_suffix(1);
    while (!token.empty() && absl::StrContains("<>()[]{}\"'`,;:*_", token.front()))
      token.remove_prefix(1);
    if (token.empty()) continue;
    if (IsAddress(token)) {
      // The page of a licence is its name.
      const bool gnu = absl::StrContains(token, "gnu.org/licenses");
      const bool cc = absl::StrContains(token, "creativecommons.org/licenses");
      tokens.emplace_back(gnu ? "gpl" : cc ? "cc" : NamesTerms(token) ? "terms" : "@");
      continue;
    }
    std::string word;
    for (size_t at = 0; at < token.size();) {
      size_t size = 1;
      const uint32_t c = CodePoint(token, at, &size);
      const bool letter =
          c < 0x80 ? absl::ascii_isalnum(static_cast<char>(c)) || c == '+' : !IsMark(c);
      if (letter) {
        absl::StrAppend(&word, absl::AsciiStrToLower(token.substr(at, size)));
      } else if (!word.empty() && c == '.' && absl::ascii_isdigit(word.back())) {
        word.push_back('.');
      } else if (!word.empty()) {
        tokens.push_back(std::exchange(word, ""));
      }
      at += size;
    }
    if (!word.empty()) tokens.push_back(std::move(word));
  }
  return tokens;
}

std::string Joined(const std::vector<std::string>& words) {
  return absl::StrCat(" ", absl::StrJoin(words, " "), " ");
}

// The runs of kRun words of the licences that may be beside any other, or were found.
class KnownRuns {
 public:
  explicit KnownRuns(const std::vector<std::string>& licenses) {
    for (const spdx::LicenseTemplate& text : spdx::LicenseTemplates()) {
      if (std::find(licenses.begin(), licenses.end(), text.id()) != licenses.end())
        Add(TemplateWords(text));
    }
    for (const ExceptionText& exception : ExceptionTexts()) {
      if (std::find(licenses.begin(), licenses.end(), exception.id) != licenses.end())
        Add(WordsIn(exception.text));
    }
  }

  // Returns the runs of the licences that may be beside any other, which are made once.
  static const KnownRuns& Permissive() {
    static const auto* const runs =
        new KnownRuns({PermissiveLicenses().begin(), PermissiveLicenses().end()});
    return *runs;
  }

  // Returns whether all words of the unit are within known runs.
  bool Cover(absl::string_view unit) const {
    const std::vector<std::string> words = WordsIn(unit);
    size_t covered = 0;
    size_t known = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      if (i + kRun <= words.size() &&
          runs_.contains(Hash(words.begin() + static_cast<std::ptrdiff_t>(i)))) {
        covered = i + kRun;
      }
      if (i < covered) ++known;
      if (i >= covered && !IsNeutral({words[i]})) return false;
    }
    return known > 0;
  }

 private:
  template <typename Iterator>
  static size_t Hash(Iterator words) {
    return absl::HashOf(absl::StrJoin(words, words + kRun, " "));
  }

  static std::vector<std::string> WordsIn(absl::string_view text) {
    std::vector<std::string> words;
    for (spdx::LegalWord& word : spdx::LegalWords(text)) words.push_back(std::move(word.text));
    return words;
  }

  static std::vector<std::string> TemplateWords(const spdx::LicenseTemplate& text) {
    std::vector<std::string> words;
    for (size_t i = 0; i < text.size; ++i) {
      words.emplace_back(text.words[i] == 0 ? "" : spdx::LicenseWords()[text.words[i] - 1]);
    }
    return words;
  }

  void Add(const std::vector<std::string>& words) {
    for (size_t i = 0; i + kRun <= words.size(); ++i) {
      runs_.insert(Hash(words.begin() + static_cast<std::ptrdiff_t>(i)));
    }
  }

  absl::flat_hash_set<size_t> runs_;
};

bool IsCapitalOrDigit(char c) { return absl::ascii_isupper(c) || absl::ascii_isdigit(c); }

// Judges the units of one text.
class Judge {
 public:
  explicit Judge(const std::vector<std::string>& licenses) : licenses_(licenses) {
    for (const std::string& id : licenses) AddFamily(id);
  }

  bool IsHarmless(absl::string_view unit) {
    if (unit.size() > kMaxUnit) return false;
    std::string text = Joined(Tokens(unit));
    for (const char* phrase : HarmlessPhrases()) Remove(phrase, &text);
    const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
    return IsPlain(words) || IsPlainWithNames(unit, words) || FitsFrame(text) ||
           IsCopyright(words) || IsName(unit, words) || IsStatement(words) ||
           AsksForCitation(text) || KnownRuns::Permissive().Cover(unit) || Runs().Cover(unit);
  }

 private:
  // Adds the words that name a licence which was found.
  void AddFamily(absl::string_view id) {
    const std::string lower = absl::AsciiStrToLower(id);
    for (const absl::string_view word : absl::StrSplit(lower, absl::ByAnyChar("-.")))
      names_.insert(std::string(word));
    if (absl::StrContains(lower, "gpl")) {
      for (const char* word : {"gnu", "general", "public", "lesser", "library", "affero", "gpl",
                               "lgpl", "agpl", "gplv2", "gplv3", "fsf"})
        names_.insert(word);
    }
    if (absl::StrContains(lower, "exception")) names_.insert({"exception", "exceptions"});
    if (absl::StartsWith(lower, "mpl")) names_.insert({"mozilla", "public"});
    if (absl::StartsWith(lower, "cc")) names_.insert({"creative", "commons", "attribution"});
    if (absl::StartsWith(lower, "psf")) names_.insert({"python", "foundation"});
  }

  bool IsPlainWord(const std::string& word) const {
    return word == "@" || IsNumber(word) || word.size() == 1 || PlainWords().contains(word) ||
           names_.contains(word);
  }

  bool IsPlain(const std::vector<std::string>& words) const {
    return std::all_of(words.begin(), words.end(),
                       [&](const std::string& word) { return IsPlainWord(word); });
  }

  // Returns whether all words are plain except names: words with capitals or within quotes, none
  // about licences. "This module was extracted from the `cloud` package of PiCloud."
  bool IsPlainWithNames(absl::string_view unit, const std::vector<std::string>& words) const {
    if (IsLegal(words)) return false;
    absl::flat_hash_set<std::string> names;
    for (const absl::string_view word :
         absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n-/"), absl::SkipEmpty())) {
      const bool capital = std::any_of(word.begin(), word.end(), absl::ascii_isupper);
      const bool quoted = absl::StrContains("'\"`", word.front());
      if (!capital && !quoted) continue;
      for (std::string& token : Tokens(word)) names.insert(std::move(token));
    }
    size_t count = 0;
    for (const std::string& word : words) {
      if (IsPlainWord(word)) continue;
      const bool name =
          names.contains(word) && !DecisiveWords().contains(word) && !CauseWords().contains(word);
      if (!name || ++count > kMaxLead) return false;
    }
    return true;
  }

  static void Remove(absl::string_view phrase, std::string* text) {
    const std::string wanted = absl::StrCat(" ", phrase, " ");
    for (size_t at = text->find(wanted); at != std::string::npos; at = text->find(wanted))
      text->replace(at, wanted.size(), " ");
  }

  // Returns whether the unit begins like a line that names somebody, and goes on with a name.
  static bool FitsFrame(const std::string& text) {
    for (const absl::string_view frame : NameFrames()) {
      const std::string begin = absl::StrCat(" ", frame, " ");
      if (!absl::StartsWith(text, begin)) continue;
      const std::vector<std::string> name =
          absl::StrSplit(text.substr(begin.size() - 1), ' ', absl::SkipEmpty());
      if (IsNameLike(name) && !IsLegal(name)) return true;
    }
    return false;
  }

  // Returns whether it is a copyright line after a short name: "python-dotenv Copyright (c) 2014
  // X".
  static bool IsCopyright(const std::vector<std::string>& words) {
    if (IsLegal(words)) return false;
    for (size_t i = 0; i + 1 < words.size() && i <= kMaxLead; ++i) {
      const bool sign = words[i] == "copyright" || words[i] == "c";
      const bool holds = words[i + 1] == "c" || words[i + 1] == "by" || IsNumber(words[i + 1]);
      if (sign && holds) return IsNameLike(words);
    }
    return !words.empty() && words[0].size() == 4 && IsNumber(words[0]) && IsNameLike(words);
  }

  // Returns whether it is a line with only a name: a few words that begin with capitals or digits,
  // none of them about licences. It may be behind "from" or "for", with a colon.
  bool IsName(absl::string_view unit, const std::vector<std::string>& words) const {
    if (words.size() > kMaxLead || !IsNameLike(words) || IsLegal(words)) return false;
    const bool cause = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return CauseWords().contains(word);
    });
    if (cause) return false;
    for (absl::string_view word :
         absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
      while (!word.empty() && absl::ascii_ispunct(word.front())) word.remove_prefix(1);
      while (!word.empty() && absl::ascii_ispunct(word.back())) word.remove_suffix(1);
      const bool small = !word.empty() && std::none_of(word.begin(), word.end(), IsCapitalOrDigit);
      if (small && !IsPlainWord(absl::AsciiStrToLower(word))) return false;
    }
    return true;
  }

  // Returns whether it is a name and a statement of plain words: "X is licensed under the MIT".
  bool IsStatement(const std::vector<std::string>& words) const {
    static constexpr absl::string_view kVerbs[] = {"is",      "are",      "was", "were", "has",
                                                   "license", "licensed", "mit", "bsd",  "apache"};
    for (size_t i = 0; i < words.size() && i <= kMaxLead; ++i) {
      if (std::find(std::begin(kVerbs), std::end(kVerbs), words[i]) == std::end(kVerbs)) continue;
      const std::vector<std::string> name(words.begin(),
                                          words.begin() + static_cast<std::ptrdiff_t>(i));
      const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(i),
                                          words.end());
      const bool cause = std::any_of(name.begin(), name.end(), [](const std::string& word) {
        return (CauseWords().contains(word) || LegalWords().contains(word)) &&
               !PlainWords().contains(word);
      });
      return !cause && IsNameLike(name) && IsPlain(rest);
    }
    return false;
  }

  // Returns whether it asks for a citation, and does not demand it.
  bool AsksForCitation(std::string text) const {
    const bool asks = absl::StrContains(text, " please ") ||
                      absl::StrContains(text, " consider ") ||
                      absl::StrContains(text, " appreciate ");
    if (!asks) return false;
    for (const char* word : {"cite", "citing", "citation", "citations", "consider", "appreciate",
                             "use", "using", "used", "useful", "research", "academic",
                             "publication", "publications", "would", "appreciated", "star"}) {
      Remove(word, &text);
    }
    const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
    return IsPlain(words) || (IsNameLike(words) && absl::StrContains(text, " paper "));
  }

  const KnownRuns& Runs() {
    if (runs_ == nullptr) runs_ = std::make_unique<KnownRuns>(licenses_);
    return *runs_;
  }

  const std::vector<std::string>& licenses_;
  absl::flat_hash_set<std::string> names_;
  std::unique_ptr<KnownRuns> runs_;  // made when it is first needed
};

// Words of a statement about some files that need not be plain.
constexpr char kScopedWords[] =
    "files file located directory directories folder folders under in the and are is licensed "
    "license agreement which to install optional";

// Returns the paths of a unit that says under which licence some of the files are. The unit is no
// such statement if it says anything else that may be terms.
std::vector<std::string> ReadScope(absl::string_view unit) {
  static const auto* const scoped = new WordSet(MakeSet(kScopedWords));
  std::vector<std::string> paths;
  for (absl::string_view token :
       absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    while (!token.empty() && absl::StrContains("`'\"(*,", token.front())) token.remove_prefix(1);
    while (!token.empty() && absl::StrContains("`'\"),.:*/", token.back())) token.remove_suffix(1);
    const bool path = absl::StrContains(token, '/') || absl::StrContains(token, '_');
    if (path && !absl::StrContains(token, "://")) paths.emplace_back(token);
  }
  std::vector<std::string> words;
  bool files = false;
  bool licensed = false;
  for (std::string& word : Tokens(unit)) {
    files = files || word == "files" || word == "file" || word == "directory" || word == "folder";
    licensed = licensed || word == "licensed" || word == "license";
    if (!scoped->contains(word)) words.push_back(std::move(word));
  }
  if (!files || !licensed || !IsNameLike(words)) paths.clear();
  return paths;
}

struct Unit {
  size_t begin = 0;
  size_t end = 0;
};

// Cuts a text at blank lines.
std::vector<Unit> Paragraphs(absl::string_view text) {
  std::vector<Unit> paragraphs;
  bool open = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const absl::string_view line = text.substr(at, end - at);
    const bool blank = line.find_first_not_of("#/*<!-;%|>=_~. \t\r") == absl::string_view::npos;
    if (blank) {
      open = false;
    } else if (open) {
      paragraphs.back().end = end;
    } else {
      paragraphs.push_back({at, end});
      open = true;
    }
    at = end + 1;
  }
  return paragraphs;
}

// Returns whether the dot at `at` belongs to an initial or an abbreviation: "Isaac Z. Schlueter".
bool IsAbbreviated(absl::string_view text, size_t at) {
  if (text[at] != '.') return false;
  size_t begin = at;
  while (begin > 0 && absl::ascii_isalpha(text[begin - 1])) --begin;
  const absl::string_view word = text.substr(begin, at - begin);
  if (word.size() == 1) return true;
  for (const absl::string_view known : {"Inc", "Ltd", "Co", "Corp", "Dr", "St", "Jr", "al", "v"}) {
    if (word == known) return true;
  }
  return false;
}

// Cuts a paragraph behind each dot or question mark that a blank follows.
std::vector<Unit> Sentences(absl::string_view text, const Unit& paragraph) {
  std::vector<Unit> sentences;
  size_t begin = paragraph.begin;
  for (size_t i = paragraph.begin; i < paragraph.end; ++i) {
    const bool stop = absl::StrContains(".?!", text[i]) && i + 1 < paragraph.end &&
                      absl::ascii_isspace(text[i + 1]) && !IsAbbreviated(text, i);
    if (!stop && i + 1 < paragraph.end) continue;
    sentences.push_back({begin, i + 1});
    begin = i + 1;
  }
  return sentences;
}

std::vector<Unit> Lines(absl::string_view text, const Unit& sentence) {
  std::vector<Unit> lines;
  for (size_t at = sentence.begin; at < sentence.end;) {
    const size_t end = std::min(text.find('\n', at), sentence.end);
    lines.push_back({at, end});
    at = end + 1;
  }
  return lines;
}

// Returns a unit on one line, without marks at its beginning.
std::string Shown(absl::string_view unit) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  return absl::StrJoin(words, " ").substr(0, kMaxShown);
}

// Calls `visit` with each sentence that is not harmless, neither as a whole nor line by line, until
// it returns false.
template <typename Visit>
void VisitTerms(absl::string_view text, const std::vector<std::string>& licenses,
                const Visit& visit) {
  Judge judge(licenses);
  const auto part = [&](const Unit& unit) {
    return text.substr(unit.begin, unit.end - unit.begin);
  };
  const auto harmless = [&](const Unit& unit) { return judge.IsHarmless(part(unit)); };
  size_t counted = 0;
  int line = 1;
  for (const Unit& paragraph : Paragraphs(text)) {
    for (const Unit& sentence : Sentences(text, paragraph)) {
      if (harmless(sentence)) continue;
      const std::vector<Unit> lines = Lines(text, sentence);
      if (std::all_of(lines.begin(), lines.end(), harmless)) continue;
      const size_t at = std::min(text.find_first_not_of(" \t\r\n", sentence.begin), sentence.end);
      line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                          text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
      counted = at;
      if (!visit(part(sentence), line)) return;
    }
  }
}

// Returns whether joined words have one of the phrases.
bool HasAny(const std::string& text, std::initializer_list<absl::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](absl::string_view phrase) {
    return absl::StrContains(text, absl::StrCat(" ", phrase, " "));
  });
}

// Returns whether a sentence forbids a deed with the work, or limits it to a purpose.
bool Restricts(const std::string& text) {
  if (HasAny(text,
             {"commons clause", "proprietary", "confidential", "trade secret", "trade secrets",
              "noncommercial", "non commercial", "purposes only", "research only", "academic only",
              "academic use", "personal use", "evaluation only", "not evil"})) {
    return true;
  }
  const bool work = HasAny(text, {"software", "code", "file", "program", "repository", "library",
                                  "materials", "redistribution", "this work", "the work"});
  const bool deed =
      HasAny(text, {"use",         "used",           "copy",         "copied",        "distribute",
                    "distributed", "redistribution", "redistribute", "redistributed", "reproduce",
                    "reproduced",  "train",          "training",     "trained",       "disclosed",
                    "sold",        "sell",           "commercial",   "military",      "operate",
                    "provide"});
  const bool limit = HasAny(text, {"may not",
                                   "must not",
                                   "shall not",
                                   "not be",
                                   "cannot",
                                   "may only",
                                   "only be used",
                                   "only for",
                                   "prohibited",
                                   "forbidden",
                                   "not permitted",
                                   "not allowed",
                                   "disallowed",
                                   "permission",
                                   "consent",
                                   "shall be used",
                                   "authorization",
                                   "opt out",
                                   "requires a license",
                                   "request a license"});
  return work && deed && limit;
}

// Returns whether a sentence of a comment speaks of what may be done with the work.
bool SpeaksOfTerms(const std::string& text) {
  return Restricts(text) ||
         HasAny(text,
                {"license", "licenses", "licensed", "licence", "licensing", "eula", "copyleft",
                 "gpl", "gplv2", "gplv3", "lgpl", "agpl", "cc by", "cc0", "creative commons",
                 "terms of use", "terms of service", "some rights reserved"});
}

// Returns the names of files in the unit that hold a licence other than the source's own:
// COPYRIGHT, LICENSE.bsd, COPYING-NV. Empty for LICENSE, LICENSE.txt and COPYING.
std::vector<std::string> LicenseFileNames(absl::string_view unit) {
  std::vector<std::string> names;
  for (absl::string_view token :
       absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    while (!token.empty() && absl::StrContains("`'\"(<[./", token.front())) token.remove_prefix(1);
    while (!token.empty() && absl::StrContains("`'\")>].,:;", token.back())) token.remove_suffix(1);
    const absl::string_view name = token.substr(token.rfind('/') + 1);
    if (absl::StrContains(token, "://")) continue;
    for (const absl::string_view stem : {"COPYRIGHT", "LICENSE", "LICENCE", "COPYING", "License"}) {
      absl::string_view end = name;
      if (!absl::ConsumePrefix(&end, stem)) continue;
      const bool more = !end.empty() && absl::StrContains("-_.", end.front());
      const bool plain = end.empty() || end == ".txt" || end == ".md" || end == ".rst";
      if ((more && !plain) || (stem == "COPYRIGHT" && plain && unit != name))
        names.emplace_back(name);
      break;
    }
  }
  return names;
}

}  // namespace

std::vector<ResidueUnit> FindResidue(absl::string_view rest,
                                     const std::vector<std::string>& licenses) {
  std::vector<ResidueUnit> residue;
  VisitTerms(rest, licenses, [&](absl::string_view unit, int line) {
    residue.push_back({Shown(unit), line, ReadScope(unit)});
    return residue.size() < kMaxUnits;
  });
  return residue;
}

std::vector<ResidueUnit> FindTermsInComments(absl::string_view comments,
                                             const std::vector<std::string>& licenses) {
  std::vector<ResidueUnit> terms;
  VisitTerms(comments, licenses, [&](absl::string_view unit, int line) {
    if (SpeaksOfTerms(Joined(Tokens(unit)))) terms.push_back({Shown(unit), line, {}});
    return terms.size() < kMaxUnits;
  });
  return terms;
}

namespace {

// Returns whether the paragraph is a heading: of Markdown, or underlined.
bool IsHeading(absl::string_view text) {
  const absl::string_view line = absl::StripAsciiWhitespace(text.substr(0, text.find('\n')));
  const size_t next = text.find('\n');
  const bool underlined = next != absl::string_view::npos && next + 1 < text.size() &&
                          absl::StrContains("=-", text[next + 1]);
  return line.size() <= kMaxHeading && (absl::StartsWith(line, "#") || underlined) &&
         !absl::EndsWith(line, ".") && !absl::StrContains(line, "Copyright");
}

// Calls `visit` with each sentence and its line.
template <typename Visit>
void VisitSentences(absl::string_view text, const Visit& visit) {
  size_t counted = 0;
  int line = 1;
  for (const Unit& paragraph : Paragraphs(text)) {
    for (const Unit& sentence : Sentences(text, paragraph)) {
      line += static_cast<int>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                     text.begin() + static_cast<std::ptrdiff_t>(sentence.begin), '\n'));
      counted = sentence.begin;
      visit(text.substr(sentence.begin, sentence.end - sentence.begin), line);
    }
  }
}

}  // namespace

bool LimitsLicense(absl::string_view sentence) {
  const std::string text = Joined(Tokens(sentence));
  return Restricts(text) ||
         HasAny(text, {"except", "excluding", "only", "additional", "commons", "must", "not",
                       "prohibited", "forbidden", "conditions", "research", "academic", "rider"});
}

// A section lasts up to the next heading.
std::vector<ResidueUnit> FindRestrictions(absl::string_view text, bool prose) {
  std::vector<ResidueUnit> found;
  bool section = false;
  VisitSentences(text, [&](absl::string_view sentence, int line) {
    const std::string words = Joined(Tokens(sentence));
    const bool licenses = HasAny(words, {"license", "licence", "licensed", "licensing", "terms",
                                         "legal", "mit", "apache", "bsd"});
    if (IsHeading(absl::StripLeadingAsciiWhitespace(sentence))) section = licenses;
    if (found.size() == kMaxUnits || (prose && !section && !licenses)) return;
    if (Restricts(words) &&
        !HasAny(words, {"endorse", "as is", "warranty", "warranties", "except in compliance with",
                        "or open source", "and open source"}))
      found.push_back({Shown(sentence), line, {}});
  });
  return found;
}

absl::string_view GetTrainingUse(absl::string_view sentence) {
  const std::string words = Joined(Tokens(sentence));
  const bool trains = HasAny(words, {"train", "training", "trained", "data mining",
                                     "machine learning", "fine tune", "finetune", "pretraining"});
  const bool models =
      HasAny(words, {"model", "models", "ai", "llm", "llms", "machine learning",
                     "artificial intelligence", "neural", "data mining", "language models"});
  const bool modal = HasAny(
      words, {"may", "must", "shall", "permitted", "allowed", "prohibited", "forbidden", "granted",
              "grant", "disallowed", "consent", "reserved", "reserves", "not", "no", "if"});
  const bool work =
      HasAny(words, {"software", "code", "work", "use", "used", "repository", "materials",
                     "project", "data", "dataset", "it", "file", "files", "content", "license"});
  if (!trains || !models || !modal || !work) return "";
  if (HasAny(words, {"only", "unless", "consent", "permission", "provided", "subject", "must", "if",
                     "requires", "except", "authorization"})) {
    return "limited";
  }
  const bool forbids = HasAny(words, {"not", "no", "never", "prohibited", "forbidden", "disallowed",
                                      "reserved", "reserves", "cannot", "excluding"});
  return forbids ? "forbidden" : "permitted";
}

std::vector<ResidueUnit> FindTrainingTerms(absl::string_view text) {
  std::vector<ResidueUnit> found;
  VisitSentences(text, [&](absl::string_view sentence, int line) {
    if (found.size() < kMaxUnits && !GetTrainingUse(sentence).empty())
      found.push_back({Shown(sentence), line, {}});
  });
  return found;
}

std::vector<ResidueUnit> FindOtherLicenseFiles(absl::string_view comments) {
  std::vector<ResidueUnit> named;
  for (const Unit& paragraph : Paragraphs(comments)) {
    const absl::string_view text =
        comments.substr(paragraph.begin, paragraph.end - paragraph.begin);
    if (!SpeaksOfTerms(Joined(Tokens(text)))) continue;
    std::vector<std::string> names = LicenseFileNames(text);
    if (names.empty()) continue;
    const auto line = std::count(
        comments.begin(), comments.begin() + static_cast<std::ptrdiff_t>(paragraph.begin), '\n');
    named.push_back({Shown(text), static_cast<int>(line) + 1, std::move(names)});
    if (named.size() == kMaxUnits) break;
  }
  return named;
}

bool IsNameLike(const std::vector<std::string>& words) {
  return words.size() <= kMaxName && std::none_of(words.begin(), words.end(), [](const auto& word) {
           return DecisiveWords().contains(word);
         });
}

bool IsNeutral(const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(),
                     [](const auto& word) { return NeutralWords().contains(word); });
}

}  // namespace kernelmill::validator
