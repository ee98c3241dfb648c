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
// The lists (residue_words.cc) were made on licence files of repositories and wheels.
// tests/oracle/license_residue.py measures them on others (docs/measurements.md).
#include "services/validator/core/license/text/residue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "common/spdx/license_list.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/residue_words.h"
#include "services/validator/core/license/text/units.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxResidueUnits = 8;
constexpr size_t kMaxName = 24;
constexpr size_t kRun = 8;
constexpr size_t kMaxUnit = 16 << 10;  // bytes; nothing longer is harmless
constexpr size_t kMaxLead = 8;         // words before a statement

bool IsLegal(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return LegalWords().contains(word); });
}

bool IsNumber(absl::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return absl::ascii_isdigit(c) || c == '.' || c == 'v' || c == 'x';
  });
}

// The runs of kRun words of some licence texts.
class KnownRuns {
 public:
  // Returns the runs of the licence or exception with this id; none if it has no text here. They
  // are made once: most files of a source have one licence.
  static const KnownRuns& Of(const std::string& id) {
    static auto* const mutex = new absl::Mutex;
    static auto* const made =
        new absl::flat_hash_map<std::string, std::unique_ptr<const KnownRuns>>;
    static const auto* const none = new KnownRuns;
    {
      const absl::MutexLock lock(mutex);
      if (const auto found = made->find(id); found != made->end()) return *found->second;
    }
    auto runs = std::make_unique<KnownRuns>();
    runs->AddLicense(id);
    if (runs->runs_.empty()) return *none;
    const absl::MutexLock lock(mutex);
    return *made->try_emplace(id, std::move(runs)).first->second;
  }

  // Returns the runs of the licences that may be beside any other, which are made once.
  static const KnownRuns& Permissive() {
    static const auto* const runs = [] {
      auto* const all = new KnownRuns;
      for (const char* const id : PermissiveLicenses()) all->AddLicense(id);
      for (const char* const notice : KnownNotices()) all->Add(WordsIn(notice));
      return all;
    }();
    return *runs;
  }

  // Returns whether all words of the unit are within runs of any of these.
  static bool Cover(const std::vector<const KnownRuns*>& all, absl::string_view unit) {
    if (all.empty()) return false;
    const std::vector<std::string> words = WordsIn(unit);
    size_t covered = 0;
    size_t known = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      if (i + kRun <= words.size()) {
        const size_t run = Hash(words.begin() + static_cast<std::ptrdiff_t>(i));
        if (absl::c_any_of(all, [run](const auto* runs) { return runs->runs_.contains(run); })) {
          covered = i + kRun;
        }
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

  void AddLicense(absl::string_view id) {
    for (const spdx::LicenseTemplate& text : spdx::LicenseTemplates()) {
      if (text.id() == id) Add(TemplateWords(text));
    }
    for (const ExceptionText& exception : ExceptionTexts()) {
      if (exception.id == id) Add(WordsIn(exception.text));
    }
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
    if (LimitsScope(text) || AsksForDeed(unit, text)) return false;
    for (const char* phrase : HarmlessPhrases()) Remove(phrase, &text);
    if (!licenses_.empty()) Remove("some rights reserved", &text);
    const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
    return IsPlain(words) || IsPlainWithNames(unit, words) || FitsFrame(text) ||
           IsCopyright(words) || IsName(unit, words) || IsStatement(unit, words) ||
           IsDescription(unit, words) || AsksForCitation(text) ||
           KnownRuns::Cover({&KnownRuns::Permissive()}, unit) || KnownRuns::Cover(Runs(), unit);
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

  // Returns whether plain words limit what a licence is for: "The license is for one
  // machine".
  static bool LimitsScope(const std::string& text) {
    for (const char* phrase :
         {" license is for ", " licence is for ", " licenses are for ", " code is for ",
          " software is for ", " is for one ", " license for one "}) {
      if (absl::StrContains(text, phrase)) return true;
    }
    return false;
  }

  // Returns whether the unit asks for something in plain words: "Link to our site on every page."
  static bool AsksForDeed(absl::string_view unit, const std::string& text) {
    static constexpr absl::string_view kDeeds[] = {
        "link", "mention", "include", "report", "mark",    "name", "credit", "provide", "publish",
        "add",  "make",    "write",   "build",  "support", "fork", "list",   "retain",  "release"};
    static constexpr absl::string_view kObjects[] = {"to",   "our", "us",   "the", "this", "every",
                                                     "each", "all", "your", "any", "a",    "it"};
    const std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
    return absl::EndsWith(absl::StripAsciiWhitespace(unit), ".") && words.size() > 2 &&
           absl::c_linear_search(kDeeds, words[0]) && absl::c_linear_search(kObjects, words[1]);
  }

  bool IsPlainWord(const std::string& word) const {
    return word == "@" || IsNumber(word) || word.size() == 1 || PlainWords().contains(word) ||
           names_.contains(word);
  }

  bool IsPlain(const std::vector<std::string>& words) const {
    return std::all_of(words.begin(), words.end(),
                       [&](const std::string& word) { return IsPlainWord(word); });
  }

  // Returns the words with capitals or within quotes. A sentence begins with a capital whatever
  // the word is.
  static absl::flat_hash_set<std::string> MarkedWords(absl::string_view unit) {
    absl::flat_hash_set<std::string> names;
    bool first = true;
    for (const absl::string_view word :
         absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n-/"), absl::SkipEmpty())) {
      const auto begin = word.begin() + (first ? 1 : 0);
      const bool capital = std::any_of(begin, word.end(), absl::ascii_isupper);
      const bool quoted = absl::StrContains("'\"`", word.front());
      if (absl::ascii_isalnum(word.front())) first = false;
      if (!capital && !quoted) continue;
      for (std::string& token : Tokens(word)) names.insert(std::move(token));
    }
    return names;
  }

  // Returns whether all words are plain except names: words with capitals or within quotes, none
  // about licences. "This module was extracted from the `cloud` package of PiCloud."
  bool IsPlainWithNames(absl::string_view unit, const std::vector<std::string>& words) const {
    if (IsLegal(words)) return false;
    const absl::flat_hash_set<std::string> names = MarkedWords(unit);
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
      const bool sentence = std::any_of(name.begin(), name.end(), [](const std::string& word) {
        return word == "is" || word == "are" || word == "was" || word == "has" || word == "have";
      });
      if (!sentence && IsNameLike(name) && !IsLegal(name)) return true;
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
      const std::string lower = absl::AsciiStrToLower(word);
      if (small && (!IsPlainWord(lower) || SentenceWords().contains(lower))) return false;
    }
    return true;
  }

  // Returns whether it is a name and a statement of plain words: "X is licensed under the MIT". A
  // name is one word, or words with capitals.
  bool IsStatement(absl::string_view unit, const std::vector<std::string>& words) const {
    static constexpr absl::string_view kVerbs[] = {"is",      "are",      "was", "were", "has",
                                                   "license", "licensed", "mit", "bsd",  "apache"};
    const absl::flat_hash_set<std::string> marked = MarkedWords(unit);
    for (size_t i = 0; i < words.size() && i <= kMaxLead; ++i) {
      if (std::find(std::begin(kVerbs), std::end(kVerbs), words[i]) == std::end(kVerbs)) continue;
      const std::vector<std::string> name(words.begin(),
                                          words.begin() + static_cast<std::ptrdiff_t>(i));
      const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(i),
                                          words.end());
      const bool cause = std::any_of(name.begin(), name.end(), [&](const std::string& word) {
        const bool other = CauseWords().contains(word) || LegalWords().contains(word);
        const bool named = &word == &name.front() || marked.contains(word) || word == "@";
        return !IsPlainWord(word) && (other || !named);
      });
      return !cause && IsNameLike(name) && IsPlain(rest);
    }
    return false;
  }

  // Returns whether it describes a work in a few words: "pycparser -- A C parser in Python", "This
  // package is a modified version of X".
  static bool IsDescription(absl::string_view unit, const std::vector<std::string>& words) {
    constexpr size_t kMaxWords = 14;
    if (words.size() > kMaxWords || !IsNameLike(words) || IsLegal(words)) return false;
    const bool cause = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return CauseWords().contains(word);
    });
    if (cause) return false;
    const std::vector<absl::string_view> parts =
        absl::StrSplit(unit, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
    const bool titled = parts.size() > 2 && (parts[1] == "-" || parts[1] == "--");
    const std::string text = Joined(words);
    const bool copied =
        absl::StrContains(text, " is a ") &&
        (absl::StrContains(text, " version of ") || absl::StrContains(text, " port of ") ||
         absl::StrContains(text, " copy of ") || absl::StrContains(text, " fork of "));
    return titled || copied;
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

  const std::vector<const KnownRuns*>& Runs() {
    if (runs_.size() < licenses_.size()) {
      for (const std::string& id : licenses_) runs_.push_back(&KnownRuns::Of(id));
    }
    return runs_;
  }

  const std::vector<std::string>& licenses_;
  absl::flat_hash_set<std::string> names_;
  std::vector<const KnownRuns*> runs_;  // one for each licence; looked up at the first need
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

}  // namespace

void VisitResidue(absl::string_view text, const std::vector<std::string>& licenses,
                  const std::function<bool(absl::string_view, int)>& visit) {
  Judge judge(licenses);
  const auto part = [&](const Unit& unit) {
    return text.substr(unit.begin, unit.end - unit.begin);
  };
  const auto whole = [&](const Unit& unit) { return judge.IsHarmless(part(unit)); };
  const auto harmless = [&](const Unit& unit) {
    if (whole(unit)) return true;
    const std::vector<Unit> clauses = Clauses(text, unit);
    return clauses.size() > 1 && std::all_of(clauses.begin(), clauses.end(), whole);
  };
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

std::vector<ResidueUnit> FindResidue(absl::string_view rest,
                                     const std::vector<std::string>& licenses) {
  std::vector<ResidueUnit> residue;
  VisitResidue(rest, licenses, [&](absl::string_view unit, int line) {
    residue.push_back({Shown(unit), line, ReadScope(unit)});
    return residue.size() < kMaxResidueUnits;
  });
  return residue;
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
