#include "services/extractor/core/history/message.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/code/bytes.h"

namespace kernelmill::extractor {
namespace {

bool IsAddressByte(char c) { return code::IsNameByte(c) || absl::StrContains(".+-%", c); }

// "Signed-off-by:", "Co-authored-by:", "Cc:" and the like.
bool IsTrailer(absl::string_view line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  while (absl::ConsumePrefix(&line, "*") || absl::ConsumePrefix(&line, "-")) {
    line = absl::StripLeadingAsciiWhitespace(line);
  }
  const size_t colon = line.find(':');
  if (colon > 40) return false;
  const std::string key = absl::AsciiStrToLower(line.substr(0, colon));
  if (key == "cc" || key == "author" || key == "authors" || key == "reviewers") return true;
  return absl::EndsWith(key, "-by") || absl::EndsWith(key, " by");
}

// Writes over the address around each '@' that has a name before it and a dot in what follows.
std::string WithoutAddresses(absl::string_view text) {
  std::string out(text);
  for (size_t at = text.find('@'); at != absl::string_view::npos; at = text.find('@', at + 1)) {
    size_t begin = at, end = at + 1;
    while (begin > 0 && IsAddressByte(text[begin - 1])) --begin;
    while (end < text.size() && IsAddressByte(text[end])) ++end;
    const absl::string_view host = text.substr(at + 1, end - at - 1);
    if (begin == at || !absl::StrContains(host, '.')) continue;
    for (size_t i = begin; i < end; ++i) {
      if (absl::ascii_isalnum(text[i])) out[i] = 'x';
    }
  }
  return out;
}

}  // namespace

std::string CleanMessage(absl::string_view message) {
  std::string kept;
  for (const absl::string_view line : absl::StrSplit(message, '\n')) {
    if (IsTrailer(line)) continue;
    absl::StrAppend(&kept, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return WithoutAddresses(absl::StripTrailingAsciiWhitespace(kept));
}

std::vector<std::string> FindReverted(absl::string_view message) {
  constexpr absl::string_view kWords = "This reverts commit ";
  std::vector<std::string> commits;
  for (size_t at = message.find(kWords); at != absl::string_view::npos;
       at = message.find(kWords, at + 1)) {
    absl::string_view id = message.substr(at + kWords.size(), 40);
    const auto end = std::find_if_not(id.begin(), id.end(), absl::ascii_isxdigit);
    id = id.substr(0, static_cast<size_t>(end - id.begin()));
    if (id.size() >= 7) commits.push_back(absl::AsciiStrToLower(id));
  }
  return commits;
}

namespace {

constexpr size_t kMostClaims = 32;
constexpr size_t kMostLine = 1000;

constexpr std::array<absl::string_view, 52> kDevices = {
    "H100",     "H200",    "H800",    "H20",    "A100",     "A800",     "A10G",     "A10",
    "A30",      "A40",     "A6000",   "V100",   "P100",     "T4",       "L40S",     "L40",
    "L4",       "B100",    "B200",    "B300",   "GB200",    "GH200",    "MI100",    "MI200",
    "MI210",    "MI250X",  "MI250",   "MI300X", "MI300A",   "MI300",    "MI308X",   "MI325X",
    "MI350",    "MI355X",  "MI355",   "MI350X", "RTX 5070", "RTX 4070", "RTX 3090", "RTX 4090",
    "RTX 5090", "3090",    "4090",    "5090",   "gfx942",   "gfx950",   "GB300",    "RTX PRO 6000",
    "gfx90a",   "gfx1100", "gfx1151", "gfx1201"};

// The units of measures; lower case. Seconds have rules of their own (ReadSeconds).
constexpr std::array<absl::string_view, 29> kUnits = {
    "ms",     "us",     "\xc2\xb5s", "\xce\xbcs", "ns",         "usec",
    "msec",   "tflops", "tflop/s",   "tflops/s",  "gflops",     "gflop/s",
    "pflops", "gb/s",   "gib/s",     "tb/s",      "tib/s",      "mb/s",
    "gbps",   "tbps",   "tok/s",     "tokens/s",  "tokens/sec", "tok/sec",
    "it/s",   "iter/s", "samples/s", "us/iter",   "tok/s/user"};

// The words that a ratio or a percentage needs in its line.
constexpr std::array<absl::string_view, 27> kMeasures = {
    "fast",   "speed",    "slow",    "perf",      "throughput", "latency", "improv",
    "reduc",  "gain",     "better",  "quick",     "mfu",        "util",    "bandwidth",
    "memory", "overhead", "regress", "boost",     "efficien",   "runtime", "saving",
    "less",   "win",      "time",    "occupancy", "traffic",    "cost"};

// A number of a line, and the place behind it.
struct Number {
  double value = 0;
  size_t begin = 0;
  size_t end = 0;
};

// Reads the number at `at`, which no word, number or version goes on from.
std::optional<Number> ReadNumber(absl::string_view line, size_t at) {
  if (!absl::ascii_isdigit(line[at])) return std::nullopt;
  if (at > 0 && (code::IsNameByte(line[at - 1]) || line[at - 1] == '.' || line[at - 1] == '#')) {
    return std::nullopt;
  }
  size_t end = at;
  bool point = false;
  while (end < line.size()) {
    const bool next_digit = end + 1 < line.size() && absl::ascii_isdigit(line[end + 1]);
    if (line[end] == '.' && !point && next_digit) {
      point = true;
    } else if (!absl::ascii_isdigit(line[end]) && !(line[end] == ',' && next_digit && !point)) {
      break;
    }
    ++end;
  }
  if (end + 1 < line.size() && line[end] == '.' && absl::ascii_isdigit(line[end + 1])) {
    return std::nullopt;  // a version, such as 3.5.1
  }
  std::string digits;
  for (const char c : line.substr(at, end - at)) {
    if (c != ',') digits += c;
  }
  Number number = {0, at, end};
  if (!absl::SimpleAtod(digits, &number.value)) return std::nullopt;
  return number;
}

size_t SkipBlanks(absl::string_view line, size_t at) {
  while (at < line.size() &&
         (line[at] == ' ' || line[at] == '\t' || line[at] == '`' || line[at] == '*')) {
    ++at;
  }
  return at;
}

// Reads the unit behind a number; empty if none is there.
absl::string_view ReadUnit(absl::string_view line, size_t at, size_t* end) {
  *end = at;
  at = SkipBlanks(line, at);
  absl::string_view best;
  for (const absl::string_view unit : kUnits) {
    if (unit.size() <= best.size() || !absl::StartsWithIgnoreCase(line.substr(at), unit)) continue;
    const size_t behind = at + unit.size();
    if (behind < line.size() && (code::IsNameByte(line[behind]) || line[behind] == '/')) continue;
    best = line.substr(at, unit.size());
  }
  if (!best.empty()) *end = at + best.size();
  return best;
}

// Reads the "x" or "times" of a ratio that is no dimension.
bool ReadTimes(absl::string_view line, size_t at, size_t* end) {
  for (const absl::string_view sign : {"x", "X", "\xc3\x97"}) {
    if (!absl::StartsWith(line.substr(at), sign)) continue;
    *end = at + sign.size();
    const size_t behind = SkipBlanks(line, *end);
    if (*end < line.size() && code::IsNameByte(line[*end])) return false;
    // A wider gap is one between columns.
    return behind > *end + 1 || behind >= line.size() || !absl::ascii_isdigit(line[behind]);
  }
  return false;
}

// Reads the arrow or word between two values of one measure.
bool ReadArrow(absl::string_view line, size_t at, size_t* end) {
  at = SkipBlanks(line, at);
  for (const absl::string_view arrow :
       {"-->", "->", "=>", "\xe2\x86\x92", "\xe2\x9e\x9c", "to ", "down to "}) {
    if (!absl::StartsWithIgnoreCase(line.substr(at), arrow)) continue;
    *end = SkipBlanks(line, at + arrow.size());
    if (*end < line.size() && line[*end] == '~') ++*end;
    return true;
  }
  return false;
}

std::vector<std::string> FindDevices(absl::string_view text) {
  std::vector<std::pair<size_t, std::string>> found;
  std::vector<bool> taken(text.size(), false);
  for (const absl::string_view device : kDevices) {
    for (size_t at = text.find(device); at != absl::string_view::npos;
         at = text.find(device, at + 1)) {
      const size_t end = at + device.size();
      const bool alone = (at == 0 || !code::IsNameByte(text[at - 1])) &&
                         (end == text.size() || !code::IsNameByte(text[end]));
      if (!alone || taken[at] || taken[end - 1]) continue;
      std::fill(taken.begin() + static_cast<int64_t>(at), taken.begin() + static_cast<int64_t>(end),
                true);
      // A number alone may be any number.
      if (absl::ascii_isdigit(device[0]) && !absl::StrContains(text, "RTX") &&
          !absl::StrContains(text, "GeForce")) {
        continue;
      }
      found.emplace_back(at, std::string(device));
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [at, name] : found) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

bool SaysMeasure(absl::string_view line) {
  const std::string text = absl::AsciiStrToLower(line);
  const absl::string_view lower = text;
  return std::any_of(kMeasures.begin(), kMeasures.end(), [&](absl::string_view word) {
    const size_t at = lower.find(word);
    return at != absl::string_view::npos && (at == 0 || !absl::ascii_isalpha(lower[at - 1]));
  });
}

// Says whether a number of the line has a unit of a measure.
bool HasUnit(absl::string_view line) {
  for (size_t at = 0; at < line.size(); ++at) {
    const std::optional<Number> number = ReadNumber(line, at);
    size_t end = 0;
    if (number.has_value() && !ReadUnit(line, number->end, &end).empty()) return true;
  }
  return false;
}

// How the lines around a line explain its numbers.
enum class Context {
  kNone,
  kSentence,  // the line before, within a sentence, says what it measures
  kTable,     // the head of its table does
};

// Reads the claims of one line.
class LineClaims {
 public:
  LineClaims(absl::string_view line, Context context, std::vector<v1::Claim>& out)
      : line_(line),
        measured_(context == Context::kTable || SaysMeasure(line) || HasUnit(line)),
        shares_(measured_ || context == Context::kSentence),
        out_(out) {}

  void Read() {
    for (size_t at = 0; at < line_.size();) {
      const std::optional<Number> number = ReadNumber(line_, at);
      if (!number.has_value()) {
        ++at;
        continue;
      }
      at = std::max(number->end, ReadClaim(*number));
    }
  }

 private:
  // Returns the place behind the claim; 0 if the number is no claim.
  size_t ReadClaim(const Number& number) {
    size_t behind = number.end;
    const absl::string_view unit = ReadUnit(line_, number.end, &behind);
    const bool percent = behind < line_.size() && line_[behind] == '%';
    if (const size_t end = ReadSecond(number, unit, percent ? behind + 1 : behind, percent)) {
      return end;
    }
    if (!unit.empty()) return Add("value", number, behind, unit);
    if (const size_t end = ReadSeconds(number)) return Add("value", number, end, "s");
    if (percent && shares_ && !IsBound(number.begin, behind + 1)) {
      return Add("percent", number, behind + 1, "%");
    }
    size_t end = 0;
    const bool fraction = absl::StrContains(Text(number), '.');
    if ((measured_ || fraction) && ReadTimes(line_, number.end, &end)) {
      return Add("ratio", number, end, "x");
    }
    return 0;
  }

  absl::string_view Text(const Number& number) const {
    return line_.substr(number.begin, number.end - number.begin);
  }

  // Says whether a share is an uncertainty, or counts the cases within the bound behind it:
  // "(+-3%)" with one sign, "73% >= 1.0".
  bool IsBound(size_t begin, size_t end) const {
    if (absl::EndsWith(line_.substr(0, begin), "\xc2\xb1")) return true;
    const size_t at = SkipBlanks(line_, end);
    return at > end && at < line_.size() && (line_[at] == '>' || line_[at] == '<');
  }

  // Reads the "s" behind a part of a second, if the line says that it is a time: "wait 5 s" does
  // not. Returns the place behind it, or 0.
  size_t ReadSeconds(const Number& number) const {
    const size_t at = SkipBlanks(line_, number.end);
    const bool fraction = absl::StrContains(Text(number), '.');
    if (!fraction || at >= line_.size() || absl::ascii_tolower(line_[at]) != 's') return 0;
    if (at + 1 < line_.size() && code::IsNameByte(line_[at + 1])) return 0;
    const std::string lower = absl::AsciiStrToLower(line_);
    return absl::StrContains(lower, "time") || absl::StrContains(lower, "latency") ? at + 1 : 0;
  }

  // Reads "-> 8.7 ms" behind a first value.
  size_t ReadSecond(const Number& first, absl::string_view unit, size_t behind, bool percent) {
    size_t at = 0;
    if (!ReadArrow(line_, behind, &at) || at >= line_.size()) return 0;
    const std::optional<Number> second = ReadNumber(line_, at);
    if (!second.has_value()) return 0;
    size_t end = second->end;
    absl::string_view second_unit = ReadUnit(line_, second->end, &end);
    if (second_unit.empty() && percent && end < line_.size() && line_[end] == '%') {
      second_unit = line_.substr(end++, 1);
    }
    // Both have the unit, or the second alone; "from 4 to 8 warps" has none.
    if (second_unit.empty() && (unit.empty() || percent)) return 0;
    if (percent && !shares_) return 0;
    v1::Claim& claim = NewClaim("before_after", first.begin, end);
    claim.set_before(first.value);
    claim.set_after(second->value);
    claim.set_unit(std::string(second_unit.empty() ? unit : second_unit));
    return end;
  }

  size_t Add(absl::string_view form, const Number& number, size_t end, absl::string_view unit) {
    v1::Claim& claim = NewClaim(form, number.begin, end);
    claim.set_value(number.value);
    claim.set_unit(std::string(unit));
    return end;
  }

  v1::Claim& NewClaim(absl::string_view form, size_t begin, size_t end) {
    v1::Claim& claim = out_.emplace_back();
    claim.set_form(std::string(form));
    claim.set_text(std::string(line_.substr(begin, end - begin)));
    return claim;
  }

  const absl::string_view line_;
  const bool measured_;  // ratios count
  const bool shares_;    // percentages count
  std::vector<v1::Claim>& out_;
};

// Chooses the devices of claims. Not thread-safe. A message is searched once at most.
class ClaimDevices {
 public:
  explicit ClaimDevices(absl::string_view message) : message_(message) {}

  // Returns the devices of a claim's line; else the one of the nearest line above that names any;
  // else the only one of the message. If there are several, it is not known which was measured.
  std::vector<std::string> Choose(const std::vector<std::string>& of_line) {
    if (!of_line.empty()) return of_line;
    if (above_.empty() && !anywhere_.has_value()) anywhere_ = FindDevices(message_);
    std::vector<std::string> one = above_.empty() ? *anywhere_ : above_;
    if (one.size() > 1) one.clear();
    return one;
  }

  // Notes the devices of a line that ends.
  void Pass(std::vector<std::string> of_line) {
    if (!of_line.empty()) above_ = std::move(of_line);
  }

 private:
  const absl::string_view message_;
  std::vector<std::string> above_;
  std::optional<std::vector<std::string>> anywhere_;
};

// Says whether a line is a row of a table: columns between bars, or at least three with gaps
// between them.
bool IsRow(absl::string_view line) {
  const absl::string_view text = absl::StripAsciiWhitespace(line);
  if (absl::StartsWith(text, "|")) return true;
  int gaps = 0;
  for (size_t at = text.find("  "); at != absl::string_view::npos; at = text.find("  ", at)) {
    at = text.find_first_not_of(' ', at);
    ++gaps;
  }
  return gaps >= 2;
}

// Follows the lines of a message, and says of each how those around it explain its numbers. The
// head of a table is its first row, or the line right above it.
class Contexts {
 public:
  Context Pass(absl::string_view line) {
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    const bool row = IsRow(line);
    if (row && !in_table_) measured_ = SaysMeasure(line) || SaysMeasure(last_);
    Context context = Context::kNone;
    if (row && measured_) context = Context::kTable;
    if (!row && IsWrapped(text) && SaysMeasure(last_)) context = Context::kSentence;
    in_table_ = row;
    last_ = text;
    return context;
  }

 private:
  // Says whether a line goes on with the sentence of the last one.
  bool IsWrapped(absl::string_view text) const {
    if (text.empty() || last_.empty() || in_table_) return false;
    return !absl::StrContains(".:;!?", last_.back()) && !absl::StrContains("-*#|<[`", text[0]);
  }

  absl::string_view last_;  // without blanks
  bool in_table_ = false;
  bool measured_ = false;  // the table's head says so
};

}  // namespace

std::vector<v1::Claim> FindClaims(absl::string_view message) {
  std::vector<v1::Claim> claims;
  ClaimDevices all_devices(message);
  Contexts contexts;
  for (const absl::string_view line : absl::StrSplit(message, '\n')) {
    if (claims.size() == kMostClaims) break;
    const Context context = contexts.Pass(line);
    // Lines of pytest have the progress of tests.
    if (line.size() > kMostLine || absl::StrContains(line, "::")) continue;
    std::vector<std::string> devices = FindDevices(line);
    std::vector<v1::Claim> of_line;
    LineClaims(line, context, of_line).Read();
    if (!of_line.empty()) {
      const std::vector<std::string> chosen = all_devices.Choose(devices);
      for (v1::Claim& claim : of_line) {
        *claim.mutable_hardware() = {chosen.begin(), chosen.end()};
        if (claims.size() < kMostClaims) claims.push_back(std::move(claim));
      }
    }
    all_devices.Pass(std::move(devices));
  }
  return claims;
}

}  // namespace kernelmill::extractor
