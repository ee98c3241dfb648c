// Origins, the basic idea: comments that give credit use few verbs ("adapted from", "based on") but
// name the origin in any form. The verbs are also used for other things ("copied from shared
// memory", "derived from the mask"), so the weaker the verb, the more certain the name after it
// must be: an address is always an origin, a known project is one after most verbs, and an unknown
// name only after a verb of authorship at the beginning of a sentence. A missed origin costs a
// label; a wrong one blames a source, so doubt means no origin.
#include "services/validator/core/license/words/origins.h"

#include <algorithm>
#include <cstddef>
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
#include "services/validator/core/license/words/comment_blocks.h"
#include "services/validator/core/license/words/origin_words.h"

namespace kernelmill::validator {
namespace {

// A word of a line of prose. The functions below find the addresses, repositories, files and
// projects that such a line names.
struct Word {
  absl::string_view text;  // without the signs around it
  std::string lower;
  size_t at = 0;      // its offset in the line
  bool ends = false;  // a sign that ends a clause follows
  bool quoted = false;
};

template <typename List>
bool Has(const List& list, absl::string_view word) {
  return absl::c_linear_search(list, word);
}

// Returns whether the text begins like an address: "https://", "github.com/".
bool IsAddress(absl::string_view text) {
  for (const absl::string_view begin : {"https://", "http://", "github.com/", "www.github.com/",
                                        "huggingface.co/", "gitlab.com/"}) {
    if (absl::StartsWithIgnoreCase(text, begin)) return true;
  }
  return false;
}

// Returns the letters and digits of a name in lower case: "flashlinearattention" for
// "Flash-Linear-Attention's".
std::string Squeezed(absl::string_view name) {
  for (const absl::string_view owner : {"'s", "\xe2\x80\x99s", "'"})
    absl::ConsumeSuffix(&name, owner);
  std::string squeezed;
  for (const char c : name) {
    if (absl::ascii_isalnum(c)) squeezed.push_back(absl::ascii_tolower(c));
  }
  return squeezed;
}

// Splits a line at blanks, and notes the signs around each word: they end clauses and mark quotes.
std::vector<Word> SplitWords(absl::string_view line) {
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
    // "(x" begins a clause, so the word before it ends one.
    if (begin > 0 && part[0] == '(' && !words.empty()) words.back().ends = true;
    words.push_back(std::move(word));
  }
  return words;
}

// Returns whether the address may hold code: not a paper or documentation.
bool IsOfCode(absl::string_view address) {
  const std::string lower = absl::AsciiStrToLower(address);
  if (absl::EndsWith(lower, ".pdf")) return false;
  return absl::c_none_of(kNoCode,
                         [&](absl::string_view no) { return absl::StrContains(lower, no); });
}

// Returns the address at `at`, without the signs that close the sentence around it.
absl::string_view AddressAt(absl::string_view line, size_t at) {
  absl::string_view address = line.substr(at);
  address = address.substr(0, address.find_first_of(" \t\r\"'`<>|"));
  while (!address.empty() && absl::StrContains(".,;:!?)]}", address.back())) {
    // In "(https://x/y_(z))" the bracket that was opened in the address belongs to it.
    const bool own = address.back() == ')' && absl::StrContains(address, '(');
    if (own) break;
    address.remove_suffix(1);
  }
  return address;
}

// Returns where an address begins in a word such as "kernel(https://x"; the word's size if it has
// none.
size_t FindAddress(absl::string_view word) {
  for (const absl::string_view scheme : {"https://", "http://"}) {
    const size_t at = word.find(scheme);
    if (at != absl::string_view::npos) return at;
  }
  return IsAddress(word) ? 0 : word.size();
}

}  // namespace

// Returns all addresses in a line, of code or not.
std::vector<absl::string_view> Addresses(absl::string_view line) {
  std::vector<absl::string_view> found;
  for (const Word& word : SplitWords(line)) {
    const size_t at = FindAddress(word.text);
    if (at < word.text.size()) found.push_back(AddressAt(line, word.at + at));
  }
  return found;
}

// Returns "o/n" for an address of a repository, else its host; owner/name itself; else nothing.
std::string FindRepository(absl::string_view origin) {
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

// Returns whether a word is a known project (kProjects in origin_words.h).
bool IsProject(absl::string_view word) { return Has(kProjects, Squeezed(word)); }

// Returns whether words[at] names a known project: "mamba_ssm.ops.triton" and "vllm/attention" do.
// A platform's name needs a word after it that means its own code: "Triton tutorial".
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

// Returns whether a word is a proper name, such as "FlagAttention", "Tri" or "ant_AReaL": not a
// common word, a constant or a unit of hardware.
bool IsProper(absl::string_view word) {
  if (word.size() < 3 || absl::EndsWith(word, "ly") || Has(kNoProjects, Squeezed(word)))
    return false;
  const bool upper = absl::c_any_of(word, [](char c) { return absl::ascii_isupper(c); });
  const bool lower = absl::c_any_of(word, [](char c) { return absl::ascii_islower(c); });
  return upper && lower && absl::c_none_of(word, [](char c) { return c == '(' || c == '='; });
}

// Returns whether the text is "owner/name". GitHub's owners have neither '_' nor '.' in their
// names.
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

namespace {

constexpr size_t kMaxStatements = 64;
constexpr size_t kMaxOrigin = 200;
constexpr size_t kMaxLine = 1000;
constexpr size_t kMaxBetween = 5;  // words between "adapted" and "from"
constexpr size_t kMaxNameWords = 6;
constexpr size_t kMaxOpening = 12;  // words before the verb
constexpr size_t kMaxListed = 8;    // addresses on the lines below

// Finds the statements of a file, comment by comment and line by line. The first verb of a line
// that has an origin ends the line.
class Finder {
 public:
  Finder(absl::string_view repository, const OwnFiles& own)
      : repository_(absl::AsciiStrToLower(FindRepository(repository))), own_(own) {}

  void Read(const CommentBlock& block) {
    for (size_t i = 0; i < block.lines.size() && statements_.size() < kMaxStatements; ++i) {
      ReadLine(block, i);
    }
  }

  std::vector<OriginStatement> Take() && { return std::move(statements_); }

 private:
  // A line of a comment, with its words and addresses.
  struct TextLine {
    const CommentBlock& block;
    size_t line;  // in the block
    std::vector<Word> words;
    std::vector<absl::string_view> addresses;
  };

  // A verb in a line: its first word, and the word behind everything that belongs to it.
  struct FoundVerb {
    Verb verb;
    size_t at;
    size_t after;
  };

  static absl::string_view LineText(const CommentBlock& block, size_t line) {
    return block.lines[line].text.substr(0, kMaxLine);
  }

  void ReadLine(const CommentBlock& block, size_t line) {
    const absl::string_view text = LineText(block, line);
    const TextLine here = {block, line, SplitWords(text), Addresses(text)};
    for (size_t i = 0; i < here.words.size(); ++i) {
      if (IsInspiredBy(here.words, i)) return;
      size_t after = i;
      const Verb verb = VerbAt(here.words, i, &after);
      if (verb == Verb::kNone) continue;
      const std::vector<std::string> origins = Object(here, {verb, i, after});
      for (const std::string& origin : origins) Keep(block, line, origin);
      if (!origins.empty()) return;
    }
  }

  // Returns whether the words say "inspired by", which is about an idea and not about code.
  // "Inspired and modified from" says more.
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

  // Returns the verb at word `at`, and sets `after` to the word behind everything that belongs to
  // it.
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

  // Returns the origins after a verb, as written. Several addresses are several origins.
  std::vector<std::string> Object(const TextLine& line, const FoundVerb& verb) const {
    const std::vector<Word>& words = line.words;
    std::vector<absl::string_view> here;
    for (const absl::string_view address : line.addresses) {
      const bool follows =
          verb.after < words.size() && address.data() >= words[verb.after].text.data();
      if (follows) here.push_back(address);
    }
    if (!here.empty()) return Others(here);
    std::vector<std::string> origins;
    const size_t first = FirstNamed(words, verb.after);
    if (first >= words.size() || words.size() - first <= kMaxNameWords) {
      const std::vector<absl::string_view> below = AddressesBelow(line.block, line.line);
      if (!below.empty()) return Others(below);
    }
    if (verb.verb == Verb::kWeak || InspiredAfter(words, verb.after)) return {};
    std::string name;
    if (first < words.size()) {
      name = Named(words, first, verb.verb, verb.at);
    } else if (verb.after >= words.size() && line.line + 1 < line.block.lines.size()) {
      // "This code is adapted from" / "the flash-attention repository"
      const absl::string_view next_line = LineText(line.block, line.line + 1);
      const std::vector<absl::string_view> there = Addresses(next_line);
      if (!there.empty()) return Others(there);
      const std::vector<Word> next = SplitWords(next_line);
      const size_t begin = FirstNamed(next, 0);
      if (begin < next.size() && Opens(words, verb.at)) {
        name = Named(next, begin, verb.verb, begin);
      }
    }
    if (!name.empty()) origins.push_back(std::move(name));
    return origins;
  }

  // Returns the addresses with which the lines below begin.
  static std::vector<absl::string_view> AddressesBelow(const CommentBlock& block, size_t line) {
    std::vector<absl::string_view> found;
    for (size_t i = line + 1; i < block.lines.size() && found.size() < kMaxListed; ++i) {
      absl::string_view text = LineText(block, i);
      const size_t begin = text.find_first_not_of("-*([<1234567890. ");
      if (begin == absl::string_view::npos || !IsAddress(text.substr(begin))) break;
      found.push_back(AddressAt(text, begin));
    }
    return found;
  }

  // Returns the addresses of code that is not the source's own.

  std::vector<std::string> Others(const std::vector<absl::string_view>& addresses) const {
    std::vector<std::string> others;
    for (const absl::string_view address : addresses) {
      const bool counts = IsOfCode(address) && !IsOwn(FindRepository(address));
      if (counts) others.emplace_back(address);
    }
    return others;
  }

  // Returns whether it is the source's own repository, under any owner.
  bool IsOwn(absl::string_view repository) const {
    if (repository_.empty()) return false;
    return Squeezed(BaseName(repository_)) == Squeezed(BaseName(repository));
  }

  static size_t FirstNamed(const std::vector<Word>& words, size_t at) {
    while (at < words.size() && Has(kArticles, words[at].lower)) ++at;
    return at;
  }

  // Returns whether the words before the verb can open a sentence.
  static bool Opens(const std::vector<Word>& words, size_t verb) {
    for (size_t i = verb; i > 0 && !words[i - 1].ends; --i) {
      if (verb - i == kMaxOpening) return false;
      if (!Has(kOpening, words[i - 1].lower)) return false;
    }
    return true;
  }

  // Returns the origin that begins at word `first`, if it is certain enough for the verb; else
  // empty.
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
      // "q/k/v" is not a path.
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

  // Returns a name of several words up to the word that ends it: a known project, or a proper name.
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

  // Keeps a statement, unless the same origin is known for the same lines.
  void Keep(const CommentBlock& block, size_t line, absl::string_view origin) {
    OriginStatement statement;
    statement.origin = ToUtf8(origin.substr(0, kMaxOrigin));
    statement.line = block.lines[line].number;
    statement.whole_file = block.in_head;
    statement.first_line = block.first_line();
    statement.last_line = block.last_line();
    const absl::string_view text = LineText(block, line);
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

std::vector<OriginStatement> FindOrigins(code::Language language, absl::string_view text,
                                         absl::string_view repository, const OwnFiles& own) {
  Finder finder(repository, own);
  for (const CommentBlock& block : CommentBlocks(language, text)) finder.Read(block);
  return std::move(finder).Take();
}

bool IsAbout(const OriginStatement& statement, int first_line, int last_line) {
  if (statement.whole_file) return true;
  if (statement.line >= first_line && statement.line <= last_line) return true;
  constexpr int kMaxGap = 2;  // a blank line may be between
  return statement.last_line < first_line && statement.last_line + kMaxGap >= first_line;
}

namespace {

// Returns the host of an address without its last part: "triton-lang" for
// "https://triton-lang.org/main/x". Empty for a host on which paths are repositories.
absl::string_view FindSite(absl::string_view address) {
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

// Short names are left out: they occur in any text.
std::vector<std::string> FindNames(absl::string_view origin) {
  constexpr size_t kMinName = 3;
  constexpr size_t kMinOwner = 8;
  std::vector<std::string> names;
  const auto add = [&](absl::string_view name, size_t least) {
    const std::string squeezed = Squeezed(name);
    if (squeezed.size() < least) return;
    names.push_back(spdx::NormalizeWords(name));
    names.push_back(absl::StrCat(" ", squeezed, " "));
  };
  const absl::string_view site = IsAddress(origin) ? FindSite(origin) : absl::string_view();
  if (!site.empty()) {
    add(site, kMinName);
    return names;
  }
  if (IsAddress(origin) || IsOwnerAndName(origin)) {
    const std::string repository = FindRepository(origin);
    add(BaseName(repository), kMinName);
    add(ParentFolder(repository), kMinOwner);
    return names;
  }
  const std::vector<Word> words = SplitWords(origin);
  for (size_t i = 0; i < words.size(); ++i) {
    if (NamesProject(words, i)) add(words[i].text, kMinName);
    if (IsProper(words[i].text)) add(words[i].text, kMinName + 1);
  }
  return names;
}

bool ContainsAny(const std::string& normalized, const std::vector<std::string>& names) {
  return absl::c_any_of(names, [&](absl::string_view name) { return Contains(normalized, name); });
}

bool NamesOrigin(absl::string_view text, absl::string_view origin) {
  return ContainsAny(spdx::NormalizeWords(text), FindNames(origin));
}

}  // namespace kernelmill::validator
