#include "common/text/commit_message.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"

namespace kernelmill {
namespace {

using absl::string_view;

// Sections that do not say what the change is begin with one of these words.
constexpr string_view kOtherSections[] = {"test",   "bench",     "check",      "hardware",
                                          "review", "verif",     "validation", "todo",
                                          "result", "reproduce", "environment"};

bool StartsWithAny(string_view text, absl::Span<const string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](string_view beginning) {
    return absl::StartsWithIgnoreCase(text, beginning);
  });
}

// Returns the text without "<!-- ... -->"; one that is not closed reaches to the end.
std::string WithoutComments(string_view text) {
  std::string kept;
  while (!text.empty()) {
    const size_t begin = text.find("<!--");
    absl::StrAppend(&kept, text.substr(0, begin));
    if (begin == string_view::npos) break;
    const size_t end = text.find("-->", begin);
    if (end == string_view::npos) break;
    text.remove_prefix(end + 3);
  }
  return kept;
}

// Says whether a line begins a section that is not about the change: "## Testing Done",
// "Test plan:", "**Benchmarks:**".
bool BeginsOtherSection(string_view line) {
  const bool heading = absl::StartsWith(line, "#");
  const string_view words = absl::StripLeadingAsciiWhitespace(
      line.substr(std::min(line.find_first_not_of("#*- "), line.size())));
  if (!StartsWithAny(words, kOtherSections)) return false;
  return heading || words.substr(0, 30).find(':') != string_view::npos;
}

// "Co-authored-by: ...", "Copilot-Session: ...".
bool IsTrailer(string_view line) {
  const string_view name = line.substr(0, line.find(": "));
  return name.size() < line.size() && absl::StrContains(name, "-") &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalpha(c) || c == '-'; });
}

// "Fixes #12", "Closes: #12.", "Related to #12", and a line that is a link.
bool IsReference(string_view line) {
  constexpr string_view kWords[] = {"fix", "close", "resolve", "related", "see ", "ref"};
  if (absl::StrContains(line, "://") && !absl::StrContains(line, " ")) return true;
  return line.size() < 40 && absl::StrContains(line, "#") && StartsWithAny(line, kWords);
}

// Says whether a line is a field of a form: "Summary:", "Differential Revision: D12".
bool IsField(string_view line) {
  const size_t colon = line.find(':');
  if (colon > 30) return false;
  const string_view rest = absl::StripAsciiWhitespace(line.substr(colon + 1));
  if (rest.empty()) return !absl::StrContains(line, ' ');
  const bool number = rest.size() > 1 && rest[0] == 'D' && absl::ascii_isdigit(rest[1]);
  return number || absl::StartsWith(rest, "http");
}

bool IsAside(string_view line) {
  constexpr string_view kBeginnings[] = {"|", "![", "<", "- [", "* [", "---", "==="};
  const bool rest = absl::EndsWith(line, "|") || absl::EndsWith(line, "/>");  // a wrapped one's
  return rest || StartsWithAny(line, kBeginnings) || IsTrailer(line) || IsReference(line);
}

// Says whether a line ends a paragraph without being a part of it.
bool IsHeading(string_view line) { return absl::StartsWith(line, "#") || IsField(line); }

// Returns the subject without the numbers of requests: "Fix a (#12)".
std::string CleanSubject(string_view subject) {
  std::string text(absl::StripAsciiWhitespace(subject));
  while (absl::EndsWith(text, ")")) {
    const size_t open = text.rfind("(#");
    if (open == std::string::npos) break;
    const string_view number = string_view(text).substr(open + 2, text.size() - open - 3);
    if (!std::all_of(number.begin(), number.end(), absl::ascii_isdigit)) break;
    text.resize(open);
    text = std::string(absl::StripTrailingAsciiWhitespace(text));
  }
  return text;
}

// Takes the subject off the head of a message: its first line. A merge that GitHub makes names a
// branch there, and has the title of the request further down.
string_view TakeSubject(string_view& message) {
  const auto take_line = [&message] {
    const string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(line.size() + 1, message.size()));
    return absl::StripAsciiWhitespace(line);
  };
  const string_view first = take_line();
  if (!absl::StartsWith(first, "Merge pull request ")) return first;
  while (!message.empty()) {
    const string_view line = take_line();
    if (!line.empty()) return line;
  }
  return first.substr(first.rfind('/') + 1);
}

}  // namespace

// A squash by GitHub lists the subjects of its commits, each behind "* ".
CommitMessage ReadCommitMessage(string_view message) {
  CommitMessage read;
  read.subject = CleanSubject(TakeSubject(message));
  std::vector<std::string> kept;
  bool gap = false, fenced = false;  // in a block of code
  for (const string_view whole : absl::StrSplit(WithoutComments(message), '\n')) {
    const string_view line = absl::StripAsciiWhitespace(whole);
    if (line.empty()) {
      gap = true;
      continue;
    }
    const bool fence = absl::StartsWith(line, "```");
    if (fenced || fence) {
      if (gap && !kept.empty()) kept.emplace_back();
      gap = false;
      fenced = fenced != fence;
      kept.emplace_back(absl::StripTrailingAsciiWhitespace(whole));
      continue;
    }
    if (BeginsOtherSection(line) || (kept.empty() && absl::StartsWith(line, "* "))) break;
    if (IsHeading(line)) {
      gap = true;
      continue;
    }
    if (IsAside(line)) continue;
    if (gap && !kept.empty()) kept.emplace_back();
    gap = false;
    kept.emplace_back(absl::StripTrailingAsciiWhitespace(whole));
  }
  read.details = absl::StrJoin(kept, "\n");
  return read;
}

}  // namespace kernelmill
