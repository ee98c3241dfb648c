// The kind of a kernel, the basic idea: people say what code is for in its place (folders, file
// names, the function around it), in its name and in its comments, and rarely in the code itself.
// So the rules look for words there, from the surest sign to the weakest, and the first one
// decides. Words are compared as a whole, after names were cut at capitals and signs.
// tests/oracle/kind_precision.py compares the rules with labels by hand.
#include "services/validator/core/quality/kind.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/code/lexer.h"
#include "common/dsl/languages.h"
#include "services/validator/core/quality/text_signals.h"

namespace kernelmill::validator {
namespace {

enum class Stub : uint8_t {
  kNone,     // its body does something
  kEmpty,    // only pass, ..., return, raise NotImplementedError and strings
  kPrints,   // these, and prints
  kAsserts,  // these, and assertions, perhaps prints
};

using code::Token;
using Statement = std::vector<Token>;

// Returns the text after the signature, without the colon.
absl::string_view FindBody(const v1::Kernel& kernel) {
  const absl::string_view source = kernel.source();
  const size_t at = source.find(kernel.signature());
  if (kernel.signature().empty() || at == absl::string_view::npos) return "";
  return absl::StripPrefix(
      absl::StripLeadingAsciiWhitespace(source.substr(at + kernel.signature().size())), ":");
}

std::vector<Token> CodeTokens(absl::string_view body, code::Language language) {
  std::vector<Token> tokens = code::Lex(body, language);
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(),
                              [](const Token& token) { return token.kind == Token::kComment; }),
               tokens.end());
  return tokens;
}

std::vector<Statement> PythonStatements(const std::vector<Token>& tokens) {
  std::vector<Statement> statements;
  for (const Token& token : tokens) {
    if (token.text == ";" && token.kind == Token::kOperator) continue;
    if (statements.empty() || token.begins_statement) statements.emplace_back();
    statements.back().push_back(token);
  }
  return statements;
}

// Splits the code between the body's braces. A nested block is one statement, which begins with its
// brace.
std::vector<Statement> CStatements(const std::vector<Token>& tokens) {
  std::vector<Statement> statements(1);
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == ";") {
      statements.emplace_back();
    } else {
      statements.back().push_back(tokens[i]);
    }
  }
  statements.erase(std::remove_if(statements.begin(), statements.end(),
                                  [](const Statement& one) { return one.empty(); }),
                   statements.end());
  return statements;
}

// Returns the last part of the dotted name with which a call begins; empty if the statement is not
// such a call.
absl::string_view Called(const Statement& statement) {
  size_t i = 0;
  while (i + 2 < statement.size() && statement[i].kind == Token::kName &&
         statement[i + 1].text == "." && statement[i + 2].kind == Token::kName) {
    i += 2;
  }
  const bool called =
      i + 1 < statement.size() && statement[i].kind == Token::kName && statement[i + 1].text == "(";
  return called ? statement[i].text : "";
}

// Returns whether a statement does nothing. A condition counts as empty, its block is judged on its
// own.
bool IsEmpty(const Statement& statement) {
  const Token& first = statement.front();
  if (first.kind == Token::kString && statement.size() == 1) return true;
  if (first.text == "if" || first.text == "elif" || first.text == "else") {
    return statement.back().text == ":";  // its block consists of statements of their own
  }
  if (first.text == "pass" || first.text == "..." || first.text == "del") return true;
  if (first.text == "return") {
    return statement.size() == 1 || (statement.size() == 2 && statement[1].text == "None");
  }
  return first.text == "raise" && statement.size() > 1 &&
         statement[1].text == "NotImplementedError";
}

// Returns whether it calls one of the words, or a name that ends in one: device_print,
// CUDA_KERNEL_ASSERT.
bool CallsAny(const Statement& statement, std::initializer_list<absl::string_view> words) {
  const std::string name = absl::AsciiStrToLower(Called(statement));
  return std::any_of(words.begin(), words.end(), [&](absl::string_view word) {
    return name == word || absl::EndsWith(name, absl::StrCat("_", word));
  });
}

bool Asserts(const Statement& statement) {
  return statement.front().text == "assert" || CallsAny(statement, {"assert", "assert2", "check"});
}

bool Prints(const Statement& statement) {
  return CallsAny(statement, {"print", "printf", "debug_barrier"});
}

// Returns whether the kernel's body does nothing. An empty device function of CUDA is not a stub,
// since constructors and hooks may be empty.
Stub FindStub(const v1::Kernel& kernel) {
  const bool cuda = dsl::IsC(kernel.dsl());
  const absl::string_view body = FindBody(kernel);
  if (body.empty()) return Stub::kNone;
  const std::vector<Token> tokens = CodeTokens(body, dsl::GetSyntax(kernel.dsl()));
  Stub stub = Stub::kEmpty;
  for (const Statement& statement : cuda ? CStatements(tokens) : PythonStatements(tokens)) {
    if (IsEmpty(statement)) continue;
    if (Asserts(statement)) {
      stub = Stub::kAsserts;
    } else if (!Prints(statement)) {
      return Stub::kNone;
    } else if (stub == Stub::kEmpty) {
      stub = Stub::kPrints;
    }
  }
  const bool hook = cuda && kernel.role() == v1::KERNEL_ROLE_DEVICE;
  return stub == Stub::kEmpty && hook ? Stub::kNone : stub;
}

using Words = std::vector<absl::string_view>;

// The words that begin or end the name of a folder, file or function of such a kind.
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

// Whole names of folders besides these words. A word "samples" is not enough, since a file
// samples.py may sample.
const Words& ExampleFolders() {
  static const auto* const words = new Words{"sample", "samples", "getting_started"};
  return *words;
}

// Anywhere in the name of a kernel, unless "no" or the like is before it.
const Words& FaultyNames() {
  static const auto* const words = new Words{"buggy",    "broken",   "faulty", "racy", "erroneous",
                                             "segfault", "deadlock", "xfail",  "oob"};
  return *words;
}

// Anywhere in a folder's or file's name.
const Words& FaultyPlaces() {
  static const auto* const words =
      new Words{"sanitizer", "sanitizers", "buggy", "broken", "xfail", "racy"};
  return *words;
}

// Consecutive words in such a name.
const std::vector<absl::string_view>& FaultyPlacePhrases() {
  static const auto* const phrases = new std::vector<absl::string_view>{
      "data race",      "race condition", "buffer overflow", "out of bounds",
      "use after free", "memory leak",    "fault injection"};
  return *phrases;
}

// Anywhere in the name of a test, unless "no" or the like is before it: the test checks that
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

// Words after a fault that make it only a subject.
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

// Phrases about a kernel that is wrong on purpose.
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

// Phrases where a reader is to write the kernel.
const std::vector<absl::string_view>& UnfilledPhrases() {
  static const auto* const phrases = new std::vector<absl::string_view>{
      "your code here", "your code goes here", "write your code", "finish me",
      "fill me in",     "fill this in",        "implement me",    "your implementation here"};
  return *phrases;
}

constexpr size_t kFaultWithin = 4;         // words after one of OnPurpose()
constexpr int kTokensOfAnOperation = 128;  // in a folder of tests

bool IsIn(const Words& list, absl::string_view word) { return absl::c_linear_search(list, word); }

// Removes digits at the end: "test2" begins with the word "test".
absl::string_view WithoutDigits(absl::string_view word) {
  while (word.size() > 1 && absl::ascii_isdigit(word.back())) word.remove_suffix(1);
  return word;
}

absl::string_view WithoutEnding(absl::string_view file) { return file.substr(0, file.rfind('.')); }

// Returns whether the words begin with "test time", as in test-time training.
bool IsTestTime(const std::vector<std::string>& words) {
  return words.size() > 1 && words[0] == "test" && words[1] == "time";
}

// Returns the kind of place that a folder or file is, by its first and its last word; empty if it
// is an ordinary one. Test-time training is not a test.
absl::string_view FindPlace(absl::string_view name) {
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

// Returns the same for a kernel's name, by its first word.
absl::string_view PlaceOfKernel(absl::string_view name) {
  const std::vector<std::string> words = WordsOfName(name);
  if (words.empty() || IsTestTime(words)) return "";
  for (const PlaceWords& place : Places()) {
    if (IsIn(place.words, words.front())) return place.kind;
  }
  return "";
}

// Returns whether the words of the phrase are at `at`.
bool HasPhraseAt(const std::vector<std::string>& words, size_t at, const Words& phrase) {
  if (phrase.size() > words.size() - at) return false;
  return std::equal(phrase.begin(), phrase.end(), words.begin() + static_cast<std::ptrdiff_t>(at));
}

// Returns the first phrase that the words contain; else empty.
absl::string_view FindPhrase(const std::vector<std::string>& words,
                             const std::vector<absl::string_view>& phrases) {
  for (const absl::string_view phrase : phrases) {
    const Words parts = absl::StrSplit(phrase, ' ');
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == parts.front() && HasPhraseAt(words, i, parts)) return phrase;
    }
  }
  return "";
}

// Returns how many words of a fault are at `at`.
size_t FaultAt(const std::vector<std::string>& words, size_t at) {
  static const auto* const bounds = new Words{"out", "of", "bounds"};
  if (HasPhraseAt(words, at, *bounds)) return bounds->size();
  return IsIn(Faults(), words[at]) ? 1 : 0;
}

// Returns a text such as "deliberately reads out of bounds"; empty if the words have no such text.
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

// Returns the code of the kernel's body below the last comment or string with the phrase; the whole
// body if none has it, since then the comment is above the kernel or goes over several lines.
std::vector<Token> CodeBelow(const v1::Kernel& kernel, absl::string_view phrase) {
  const std::vector<Token> tokens = code::Lex(FindBody(kernel), dsl::GetSyntax(kernel.dsl()));
  std::vector<Token> below;
  for (const Token& token : tokens) {
    const bool prose = token.kind == Token::kComment || token.kind == Token::kString;
    if (prose && !FindPhrase(WordsOfProse(token.text), {phrase}).empty()) {
      below.clear();
    } else if (token.kind != Token::kComment) {
      below.push_back(token);
    }
  }
  return below;
}

// Returns whether a result leaves the function at `at`: a store, an atomic operation, x[i] = y, *x
// = y, or the return of a value.
bool HandsOut(const std::vector<Token>& code, size_t at) {
  const auto is = [&](size_t i, absl::string_view text) {
    return i < code.size() && code[i].text == text;
  };
  const absl::string_view word = code[at].text;
  if (code[at].kind == Token::kName && is(at + 1, "(")) {
    return absl::StrContains(word, "store") || absl::StartsWith(word, "atomic");
  }
  if (word == "return") {
    return at + 1 < code.size() && !code[at + 1].begins_statement && !is(at + 1, ";") &&
           !is(at + 1, "}") && !is(at + 1, "None");
  }
  if (word == "]") return is(at + 1, "=") || is(at + 1, "+=");
  const bool starts = at == 0 || is(at - 1, ";") || is(at - 1, "{") || is(at - 1, "}");
  return word == "*" && starts && (is(at + 2, "=") || is(at + 2, "+="));
}

// Returns whether the code computes: it begins with a statement that does something, and hands a
// result out.
bool Computes(const std::vector<Token>& code) {
  if (code.empty()) return false;
  Statement first;
  for (const Token& token : code) {
    if (!first.empty() && (token.begins_statement || token.text == ";")) break;
    first.push_back(token);
  }
  const absl::string_view value = first.back().text;
  const bool left_open = first.size() > 2 && (value == "None" || value == "...") &&
                         first[first.size() - 2].text == "=";
  if (left_open || IsEmpty(first)) return false;
  for (size_t at = 0; at < code.size(); ++at) {
    if (HandsOut(code, at)) return true;
  }
  return false;
}

// Returns whether somebody wrote the code that the phrase asks for, and left the phrase.
bool IsFilledIn(const v1::Kernel& kernel, absl::string_view phrase) {
  const bool unbound = absl::c_any_of(
      kernel.unresolved_names(), [](const auto& name) { return name.reason() == "undefined"; });
  return !unbound && Computes(CodeBelow(kernel, phrase));
}

// Finds a placeholder in the code or a phrase such as "your code here" in the prose.
std::optional<Label> Unfilled(const v1::Kernel& kernel, const std::vector<std::string>& prose) {
  for (const code::Token& token : code::Lex(kernel.source(), dsl::GetSyntax(kernel.dsl()))) {
    if (token.kind == code::Token::kName && IsPlaceholder(token.text))
      return Label{"broken", RuleText("unfilled", token.text)};
  }
  const absl::string_view phrase = FindPhrase(prose, UnfilledPhrases());
  if (phrase.empty() || IsFilledIn(kernel, phrase)) return std::nullopt;
  return Label{"broken", RuleText("unfilled", phrase)};
}

// Looks at the prose first, then at the kernel's name, then at its place.
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
  if (!FindPlace(WithoutEnding(BaseName(kernel.path()))).empty()) return std::nullopt;
  for (const absl::string_view segment : Segments(kernel.path())) {
    const std::vector<std::string> words = WordsOfName(segment);
    const bool faulty =
        absl::c_any_of(words, [](const std::string& word) { return IsIn(FaultyPlaces(), word); });
    if (faulty || !FindPhrase(words, FaultyPlacePhrases()).empty())
      return Label{"broken", RuleText("path", segment)};
  }
  return std::nullopt;
}

// Returns the classes and functions around the kernel, outermost first.
std::vector<absl::string_view> Around(const v1::Kernel& kernel) {
  std::vector<absl::string_view> names = absl::StrSplit(kernel.qualname(), '.');
  names.pop_back();
  return names;
}

bool IsTestFunction(absl::string_view name) {
  const std::vector<std::string> words = WordsOfName(name);
  return !words.empty() && words.front() == "test" && !IsTestTime(words);
}

// Returns whether the test is about a failure: "test_finds_races", but not "test_no_race", and not
// "test_race_detection", which may find none.
bool TestsAFailure(absl::string_view test) {
  const std::vector<std::string> words = WordsOfName(test);
  for (size_t i = 1; i < words.size(); ++i) {
    if (!IsIn(FailingTests(), words[i]) || IsIn(Negations(), words[i - 1])) continue;
    if (i + 1 == words.size() || !IsIn(Subjects(), words[i + 1])) return true;
  }
  return false;
}

// Returns whether a kernel in a folder of tests is an operation that tests compare with.
bool IsReference(const v1::Kernel& kernel) {
  return kernel.has_launcher() && kernel.tokens() >= kTokensOfAnOperation &&
         FindPlace(WithoutEnding(BaseName(kernel.launcher().path()))) != "test";
}

// Goes from the file outwards to the root. The innermost place that says anything decides.
std::optional<Label> FromPlace(const v1::Kernel& kernel) {
  std::vector<absl::string_view> segments = Segments(kernel.path());
  for (size_t i = segments.size(); i-- > 0;) {
    const bool file = i + 1 == segments.size();
    absl::string_view place = FindPlace(file ? WithoutEnding(segments[i]) : segments[i]);
    if (!file && IsIn(ExampleFolders(), segments[i])) place = "example";
    if (place.empty() || (place == "test" && !file && IsReference(kernel))) continue;
    return Label{std::string(place), RuleText("path", segments[i])};
  }
  return std::nullopt;
}

// Looks at the functions around the kernel, then at the first word of its own name.
std::optional<Label> FromNames(const v1::Kernel& kernel) {
  for (const absl::string_view name : Around(kernel)) {
    if (IsTestFunction(name)) return Label{"test", RuleText("function", name)};
  }
  const absl::string_view place = PlaceOfKernel(kernel.name());
  if (place.empty()) return std::nullopt;
  return Label{std::string(place), RuleText("name", WordsOfName(kernel.name()).front())};
}

// Returns whether the kernel returns a value. In Triton and Gluon launched kernels return nothing.
bool ReturnsValue(const v1::Kernel& kernel) {
  if (!dsl::CompilesAsTriton(kernel.dsl())) return false;
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

// The first rule that applies decides. Signs of a broken kernel come before its place: a kernel
// that is wrong on purpose is broken also in a folder of examples. The role comes last, since it
// says least.
Label FindKind(const v1::Kernel& kernel, absl::string_view prose, absl::string_view generated) {
  if (!generated.empty()) return {"generated", RuleText("generated", generated)};
  if (kernel.parse_error()) return {"broken", "syntax:error"};
  const std::vector<std::string> words = WordsOfProse(prose);
  if (std::optional<Label> unfilled = Unfilled(kernel, words)) return *std::move(unfilled);
  if (std::optional<Label> wrong = WrongOnPurpose(kernel, words)) return *std::move(wrong);
  for (const absl::string_view name : Around(kernel)) {
    if (IsTestFunction(name) && TestsAFailure(name)) return {"broken", RuleText("function", name)};
  }
  if (std::optional<Label> place = FromPlace(kernel)) return *std::move(place);
  if (std::optional<Label> named = FromNames(kernel)) return *std::move(named);
  const Stub stub = FindStub(kernel);
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
