#include "services/validator/core/quality/kind.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/code/lexer.h"
#include "services/validator/core/quality/stub.h"
#include "services/validator/core/quality/words.h"

namespace kernelmill::validator {
namespace {

using Words = std::vector<absl::string_view>;

// What stands first or last in the name of a folder, file or function of such a kind.
struct PlaceWords {
  absl::string_view kind;
  Words words;
};

const std::vector<PlaceWords>& Places() {
  static const auto* const places = new std::vector<PlaceWords>{
      {"test",
       {"test", "tests", "testing", "testcase", "testcases", "testsuite", "unittest", "unittests",
        "conftest"}},
      {"benchmark",
       {"bench", "benches", "benchmark", "benchmarks", "benchmarking", "microbench",
        "microbenchmark", "microbenchmarks"}},
      {"example",
       {"example",  "examples",   "tutorial",   "tutorials", "demo",      "demos",    "lecture",
        "lectures", "puzzle",     "puzzles",    "exercise",  "exercises", "homework", "workshop",
        "cookbook", "playground", "quickstart", "notebook",  "notebooks", "course",   "courses"}}};
  return *places;
}

// Whole segments beside these words, since a file samples.py may well sample.
const Words& ExampleFolders() {
  static const auto* const words = new Words{"sample", "samples", "getting_started"};
  return *words;
}

// In the name of a kernel, anywhere, unless "no" or its like stands before it.
const Words& FaultyNames() {
  static const auto* const words = new Words{"buggy",    "broken",   "faulty", "racy", "erroneous",
                                             "segfault", "deadlock", "xfail",  "oob"};
  return *words;
}

// In a folder's or file's name, anywhere.
const Words& FaultyPlaces() {
  static const auto* const words =
      new Words{"sanitizer", "sanitizers", "buggy", "broken", "xfail", "racy"};
  return *words;
}

// In such a name, one word after another.
const std::vector<absl::string_view>& FaultyPlacePhrases() {
  static const auto* const phrases = new std::vector<absl::string_view>{
      "data race",      "race condition", "buffer overflow", "out of bounds",
      "use after free", "memory leak",    "fault injection"};
  return *phrases;
}

// In the name of a test, anywhere, unless "no" or its like stands before it: what is tested is that
// something fails.
const Words& FailingTests() {
  static const auto* const words =
      new Words{"raises",   "raise",  "fails",    "fail",    "failing",   "failure",
                "failures", "error",  "errors",   "invalid", "illegal",   "unsupported",
                "race",     "races",  "racy",     "wrong",   "incorrect", "mismatch",
                "buggy",    "broken", "crash",    "crashes", "hang",      "hangs",
                "deadlock", "faulty", "segfault", "oob",     "xfail",     "uninitialized"};
  return *words;
}

// After a fault, what makes it a mere subject.
const Words& Subjects() {
  static const auto* const words =
      new Words{"detection", "detector", "free", "handler", "handling"};
  return *words;
}

const Words& Negations() {
  static const auto* const words = new Words{
      "no",       "not", "without", "never", "against", "avoid", "avoids", "avoiding", "prevent",
      "prevents", "fix", "fixes",   "mask",  "masked",  "clamp", "check",  "handle",   "handles"};
  return *words;
}

const Words& OnPurpose() {
  static const auto* const words =
      new Words{"deliberate", "deliberately", "intentional", "intentionally",
                "purposely",  "purposefully", "purposeful"};
  return *words;
}

const Words& Faults() {
  static const auto* const words = new Words{
      "broken",  "buggy",    "bug",        "bugs",          "wrong",   "incorrect", "incorrectly",
      "race",    "races",    "racy",       "racing",        "oob",     "crash",     "crashes",
      "hang",    "hangs",    "fault",      "faults",        "faulty",  "fail",      "fails",
      "failing", "illegal",  "unsafe",     "leak",          "leaks",   "deadlock",  "deadlocks",
      "corrupt", "corrupts", "misaligned", "uninitialized", "segfault"};
  return *words;
}

// Said of a kernel that is wrong on purpose, word by word.
const std::vector<absl::string_view>& FaultyPhrases() {
  static const auto* const phrases = new std::vector<absl::string_view>{
      "should fail",      "should not compile", "expected to fail",     "expected failure",
      "buggy kernel",     "buggy version",      "this kernel is buggy", "this kernel is broken",
      "simulate bug",     "simulate a bug",     "simulates a bug",      "inject a bug",
      "injects a bug",    "inject a fault",     "fault injection",      "triggers a race",
      "trigger a race",   "causes a data race", "has a data race",      "out of bounds on purpose",
      "wrong on purpose", "fail on purpose",    "fails on purpose",     "race on purpose"};
  return *phrases;
}

// Said where somebody is to write the kernel.
const std::vector<absl::string_view>& UnfilledPhrases() {
  static const auto* const phrases = new std::vector<absl::string_view>{
      "your code here", "your code goes here", "write your code", "finish me",
      "fill me in",     "fill this in",        "implement me",    "your implementation here"};
  return *phrases;
}

constexpr size_t kFaultWithin = 4;         // words after one of OnPurpose()
constexpr int kTokensOfAnOperation = 128;  // in a folder of tests

bool IsIn(const Words& list, absl::string_view word) { return absl::c_linear_search(list, word); }

// "test2" begins with the word "test".
absl::string_view WithoutDigits(absl::string_view word) {
  while (word.size() > 1 && absl::ascii_isdigit(word.back())) word.remove_suffix(1);
  return word;
}

absl::string_view WithoutEnding(absl::string_view file) { return file.substr(0, file.rfind('.')); }

bool IsTestTime(const std::vector<std::string>& words) {
  return words.size() > 1 && words[0] == "test" && words[1] == "time";
}

// The kind of place that a folder or file, by its first and its last word, is; empty if it is none.
// Test-time training is no test.
absl::string_view PlaceOf(absl::string_view name) {
  const std::vector<std::string> words = WordsOfName(name);
  if (words.empty() || IsTestTime(words)) return "";
  for (const PlaceWords& place : Places()) {
    if (IsIn(place.words, WithoutDigits(words.front())) ||
        IsIn(place.words, WithoutDigits(words.back()))) {
      return place.kind;
    }
  }
  return "";
}

// The same of a kernel's name, by its first word.
absl::string_view PlaceOfKernel(absl::string_view name) {
  const std::vector<std::string> words = WordsOfName(name);
  if (words.empty() || IsTestTime(words)) return "";
  for (const PlaceWords& place : Places()) {
    if (IsIn(place.words, words.front())) return place.kind;
  }
  return "";
}

absl::string_view FileOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

// Whether words of the phrase stand at `at`.
bool StandsAt(const std::vector<std::string>& words, size_t at, const Words& phrase) {
  if (phrase.size() > words.size() - at) return false;
  return std::equal(phrase.begin(), phrase.end(), words.begin() + static_cast<std::ptrdiff_t>(at));
}

// The first of the phrases that the words have, or empty.
absl::string_view FindPhrase(const std::vector<std::string>& words,
                             const std::vector<absl::string_view>& phrases) {
  for (const absl::string_view phrase : phrases) {
    const Words parts = absl::StrSplit(phrase, ' ');
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == parts.front() && StandsAt(words, i, parts)) return phrase;
    }
  }
  return "";
}

// How many words of a fault stand at `at`.
size_t FaultAt(const std::vector<std::string>& words, size_t at) {
  static const auto* const bounds = new Words{"out", "of", "bounds"};
  if (StandsAt(words, at, *bounds)) return bounds->size();
  return IsIn(Faults(), words[at]) ? 1 : 0;
}

// "deliberately reads out of bounds"; empty where nothing of the kind is said.
std::string FindOnPurpose(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (!IsIn(OnPurpose(), words[i])) continue;
    const size_t end = std::min(words.size(), i + 1 + kFaultWithin);
    for (size_t j = i + 1; j < end && !words[j].empty() && !IsIn(Negations(), words[j]); ++j) {
      const size_t fault = FaultAt(words, j);
      if (fault == 0) continue;
      return absl::StrJoin(words.begin() + static_cast<std::ptrdiff_t>(i),
                           words.begin() + static_cast<std::ptrdiff_t>(j + fault), " ");
    }
  }
  return "";
}

// GENERATE_TEST_HERE, YOUR_CODE_HERE.
bool IsPlaceholder(absl::string_view name) {
  return absl::EndsWith(name, "_HERE") && absl::c_all_of(name, [](char c) {
           return c == '_' || absl::ascii_isupper(c) || absl::ascii_isdigit(c);
         });
}

std::optional<Label> Unfilled(const v1::Kernel& kernel, const std::vector<std::string>& prose) {
  for (const code::Token& token : code::Lex(kernel.source(), code::ToLanguage(kernel.dsl()))) {
    if (token.kind == code::Token::kName && IsPlaceholder(token.text))
      return Label{"broken", RuleText("unfilled", token.text)};
  }
  const absl::string_view phrase = FindPhrase(prose, UnfilledPhrases());
  if (phrase.empty()) return std::nullopt;
  return Label{"broken", RuleText("unfilled", phrase)};
}

std::optional<Label> WrongOnPurpose(const v1::Kernel& kernel,
                                    const std::vector<std::string>& prose) {
  const std::string purpose = FindOnPurpose(prose);
  if (!purpose.empty()) return Label{"broken", RuleText("words", purpose)};
  const absl::string_view phrase = FindPhrase(prose, FaultyPhrases());
  if (!phrase.empty()) return Label{"broken", RuleText("words", phrase)};
  const std::vector<std::string> name = WordsOfName(kernel.name());
  for (size_t i = 0; i < name.size(); ++i) {
    if (IsIn(FaultyNames(), name[i]) && (i == 0 || !IsIn(Negations(), name[i - 1])))
      return Label{"broken", RuleText("name", name[i])};
  }
  // Tests and benchmarks of a sanitizer have sound kernels too.
  if (!PlaceOf(WithoutEnding(FileOf(kernel.path()))).empty()) return std::nullopt;
  for (const absl::string_view segment : Segments(kernel.path())) {
    const std::vector<std::string> words = WordsOfName(segment);
    const bool faulty =
        absl::c_any_of(words, [](const std::string& word) { return IsIn(FaultyPlaces(), word); });
    if (faulty || !FindPhrase(words, FaultyPlacePhrases()).empty())
      return Label{"broken", RuleText("path", segment)};
  }
  return std::nullopt;
}

// The classes and functions around the kernel, outermost first.
std::vector<absl::string_view> Around(const v1::Kernel& kernel) {
  std::vector<absl::string_view> names = absl::StrSplit(kernel.qualname(), '.');
  names.pop_back();
  return names;
}

bool IsTestFunction(absl::string_view name) {
  const std::vector<std::string> words = WordsOfName(name);
  return !words.empty() && words.front() == "test" && !IsTestTime(words);
}

// "test_finds_races"; not "test_no_race", nor "test_race_detection", which may find none.
bool TestsAFailure(absl::string_view test) {
  const std::vector<std::string> words = WordsOfName(test);
  for (size_t i = 1; i < words.size(); ++i) {
    if (!IsIn(FailingTests(), words[i]) || IsIn(Negations(), words[i - 1])) continue;
    if (i + 1 == words.size() || !IsIn(Subjects(), words[i + 1])) return true;
  }
  return false;
}

// Whether a kernel in a folder of tests is an operation that tests compare with.
bool IsReference(const v1::Kernel& kernel) {
  return kernel.has_launcher() && kernel.tokens() >= kTokensOfAnOperation &&
         PlaceOf(WithoutEnding(FileOf(kernel.launcher().path()))) != "test";
}

std::optional<Label> OfPlace(const v1::Kernel& kernel) {
  std::vector<absl::string_view> segments = Segments(kernel.path());
  for (size_t i = segments.size(); i-- > 0;) {
    const bool file = i + 1 == segments.size();
    absl::string_view place = PlaceOf(file ? WithoutEnding(segments[i]) : segments[i]);
    if (!file && IsIn(ExampleFolders(), segments[i])) place = "example";
    if (place.empty() || (place == "test" && !file && IsReference(kernel))) continue;
    return Label{std::string(place), RuleText("path", segments[i])};
  }
  return std::nullopt;
}

std::optional<Label> OfNames(const v1::Kernel& kernel) {
  for (const absl::string_view name : Around(kernel)) {
    if (IsTestFunction(name)) return Label{"test", RuleText("function", name)};
  }
  const absl::string_view place = PlaceOfKernel(kernel.name());
  if (place.empty()) return std::nullopt;
  return Label{std::string(place), RuleText("name", WordsOfName(kernel.name()).front())};
}

// Of Triton and Gluon, whose launched kernels return nothing.
bool ReturnsValue(const v1::Kernel& kernel) {
  if (kernel.dsl() != v1::DSL_TRITON && kernel.dsl() != v1::DSL_GLUON) return false;
  const std::vector<code::Token> tokens = code::Lex(kernel.source(), code::Language::kPython);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const code::Token& next = tokens[i + 1];
    const bool value = !next.begins_statement && next.kind != code::Token::kComment &&
                       next.text != "None" && next.text != ";";
    if (tokens[i].begins_statement && tokens[i].text == "return" && value) return true;
  }
  return false;
}

}  // namespace

Label KindOf(const v1::Kernel& kernel, absl::string_view prose, absl::string_view generated) {
  if (!generated.empty()) return {"generated", RuleText("generated", generated)};
  const std::vector<std::string> words = WordsOfProse(prose);
  if (std::optional<Label> unfilled = Unfilled(kernel, words)) return *std::move(unfilled);
  if (std::optional<Label> wrong = WrongOnPurpose(kernel, words)) return *std::move(wrong);
  for (const absl::string_view name : Around(kernel)) {
    if (IsTestFunction(name) && TestsAFailure(name)) return {"broken", RuleText("function", name)};
  }
  if (std::optional<Label> place = OfPlace(kernel)) return *std::move(place);
  if (std::optional<Label> named = OfNames(kernel)) return *std::move(named);
  const Stub stub = StubOf(kernel);
  if (stub == Stub::kEmpty) return {"broken", "stub:empty"};
  if (stub == Stub::kAsserts) return {"broken", "stub:asserts"};
  if (stub == Stub::kPrints) return {"helper", "stub:prints"};
  if (kernel.role() == v1::KERNEL_ROLE_DEVICE) return {"helper", "role:device"};
  if (kernel.has_launcher()) return {"operation", "role:kernel"};
  if (kernel.parameters_size() > 0 && kernel.parameters(0).name() == "self")
    return {"helper", "method"};
  if (ReturnsValue(kernel)) return {"helper", "returns"};
  return {"operation", "role:kernel"};
}

}  // namespace kernelmill::validator
