#include "services/validator/core/license/words/origins.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/words/code_names.h"
#include "services/validator/core/license/words/comment_blocks.h"
#include "services/validator/core/license/words/origin_words.h"

namespace kernelmill::validator {
namespace {

template <typename List>
bool Has(const List& list, absl::string_view word) {
  return absl::c_linear_search(list, word);
}

constexpr size_t kMaxStatements = 64;
constexpr size_t kMaxOrigin = 200;
constexpr size_t kMaxLine = 1000;
constexpr size_t kMaxBetween = 5;  // words between "adapted" and "from"
constexpr size_t kMaxNameWords = 6;
constexpr size_t kMaxOpening = 12;  // words before the verb
constexpr size_t kMaxListed = 8;    // addresses on the lines below

class Finder {
 public:
  Finder(absl::string_view repository, const OwnFiles& own)
      : repository_(absl::AsciiStrToLower(RepositoryOf(repository))), own_(own) {}

  void Read(const CommentBlock& block) {
    for (size_t i = 0; i < block.lines.size() && statements_.size() < kMaxStatements; ++i) {
      ReadLine(block, i);
    }
  }

  std::vector<OriginStatement> Take() && { return std::move(statements_); }

 private:
  static absl::string_view TextOf(const CommentBlock& block, size_t line) {
    return block.lines[line].text.substr(0, kMaxLine);
  }

  void ReadLine(const CommentBlock& block, size_t line) {
    const absl::string_view text = TextOf(block, line);
    const std::vector<Word> words = WordsOf(text);
    const std::vector<absl::string_view> addresses = Addresses(text);
    for (size_t i = 0; i < words.size(); ++i) {
      if (IsInspiredBy(words, i)) return;
      size_t after = i;
      const Verb verb = VerbAt(words, i, &after);
      if (verb == Verb::kNone) continue;
      const std::vector<std::string> origins =
          Object(block, line, words, addresses, verb, i, after);
      for (const std::string& origin : origins) Keep(block, line, origin);
      if (!origins.empty()) return;
    }
  }

  // An idea is no code. "Inspired and modified from" says more.
  static bool IsInspiredBy(const std::vector<Word>& words, size_t at) {
    return words[at].lower == "inspired" && at + 1 < words.size() &&
           (words[at + 1].lower == "by" || words[at + 1].lower == "from");
  }

  static bool InspiredAfter(const std::vector<Word>& words, size_t at) {
    for (; at < words.size(); ++at) {
      if (IsInspiredBy(words, at)) return true;
    }
    return false;
  }

  // The verb at word `at`, and the word that follows what belongs to it.
  static Verb VerbAt(const std::vector<Word>& words, size_t at, size_t* after) {
    const auto is = [&](size_t i, absl::string_view word) {
      return i < words.size() && words[i].lower == word;
    };
    const absl::string_view word = words[at].lower;
    if (word == "based" && (is(at + 1, "on") || is(at + 1, "upon") || is(at + 1, "off"))) {
      *after = at + 2 + (is(at + 1, "off") && is(at + 2, "of") ? 1 : 0);
      return Verb::kBase;
    }
    if (word == "credit" || word == "credits" || word == "courtesy") {
      *after = at + 1 + (is(at + 1, "goes") || is(at + 1, "go") ? 1 : 0);
      if (is(*after, "to") || is(*after, "of")) ++*after;
      return *after > at + 1 || words[at].ends ? Verb::kAuthorship : Verb::kNone;
    }
    if (Has(kNouns, word) && is(at + 1, "of")) {
      *after = at + 2;
      return Verb::kNoun;
    }
    // "copied/adapted"
    const absl::string_view first = word.substr(0, word.find('/'));
    for (const VerbWord& verb : kVerbs) {
      if (first != verb.word) continue;
      size_t from = at + 1;
      while (from < words.size() && from <= at + kMaxBetween && Has(kBetween, words[from].lower)) {
        ++from;
      }
      if (!is(from, "from")) continue;
      *after = from + 1;
      return verb.verb;
    }
    const bool labels = at == 0 && words[at].ends && (word == "source" || word == "src");
    if (word == "original" || labels || (at == 0 && word == "from")) {
      *after = at + 1;
      return Verb::kWeak;
    }
    // "code based https://...", "copies https://..."
    const bool verb = word == "based" || word == "copies";
    if (verb && at + 1 < words.size() && IsAddress(words[at + 1].text)) {
      *after = at + 1;
      return Verb::kBase;
    }
    return Verb::kNone;
  }

  // What the code was taken from, as written; several addresses are several origins.
  std::vector<std::string> Object(const CommentBlock& block, size_t line,
                                  const std::vector<Word>& words,
                                  const std::vector<absl::string_view>& addresses, Verb verb,
                                  size_t verb_at, size_t after) const {
    std::vector<absl::string_view> here;
    for (const absl::string_view address : addresses) {
      const bool follows = after < words.size() && address.data() >= words[after].text.data();
      if (follows) here.push_back(address);
    }
    if (!here.empty()) return Others(here);
    std::vector<std::string> origins;
    const size_t first = FirstNamed(words, after);
    if (first >= words.size() || words.size() - first <= kMaxNameWords) {
      const std::vector<absl::string_view> below = AddressesBelow(block, line);
      if (!below.empty()) return Others(below);
    }
    if (verb == Verb::kWeak || InspiredAfter(words, after)) return {};
    std::string name;
    if (first < words.size()) {
      name = Named(words, first, verb, verb_at);
    } else if (after >= words.size() && line + 1 < block.lines.size()) {
      // "This code is adapted from" / "the flash-attention repository"
      const std::vector<absl::string_view> there = Addresses(TextOf(block, line + 1));
      if (!there.empty()) return Others(there);
      const std::vector<Word> next = WordsOf(TextOf(block, line + 1));
      const size_t begin = FirstNamed(next, 0);
      if (begin < next.size() && Opens(words, verb_at)) name = Named(next, begin, verb, begin);
    }
    if (!name.empty()) origins.push_back(std::move(name));
    return origins;
  }

  // The addresses with which the lines below begin.
  static std::vector<absl::string_view> AddressesBelow(const CommentBlock& block, size_t line) {
    std::vector<absl::string_view> found;
    for (size_t i = line + 1; i < block.lines.size() && found.size() < kMaxListed; ++i) {
      absl::string_view text = TextOf(block, i);
      const size_t begin = text.find_first_not_of("-*([<1234567890. ");
      if (begin == absl::string_view::npos || !IsAddress(text.substr(begin))) break;
      found.push_back(AddressAt(text, begin));
    }
    return found;
  }

  // Those of code that is not the source's own.

  std::vector<std::string> Others(const std::vector<absl::string_view>& addresses) const {
    std::vector<std::string> others;
    for (const absl::string_view address : addresses) {
      const bool counts = IsOfCode(address) && !IsOwn(RepositoryOf(address));
      if (counts) others.emplace_back(address);
    }
    return others;
  }

  // Whether it is the source's own repository, whoever holds it now.
  bool IsOwn(absl::string_view repository) const {
    if (repository_.empty()) return false;
    return Squeezed(BaseName(repository_)) == Squeezed(BaseName(repository));
  }

  static size_t FirstNamed(const std::vector<Word>& words, size_t at) {
    while (at < words.size() && Has(kArticles, words[at].lower)) ++at;
    return at;
  }

  // Whether the words before the verb are such as open a sentence.
  static bool Opens(const std::vector<Word>& words, size_t verb) {
    for (size_t i = verb; i > 0 && !words[i - 1].ends; --i) {
      if (verb - i == kMaxOpening) return false;
      if (!Has(kOpening, words[i - 1].lower)) return false;
    }
    return true;
  }

  std::string Named(const std::vector<Word>& words, size_t first, Verb verb, size_t verb_at) const {
    const Word& word = words[first];
    const bool alone = word.ends || first + 1 == words.size() ||
                       Has(kNameEnds, words[first + 1].lower) ||
                       Has(kArticles, words[first + 1].lower);
    const bool path = IsSourceFile(word.text) || absl::c_count(word.text, '/') >= 2;
    if (path) {
      const bool strong = verb != Verb::kBase || Opens(words, verb_at);
      const bool others = !own_.Has(word.text) && absl::c_none_of(word.text, [](char c) {
        return c == '(' || c == '=' || c == '$';
      });
      // "q/k/v" is no path.
      return strong && others && IsSourceFile(word.text) ? std::string(word.text) : "";
    }
    if (IsOwnerAndName(word.text)) {
      const bool known = IsProject(BaseName(word.text)) || IsProject(ParentFolder(word.text));
      const bool marked = word.text.find_first_of("-0123456789") != absl::string_view::npos;
      const bool taken = known || (alone && (marked || verb == Verb::kAuthorship));
      return taken && verb != Verb::kNone && !IsOwn(word.text) ? std::string(word.text) : "";
    }
    return Name(words, first, verb, verb_at);
  }

  std::string Name(const std::vector<Word>& words, size_t first, Verb verb, size_t verb_at) const {
    size_t last = first;
    bool known = NamesProject(words, first);
    bool own = IsOwn(words[first].text);
    while (!words[last].ends && last + 1 < words.size() && last < first + kMaxNameWords - 1 &&
           !Has(kNameEnds, words[last + 1].lower) && !words[last + 1].quoted) {
      ++last;
      known = known || NamesProject(words, last);
      own = own || IsOwn(words[last].text);
    }
    if (own) return "";
    const bool opens = Opens(words, verb_at);
    const bool proper = verb == Verb::kAuthorship && opens && IsProper(words[first].text) &&
                        !own_.Has(absl::StrCat(words[first].text, ".py"));
    if (!proper && !(known && (opens || verb != Verb::kBase))) return "";
    const char* const end = words[last].text.data() + words[last].text.size();
    const char* const begin = words[first].text.data();
    return std::string(begin, static_cast<size_t>(end - begin));
  }

  void Keep(const CommentBlock& block, size_t line, absl::string_view origin) {
    OriginStatement statement;
    statement.origin = ToUtf8(origin.substr(0, kMaxOrigin));
    statement.line = block.lines[line].number;
    statement.whole_file = block.in_head;
    statement.first_line = block.first_line();
    statement.last_line = block.last_line();
    const absl::string_view text = TextOf(block, line);
    const size_t copyright = absl::AsciiStrToLower(text).find("copyright");
    if (copyright != absl::string_view::npos) {
      statement.copyright = ToUtf8(text.substr(copyright, kMaxOrigin));
    }
    const bool repeated = absl::c_any_of(statements_, [&](const OriginStatement& known) {
      return known.origin == statement.origin &&
             ((known.whole_file && statement.whole_file) ||
              (known.first_line == statement.first_line && known.last_line == statement.last_line));
    });
    if (!repeated && statements_.size() < kMaxStatements)
      statements_.push_back(std::move(statement));
  }

  const std::string repository_;  // "o/n" in lower case
  const OwnFiles& own_;
  std::vector<OriginStatement> statements_;
};

}  // namespace

std::vector<OriginStatement> FindOrigins(absl::string_view path, absl::string_view content,
                                         absl::string_view repository, const OwnFiles& own) {
  Finder finder(repository, own);
  for (const CommentBlock& block : CommentBlocks(path, content)) finder.Read(block);
  return std::move(finder).Take();
}

bool IsAbout(const OriginStatement& statement, int first_line, int last_line) {
  if (statement.whole_file) return true;
  if (statement.line >= first_line && statement.line <= last_line) return true;
  constexpr int kMaxGap = 2;  // a blank line may stand between
  return statement.last_line < first_line && statement.last_line + kMaxGap >= first_line;
}

namespace {

// "triton-lang" of "https://triton-lang.org/main/x": the host without its last part. Empty where a
// path on the host is a repository's.
absl::string_view SiteOf(absl::string_view address) {
  for (const absl::string_view scheme : {"https://", "http://", "www."}) {
    absl::ConsumePrefix(&address, scheme);
  }
  const absl::string_view host = address.substr(0, address.find_first_of("/:?#"));
  for (const absl::string_view code : {"github.com", "gitlab.com", "huggingface.co",
                                       "bitbucket.org", "codeberg.org", "gitee.com"}) {
    if (absl::EqualsIgnoreCase(host, code)) return {};
  }
  return host.substr(0, host.rfind('.'));
}

}  // namespace

std::vector<std::string> NamesOf(absl::string_view origin) {
  constexpr size_t kMinName = 3;
  constexpr size_t kMinOwner = 8;
  std::vector<std::string> names;
  const auto add = [&](absl::string_view name, size_t least) {
    const std::string squeezed = Squeezed(name);
    if (squeezed.size() < least) return;
    names.push_back(spdx::NormalizeWords(name));
    names.push_back(absl::StrCat(" ", squeezed, " "));
  };
  const absl::string_view site = IsAddress(origin) ? SiteOf(origin) : absl::string_view();
  if (!site.empty()) {
    add(site, kMinName);
    return names;
  }
  if (IsAddress(origin) || IsOwnerAndName(origin)) {
    const std::string repository = RepositoryOf(origin);
    add(BaseName(repository), kMinName);
    add(ParentFolder(repository), kMinOwner);
    return names;
  }
  const std::vector<Word> words = WordsOf(origin);
  for (size_t i = 0; i < words.size(); ++i) {
    if (NamesProject(words, i)) add(words[i].text, kMinName);
    if (IsProper(words[i].text)) add(words[i].text, kMinName + 1);
  }
  return names;
}

bool HaveOneOf(const std::string& normalized, const std::vector<std::string>& names) {
  return absl::c_any_of(names, [&](absl::string_view name) { return Contains(normalized, name); });
}

bool NamesOrigin(absl::string_view text, absl::string_view origin) {
  return HaveOneOf(spdx::NormalizeWords(text), NamesOf(origin));
}

}  // namespace kernelmill::validator
