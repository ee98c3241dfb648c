// Notices, the basic idea: a notice is a trigger ("licensed under", "under the terms of"), a few
// filler words ("the", "a", "either") and a name of the table below. After a name more names may
// follow ("... or the MIT license"). The name of a GNU licence does not include its version; that
// is somewhere in the following words, as is "or (at your option) any later version". After words
// such as "adapted from", names are about other people's code (`portions`) until the end of the
// sentence.
#include "services/validator/core/license/words/notice.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/text.h"

namespace kernelmill::validator {
namespace {

// A name of a licence, in the form of SentenceWords, and the expression that it means. An id that
// ends in "*" is a family; one that ends in "-?" is a GNU licence whose version follows.
struct LicenseName {
  const char* words;
  const char* id;
};

// Longer names come before those that they begin with.
constexpr LicenseName kNames[] = {
    {"apache license version 2.0 with llvm exceptions", "Apache-2.0 WITH LLVM-exception"},
    {"apache license v2.0 with llvm exceptions", "Apache-2.0 WITH LLVM-exception"},
    {"apache 2.0 with llvm exception", "Apache-2.0 WITH LLVM-exception"},
    {"apache license version 2.0", "Apache-2.0"},
    {"apache license version 2", "Apache-2.0"},
    {"apache license v 2.0", "Apache-2.0"},
    {"apache license v2.0", "Apache-2.0"},
    {"apache license v2", "Apache-2.0"},
    {"apache license 2.0", "Apache-2.0"},
    {"apache software license version 2.0", "Apache-2.0"},
    {"apache software license 2.0", "Apache-2.0"},
    {"apache version 2.0", "Apache-2.0"},
    {"apache v2.0", "Apache-2.0"},
    {"apache v2", "Apache-2.0"},
    {"apache 2.0", "Apache-2.0"},
    {"apache 2", "Apache-2.0"},
    {"apache2.0", "Apache-2.0"},
    {"apache2", "Apache-2.0"},
    {"asl 2.0", "Apache-2.0"},
    {"apache software license", "Apache-*"},
    {"apache license", "Apache-*"},
    {"bsd style", "BSD-*"},
    {"bsd 3 clause clear", "BSD-3-Clause-Clear"},
    {"clear bsd", "BSD-3-Clause-Clear"},
    {"bsd 4 clause", "BSD-4-Clause"},
    {"4 clause bsd", "BSD-4-Clause"},
    {"original bsd", "BSD-4-Clause"},
    {"bsd 3 clause", "BSD-3-Clause"},
    {"bsd three clause", "BSD-3-Clause"},
    {"3 clause bsd", "BSD-3-Clause"},
    {"three clause bsd", "BSD-3-Clause"},
    {"new bsd", "BSD-3-Clause"},
    {"modified bsd", "BSD-3-Clause"},
    {"revised bsd", "BSD-3-Clause"},
    {"bsd 2 clause", "BSD-2-Clause"},
    {"bsd two clause", "BSD-2-Clause"},
    {"2 clause bsd", "BSD-2-Clause"},
    {"two clause bsd", "BSD-2-Clause"},
    {"bsd 2", "BSD-2-Clause"},
    {"bsd2", "BSD-2-Clause"},
    {"bsd 3", "BSD-3-Clause"},
    {"bsd3", "BSD-3-Clause"},
    {"simplified bsd", "BSD-2-Clause"},
    {"freebsd license", "BSD-2-Clause"},
    {"zero clause bsd", "0BSD"},
    {"bsd zero clause", "0BSD"},
    {"bsd 0 clause", "0BSD"},
    {"0bsd", "0BSD"},
    {"bsd license", "BSD-*"},
    {"bsd licenses", "BSD-*"},
    {"bsd", "BSD-*"},
    {"mit no attribution", "MIT-0"},
    {"mit 0", "MIT-0"},
    {"mit style", "MIT*"},
    {"mit expat", "MIT"},
    {"mit license mit", "MIT"},
    {"mit license", "MIT"},
    {"expat license", "MIT"},
    {"mit", "MIT"},
    {"x11 license", "X11"},
    {"isc license iscl", "ISC"},
    {"isc license", "ISC"},
    {"isc", "ISC"},
    {"boost software license version 1.0", "BSL-1.0"},
    {"boost software license 1.0 bsl 1.0", "BSL-1.0"},
    {"boost software license 1.0", "BSL-1.0"},
    {"boost software license", "BSL-1.0"},
    {"zlib libpng license", "Zlib"},
    {"zlib license", "Zlib"},
    {"unlicense", "Unlicense"},
    {"cc0 1.0 universal", "CC0-1.0"},
    {"cc0 1.0", "CC0-1.0"},
    {"cc0", "CC0-1.0"},
    {"mozilla public license version 2.0", "MPL-2.0"},
    {"mozilla public license v 2.0", "MPL-2.0"},
    {"mozilla public license v2.0", "MPL-2.0"},
    {"mozilla public license 2.0 mpl 2.0", "MPL-2.0"},
    {"mozilla public license 2.0", "MPL-2.0"},
    {"mpl 2.0", "MPL-2.0"},
    {"gnu affero general public license", "AGPL-?"},
    {"affero general public license", "AGPL-?"},
    {"gnu agpl", "AGPL-?"},
    {"agpl", "AGPL-?"},
    {"agplv3", "AGPL-3.0-?"},
    {"gnu lesser general public license", "LGPL-?"},
    {"gnu library general public license", "LGPL-?"},
    {"gnu library or lesser general public license", "LGPL-?"},
    {"lesser general public license", "LGPL-?"},
    {"gnu lgpl", "LGPL-?"},
    {"lgpl", "LGPL-?"},
    {"lgplv3", "LGPL-3.0-?"},
    {"lgplv2.1", "LGPL-2.1-?"},
    {"gnu general public license", "GPL-?"},
    {"general public license", "GPL-?"},
    {"gnu gpl", "GPL-?"},
    {"gpl", "GPL-?"},
    {"gplv3", "GPL-3.0-?"},
    {"gplv2", "GPL-2.0-?"},
    {"creative commons attribution noncommercial sharealike 4.0", "CC-BY-NC-SA-4.0"},
    {"creative commons attribution noncommercial noderivatives 4.0", "CC-BY-NC-ND-4.0"},
    {"creative commons attribution noncommercial 4.0", "CC-BY-NC-4.0"},
    {"creative commons attribution sharealike 4.0", "CC-BY-SA-4.0"},
    {"cc by nc sa 4.0", "CC-BY-NC-SA-4.0"},
    {"cc by nc nd 4.0", "CC-BY-NC-ND-4.0"},
    {"cc by nc 4.0", "CC-BY-NC-4.0"},
    {"cc by nc", "LicenseRef-NonCommercial"},
    {"cc by sa 4.0", "CC-BY-SA-4.0"},
    {"cc by 4.0", "CC-BY-4.0"},
    {"creative commons attribution noncommercial", "LicenseRef-NonCommercial"},
    {"creative commons attribution 4.0", "CC-BY-4.0"},
    {"business source license", "BUSL-1.1"},
    {"server side public license", "SSPL-1.0"},
    {"elastic license 2.0", "Elastic-2.0"},
    {"polyform noncommercial license", "PolyForm-Noncommercial-1.0.0"},
    {"python software foundation license", "PSF-2.0"},
    {"psf license", "PSF-2.0"},
    {"numpy license", "BSD-3-Clause"},
    {"llama 2 community license", "LicenseRef-Llama-Community"},
    {"llama 3 community license", "LicenseRef-Llama-Community"},
    {"llama 3.1 community license", "LicenseRef-Llama-Community"},
    {"llama 3.2 community license", "LicenseRef-Llama-Community"},
    {"llama 3.3 community license", "LicenseRef-Llama-Community"},
    {"llama 4 community license", "LicenseRef-Llama-Community"},
    {"mulan psl v2", "MulanPSL-2.0"},
    {"mulan permissive software license version 2", "MulanPSL-2.0"},
    {"eclipse public license v2.0", "EPL-2.0"},
    {"eclipse public license v 2.0", "EPL-2.0"},
    {"eclipse public license 2.0", "EPL-2.0"},
    {"creativeml open rail m", "LicenseRef-OpenRAIL"},
    {"bigscience open rail m", "LicenseRef-OpenRAIL"},
    {"proprietary license", "LicenseRef-Proprietary"},
    {"proprietary", "LicenseRef-Proprietary"},
};

// Sentences that dedicate the work to the public without naming a licence.
constexpr LicenseName kDedications[] = {
    {"has dedicated all copyright and related and neighboring rights to this software to the "
     "public domain",
     "CC0-1.0"},
    {"have dedicated all copyright and related and neighboring rights to this software to the "
     "public domain",
     "CC0-1.0"},
    {"has waived all copyright and related or neighboring rights to this work", "CC0-1.0"},
    {"this is free and unencumbered software released into the public domain", "Unlicense"},
};

using spdx::SentenceWords;
using Words = std::vector<std::string>;

constexpr double kNoticeScore = 0.95;
constexpr size_t kMaxFillers = 8;
constexpr size_t kGnuWindow = 40;      // words after a GNU licence's name that may have its version
constexpr size_t kPortionWindow = 24;  // words after "adapted from" that are about it
constexpr size_t kVerbWindow = 6;
constexpr size_t kRootWindow = 10;  // words after "license" in which the root is named

constexpr const char* kFillers[] = {
    "the",       "a",       "an",       "terms",    "of",     "and",     "conditions", "either",
    "both",      "term",    "this",     "open",     "source", "same",    "s",          "permissive",
    "following", "license", "licenses", "standard", "osi",    "approved"};
constexpr const char* kConnectors[] = {"or",    "and",    "license", "licenses", "the",  "at",
                                       "your",  "option", "see",     "a",        "then", "an",
                                       "under", "terms",  "of",      "version"};
// Words that say, together with "under", that something is licensed.
constexpr const char* kNoticeVerbs[] = {
    "licensed",      "licenses",     "license", "released", "distributed", "available",
    "provided",      "published",    "covered", "offered",  "is",          "are",
    "redistributed", "redistribute", "modify",  "falls",    "issued"};
// Words after which the sentence names a licence of other people's code.
constexpr const char* kPortionPhrases[] = {
    "code from",    "derived from", "adapted from",  "based on",    "borrowed from",
    "copied from",  "taken from",   "modified from", "ported from", "portions",
    "incorporates", "forked from",  "includes"};
constexpr const char* kChoicePhrases[] = {"either of",
                                          "under either",
                                          "dual licensed",
                                          "dual license",
                                          "licensed under both the mit and",
                                          "alternatively",
                                          "either the",
                                          "either license",
                                          "choose whichever you prefer"};

// Places that mean the whole source: "the LICENSE file in the root directory of this source tree".
constexpr const char* kRootPlaces[] = {
    "root directory", "root folder",         "root dir",          "root of",
    "project root",   "repository root",     "repo root",         "source root",
    "top level of",   "top level directory", "toplevel directory"};

template <typename List>
bool IsListed(const List& list, absl::string_view word) {
  return absl::c_any_of(list, [&](absl::string_view entry) { return entry == word; });
}

// Returns how many words of words[at...] the phrase takes; 0 if it is not there.
size_t Match(const Words& words, size_t at, absl::string_view phrase) {
  size_t count = 0;
  for (const absl::string_view word : absl::StrSplit(phrase, ' ')) {
    if (at + count >= words.size() || words[at + count] != word) return 0;
    ++count;
  }
  return count;
}

std::string Join(const Words& words, size_t from, size_t to) {
  from = std::min(from, words.size());
  to = std::min(std::max(from, to), words.size());
  return absl::StrCat(" ", absl::StrJoin(words.begin() + from, words.begin() + to, " "), " ");
}

// Normalizes a GNU licence's version: "3", "v3" and "3.0" give "3.0". Empty for other words.
std::string GnuVersion(absl::string_view word) {
  absl::ConsumePrefix(&word, "v");
  if (word == "1" || word == "1.0") return "1.0";
  if (word == "2" || word == "2.0") return "2.0";
  if (word == "2.1") return "2.1";
  if (word == "3" || word == "3.0") return "3.0";
  return "";
}

// Reads the words of a text from left to right. Sentences end at "." words. Three positions carry
// what was met before: sentence_, trigger_ and portion_until_.
class Reader {
 public:
  explicit Reader(const Words& words) : words_(words) {}

  // Goes through the words once. `portion_until_` says up to where names are about other people's
  // code.
  Notice Read() {
    const std::string all = Join(words_, 0, words_.size());
    notice_.choice = absl::c_any_of(kChoicePhrases, [&](absl::string_view phrase) {
      return absl::StrContains(all, absl::StrCat(" ", phrase, " "));
    });
    notice_.choice = notice_.choice || OffersOption();
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == ".") {
        EndSentence(i);
        sentence_ = portion_until_ = i + 1;
      }
      if (EndsPhrase(i, kPortionPhrases)) portion_until_ = i + 1 + kPortionWindow;
      const bool portion = i < portion_until_;
      const size_t licensed = portion ? i : ReadLicensed(i);
      if (licensed > i) {
        i = licensed - 1;
      } else if (IsTrigger(i)) {
        trigger_ = i;
        i = ReadNames(i + 1, portion || !IsStrong(i)) - 1;
      } else if (portion && IsDistinct(i)) {
        i = ReadName(i, true) - 1;
      } else {
        ReadDedication(i, portion);
      }
    }
    EndSentence(words_.size());
    return std::move(notice_);
  }

  // Reads words that must be one name, except for the word "license".
  Notice ReadBare() {
    size_t at = 0;
    while (at < words_.size() && IsListed(kFillers, words_[at])) ++at;
    const size_t end = ReadName(at, /*portion=*/false);
    if (end == at) return {};
    for (size_t i = end; i < words_.size(); ++i) {
      const bool part = IsListed(kFillers, words_[i]) || words_[i] == "." ||
                        words_[i] == "version" || words_[i] == "or" || words_[i] == "later" ||
                        words_[i] == "only" || !GnuVersion(words_[i]).empty() ||
                        IsGnuShortName(words_[i]);
      if (!part) return {};
    }
    return std::move(notice_);
  }

 private:
  static bool IsGnuShortName(absl::string_view word) {
    return IsListed(
        std::vector<absl::string_view>{"gpl", "gplv2", "gplv3", "lgplv2", "lgplv3", "agplv3"},
        word);
  }

  // Returns whether the text says "at your option", except in "(at your option) any later version".
  bool OffersOption() const {
    for (size_t i = 0; i + 2 < words_.size(); ++i) {
      if (Match(words_, i, "at your option") == 0) continue;
      if (i + 3 >= words_.size() || words_[i + 3] != "any") return true;
    }
    return false;
  }

  // Returns whether a licence may be named after word i.
  bool IsTrigger(size_t i) const {
    if (words_[i] == "under" || words_[i] == "licensed") return true;
    if (i == sentence_) return false;
    const absl::string_view before = words_[i - 1];
    return (words_[i] == "of" && before == "terms") || (words_[i] == "to" && before == "subject") ||
           (words_[i] == "by" && (before == "governed" || before == "covered"));
  }

  // Reads a name at the beginning of a sentence that "licensed" follows: "MIT licensed (see ...)".
  // Returns the position behind it, or `at`.
  size_t ReadLicensed(size_t at) {
    if (at != sentence_) return at;
    for (const LicenseName& name : kNames) {
      const size_t next = at + Match(words_, at, name.words);
      if (next == at || next >= words_.size() || words_[next] != "licensed") continue;
      trigger_ = at;
      Add(name, next, /*portion=*/false);
      Cover(at, next);
      return next + 1;
    }
    return at;
  }

  // Returns whether the trigger is about the text's own licence. It is not in "Quack (adapted under
  // Apache-2.0)".
  bool IsStrong(size_t trigger) const {
    if (words_[trigger] != "under") return true;
    if (Match(words_, trigger, "under the terms") > 0 ||
        Match(words_, trigger, "under terms") > 0) {
      return true;
    }
    for (size_t i = trigger; i > sentence_ && i + kVerbWindow > trigger; --i) {
      if (IsListed(kNoticeVerbs, words_[i - 1])) return true;
    }
    return false;
  }

  // Looks for the root's licence file in words [sentence_, end). A sentence with "under" and
  // without a name grants that file's licence; another sentence only points to it.
  void EndSentence(size_t end) {
    const size_t named = Named();
    const bool names_one = named > named_before_;
    named_before_ = named;
    if (!PointsToRoot(end)) return;
    bool grants = false;
    for (size_t i = sentence_; i < end && !grants; ++i) grants = IsTrigger(i) && IsStrong(i);
    const RootFile root = grants && !names_one ? RootFile::kGrants : RootFile::kPointedTo;
    notice_.root = std::max(notice_.root, root);
  }

  size_t Named() const {
    return notice_.own.size() + notice_.portions.size() + notice_.families.size();
  }

  // Returns whether the sentence speaks of a licence file at the root of the source.
  bool PointsToRoot(size_t end) const {
    size_t license = words_.size();
    for (size_t i = sentence_; i < end; ++i) {
      const auto is_here = [&](absl::string_view place) { return Match(words_, i, place) > 0; };
      const bool near = license < i && i - license <= kRootWindow;
      if (near && absl::c_any_of(kRootPlaces, is_here)) return true;
      if (is_here("root license")) return true;
      if (words_[i] == "license" || words_[i] == "copying") license = i;
    }
    return false;
  }

  // Returns whether a name begins here that cannot be a word of ordinary prose.
  bool IsDistinct(size_t i) const {
    return absl::c_any_of(kNames, [&](const LicenseName& name) {
      const absl::string_view text = name.words;
      const bool vague = text == "mit" || text == "isc" || text == "bsd" || text == "proprietary" ||
                         absl::EndsWith(name.id, "*");
      return !vague && Match(words_, i, text) > 0;
    });
  }

  template <typename List>
  bool EndsPhrase(size_t i, const List& phrases) const {
    return absl::c_any_of(phrases, [&](absl::string_view phrase) {
      const size_t length = 1 + std::count(phrase.begin(), phrase.end(), ' ');
      return i + 1 >= length && Match(words_, i + 1 - length, phrase) == length;
    });
  }

  // Reads the names at `at`, after a trigger. Returns the position after the last of them, at least
  // `at`.
  size_t ReadNames(size_t at, bool portion) {
    const size_t start = at;
    size_t fillers = 0;
    size_t end = start;
    while (at < words_.size() && fillers <= kMaxFillers) {
      const size_t next = ReadName(at, portion);
      if (next > at) {
        at = end = next;
        fillers = 0;
        continue;
      }
      const bool between = end == start ? IsListed(kFillers, words_[at]) : IsConnector(words_[at]);
      if (!between) break;
      ++at;
      ++fillers;
    }
    return end;
  }

  void ReadDedication(size_t at, bool portion) {
    for (const LicenseName& dedication : kDedications) {
      const size_t count = Match(words_, at, dedication.words);
      if (count == 0) continue;
      trigger_ = at;
      Add(dedication, at + count, portion);
      Cover(at, at + count);
    }
  }

  static bool IsConnector(absl::string_view word) { return IsListed(kConnectors, word); }

  // Reads the longest name at `at`. Returns the position after it, or `at` if there is no name.
  size_t ReadName(size_t at, bool portion) {
    const LicenseName* best = nullptr;
    size_t length = 0;
    for (const LicenseName& name : kNames) {
      const size_t count = Match(words_, at, name.words);
      if (count > length) {
        best = &name;
        length = count;
      }
    }
    if (best == nullptr || !IsUnambiguous(*best, at, at + length)) return at;
    Add(*best, at + length, portion);
    Cover(at, at + length);
    return at + length;
  }

  // Makes the words [begin, end), and the trigger that leads to them, part of the notice.
  void Cover(size_t begin, size_t end) {
    if (notice_.end == 0) notice_.begin = begin - std::min(begin - trigger_, kMaxFillers + 1);
    notice_.end = end;
  }

  // Returns whether a short name can only be the licence. "MIT" may be the institute and "BSD" a
  // system; "licensed under MIT", a list or the end of a sentence make it certain.
  bool IsUnambiguous(const LicenseName& name, size_t at, size_t next) const {
    const absl::string_view text = name.words;
    if (text != "mit" && text != "isc" && text != "bsd") return true;
    if (next >= words_.size()) return true;
    if (at >= 2 && Match(words_, at - 2, "licensed under") > 0) return true;
    return words_[next] == "." || words_[next] == "or" || words_[next] == "and" ||
           absl::StartsWith(words_[next], "license") || words_[next] == "see";
  }

  // Adds a name. A family's name about portions becomes an unclear licence, which no default policy
  // allows.
  void Add(const LicenseName& name, size_t next, bool portion) {
    absl::string_view id = name.id;
    if (absl::ConsumeSuffix(&id, "*")) {
      if (!portion) {
        notice_.families.emplace_back(id);
        return;
      }
      id = kUnclear;
    }
    const std::string text =
        absl::ConsumeSuffix(&id, "-?") ? GnuExpression(id, next) : std::string(id);
    absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(text);
    if (!expression.ok()) return;
    (portion ? notice_.portions : notice_.own).push_back(*std::move(expression));
  }

  // Returns the expression of a GNU licence; `id` is "GPL" or, with its version, "GPL-3.0".
  std::string GnuExpression(absl::string_view id, size_t next) const {
    const std::string after = Join(words_, next, next + kGnuWindow);
    const bool or_later =
        absl::StrContains(after, " any later version ") || absl::StrContains(after, " or later ") ||
        absl::StrContains(after, " or newer ") || absl::StrContains(after, " any later ");
    std::string version;
    for (size_t i = next; i < std::min(words_.size(), next + kGnuWindow) && version.empty(); ++i) {
      const bool adjacent = i == next || words_[i - 1] == "version" || words_[i - 1] == "v";
      if (adjacent || absl::StartsWith(words_[i], "v")) version = GnuVersion(words_[i]);
    }
    const bool has_version = absl::StrContains(id, '-');
    if (!has_version && version.empty()) {
      // SPDX: without a version, any version of a GNU licence may be chosen.
      return absl::StrCat(id, id == "LGPL" ? "-2.0" : "-1.0", "-or-later");
    }
    return absl::StrCat(id, has_version ? "" : "-", has_version ? "" : version,
                        or_later ? "-or-later" : "-only");
  }

  static constexpr char kUnclear[] = "LicenseRef-unclear";

  const Words& words_;
  size_t sentence_ = 0;       // first word of the sentence
  size_t named_before_ = 0;   // names read before it
  size_t trigger_ = 0;        // the last trigger
  size_t portion_until_ = 0;  // up to here the words are about other people's code
  Notice notice_;
};

}  // namespace

Notice ReadNotice(const std::vector<std::string>& words) { return Reader(words).Read(); }

// The evidence quotes the words from the trigger to the last name.
v1::LicenseEvidence NoticeEvidence(const Notice& notice, const std::vector<std::string>& words,
                                   int first_line, int last_line) {
  std::vector<SpdxExpression> named = notice.own;
  named.insert(named.end(), notice.portions.begin(), notice.portions.end());
  const std::string expression = named.empty() ? "" : SpdxExpression::All(named).ToString();
  const std::string text = Join(words, notice.begin, notice.end);
  return MakeEvidence("notice", expression, absl::StripAsciiWhitespace(text),
                      named.empty() ? 0 : kNoticeScore, {first_line, last_line});
}

Notice ReadLicenseName(absl::string_view text) {
  const std::vector<std::string> words = SentenceWords(text);
  return Reader(words).ReadBare();
}

}  // namespace kernelmill::validator
