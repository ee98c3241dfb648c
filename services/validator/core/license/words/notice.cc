// A notice is a trigger ("licensed under", "under the terms of"), a few filler words ("the", "a",
// "either") and a name from the table below; after a name more may follow ("... or the MIT
// license"). GNU licences are named apart from their version, which stands somewhere in the words
// that follow, as does "or (at your option) any later version".
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
#include "services/validator/core/license/text/evidence.h"
#include "services/validator/core/license/words/license_names.h"

namespace kernelmill::validator {
namespace {

using spdx::SentenceWords;
using Words = std::vector<std::string>;

constexpr double kNoticeScore = 0.95;
constexpr size_t kMaxFillers = 8;
constexpr size_t kGnuWindow =
    40;  // words after a GNU licence's name in which its version may stand
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
// What says, with "under", that something is licensed.
constexpr const char* kVerbs[] = {
    "licensed",      "licenses",     "license", "released", "distributed", "available",
    "provided",      "published",    "covered", "offered",  "is",          "are",
    "redistributed", "redistribute", "modify",  "falls",    "issued"};
// Words that make what follows in the sentence a licence of others' code.
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
                                          "either license"};

// Places that are the whole source's: "the LICENSE file in the root directory of this source tree".
constexpr const char* kRootPlaces[] = {
    "root directory", "root folder",         "root dir",          "root of",
    "project root",   "repository root",     "repo root",         "source root",
    "top level of",   "top level directory", "toplevel directory"};

template <typename List>
bool Contains(const List& list, absl::string_view word) {
  return absl::c_any_of(list, [&](absl::string_view entry) { return entry == word; });
}

// How many words of words[at...] the phrase takes up; 0 if it is not there.
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

// "3", "v3", "3.0", "v2.1" -> "3.0", "2.1"; empty if the word is no GNU licence's version.
std::string GnuVersion(absl::string_view word) {
  absl::ConsumePrefix(&word, "v");
  if (word == "1" || word == "1.0") return "1.0";
  if (word == "2" || word == "2.0") return "2.0";
  if (word == "2.1") return "2.1";
  if (word == "3" || word == "3.0") return "3.0";
  return "";
}

class Reader {
 public:
  explicit Reader(const Words& words) : words_(words) {}

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
      if (IsTrigger(i)) {
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

  // The whole of the words must be one name, the word "license" aside.
  Notice ReadBare() {
    size_t at = 0;
    while (at < words_.size() && Contains(kFillers, words_[at])) ++at;
    const size_t end = ReadName(at, /*portion=*/false);
    if (end == at) return {};
    for (size_t i = end; i < words_.size(); ++i) {
      const bool part = Contains(kFillers, words_[i]) || words_[i] == "." ||
                        words_[i] == "version" || words_[i] == "or" || words_[i] == "later" ||
                        words_[i] == "only" || !GnuVersion(words_[i]).empty() ||
                        IsGnuShortName(words_[i]);
      if (!part) return {};
    }
    return std::move(notice_);
  }

 private:
  static bool IsGnuShortName(absl::string_view word) {
    return Contains(
        std::vector<absl::string_view>{"gpl", "gplv2", "gplv3", "lgplv2", "lgplv3", "agplv3"},
        word);
  }

  // "at your option", but not "(at your option) any later version".
  bool OffersOption() const {
    for (size_t i = 0; i + 2 < words_.size(); ++i) {
      if (Match(words_, i, "at your option") == 0) continue;
      if (i + 3 >= words_.size() || words_[i + 3] != "any") return true;
    }
    return false;
  }

  bool IsTrigger(size_t i) const {
    if (words_[i] == "under" || words_[i] == "licensed") return true;
    return words_[i] == "of" && i > sentence_ && words_[i - 1] == "terms";
  }

  // Whether the trigger says what the text is under. "Quack (adapted under Apache-2.0)" does not.
  bool IsStrong(size_t trigger) const {
    if (words_[trigger] != "under") return true;
    if (Match(words_, trigger, "under the terms") > 0 ||
        Match(words_, trigger, "under terms") > 0) {
      return true;
    }
    for (size_t i = trigger; i > sentence_ && i + kVerbWindow > trigger; --i) {
      if (Contains(kVerbs, words_[i - 1])) return true;
    }
    return false;
  }

  // Looks in words [sentence_, end) for the root's licence file. A sentence that says "under" and
  // no name grants that file's licence; another only points there.
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

  bool PointsToRoot(size_t end) const {
    size_t license = words_.size();
    for (size_t i = sentence_; i < end; ++i) {
      const auto stands_here = [&](absl::string_view place) { return Match(words_, i, place) > 0; };
      const bool near = license < i && i - license <= kRootWindow;
      if (near && absl::c_any_of(kRootPlaces, stands_here)) return true;
      if (stands_here("root license")) return true;
      if (words_[i] == "license" || words_[i] == "copying") license = i;
    }
    return false;
  }

  // Whether a name that cannot be mistaken for a word of prose begins here.
  bool IsDistinct(size_t i) const {
    return absl::c_any_of(LicenseNames(), [&](const LicenseName& name) {
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

  // Reads the names that stand at `at` after a trigger; the position after the last of them, at
  // least `at`.
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
      const bool between = end == start ? Contains(kFillers, words_[at]) : IsConnector(words_[at]);
      if (!between) break;
      ++at;
      ++fillers;
    }
    return end;
  }

  void ReadDedication(size_t at, bool portion) {
    for (const LicenseName& dedication : Dedications()) {
      const size_t count = Match(words_, at, dedication.words);
      if (count == 0) continue;
      trigger_ = at;
      Add(dedication, at + count, portion);
      Cover(at, at + count);
    }
  }

  static bool IsConnector(absl::string_view word) { return Contains(kConnectors, word); }

  // Takes the longest name at `at`; the position after it, or `at` if there is none.
  size_t ReadName(size_t at, bool portion) {
    const LicenseName* best = nullptr;
    size_t length = 0;
    for (const LicenseName& name : LicenseNames()) {
      const size_t count = Match(words_, at, name.words);
      if (count > length) {
        best = &name;
        length = count;
      }
    }
    if (best == nullptr || !StandsAlone(*best, at, at + length)) return at;
    Add(*best, at + length, portion);
    Cover(at, at + length);
    return at + length;
  }

  // Counts the words [begin, end) as part of the notice, and the trigger that leads to them.
  void Cover(size_t begin, size_t end) {
    if (notice_.end == 0) notice_.begin = begin - std::min(begin - trigger_, kMaxFillers + 1);
    notice_.end = end;
  }

  // "MIT" alone may be the institute, "BSD" a system; "licensed under MIT", a list or the end of a
  // sentence make it sure.
  bool StandsAlone(const LicenseName& name, size_t at, size_t next) const {
    const absl::string_view text = name.words;
    if (text != "mit" && text != "isc" && text != "bsd") return true;
    if (next >= words_.size()) return true;
    if (at >= 2 && Match(words_, at - 2, "licensed under") > 0) return true;
    return words_[next] == "." || words_[next] == "or" || words_[next] == "and" ||
           absl::StartsWith(words_[next], "license") || words_[next] == "see";
  }

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

  // `id` is "GPL" or, with its version, "GPL-3.0".
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
      // SPDX: a GNU licence named without a version may be taken in any.
      return absl::StrCat(id, id == "LGPL" ? "-2.0" : "-1.0", "-or-later");
    }
    return absl::StrCat(id, has_version ? "" : "-", has_version ? "" : version,
                        or_later ? "-or-later" : "-only");
  }

  static constexpr char kUnclear[] = "LicenseRef-unclear";

  const Words& words_;
  size_t sentence_ = 0;       // where the sentence began
  size_t named_before_ = 0;   // names read before it
  size_t trigger_ = 0;        // the last
  size_t portion_until_ = 0;  // up to here the talk is of others' code
  Notice notice_;
};

}  // namespace

Notice ReadNotice(const std::vector<std::string>& words) { return Reader(words).Read(); }

v1::LicenseEvidence NoticeEvidence(const Notice& notice, const std::vector<std::string>& words,
                                   int first_line, int last_line) {
  std::vector<SpdxExpression> named = notice.own;
  named.insert(named.end(), notice.portions.begin(), notice.portions.end());
  const std::string expression = named.empty() ? "" : SpdxExpression::All(named).ToString();
  const std::string text = Join(words, notice.begin, notice.end);
  return MakeEvidence("notice", expression, absl::StripAsciiWhitespace(text),
                      named.empty() ? 0 : kNoticeScore, first_line, last_line);
}

Notice ReadLicenseName(absl::string_view text) {
  const std::vector<std::string> words = SentenceWords(text);
  return Reader(words).ReadBare();
}

}  // namespace kernelmill::validator
