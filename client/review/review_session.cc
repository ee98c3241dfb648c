#include "client/review/review_session.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr char kKeys[] = "[a]ccept [r]eject [s]kip [b]ack [m]odule [q]uit [?] ";
constexpr char kHelp[] =
    "  a  accept: the flag goes; a pair of kernels becomes a row to train on\n"
    "  r  reject, with a reason: the kernel is left out; a pair is no candidate any more\n"
    "  s  skip: nothing is decided, and it is asked again another time\n"
    "  b  back to the item before, to look at it or decide anew\n"
    "  m  the modules, which are what is trained on, in place of the kernels, and back\n"
    "  space or Enter: more of a long text\n"
    "  q  quit: what was decided is in the file, and the next review goes on here\n";
constexpr int kControlC = 3;
constexpr int kControlD = 4;
constexpr int kControlU = 21;
constexpr int kEscape = 27;

bool IsErase(int key) { return key == 8 || key == 127; }

// Takes the last character off a text in UTF-8.
void DropLast(std::string* text) {
  while (!text->empty() && (static_cast<unsigned char>(text->back()) & 0xc0) == 0x80) {
    text->pop_back();
  }
  if (!text->empty()) text->pop_back();
}

}  // namespace

v1::Review MakeReview(const FlaggedItem& item, v1::ReviewDecision decision, const std::string& why,
                      const Reviewer& reviewer) {
  v1::Review review = FlaggedItems::ReviewOf(item);
  review.set_decision(decision);
  review.set_why(why);
  review.set_who(reviewer.who);
  review.set_date(reviewer.date);
  return review;
}

ReviewSession::ReviewSession(const FlaggedItems& items, const Reviewer& reviewer, ReviewFile* file,
                             Terminal* terminal)
    : items_(items), reviewer_(reviewer), file_(*file), terminal_(*terminal) {
  for (const FlaggedItem& item : items.items()) {
    if (file_.Find(item) == nullptr) open_.push_back(&item);
  }
}

absl::StatusOr<ReviewCounts> ReviewSession::Run() {
  while (at_ < open_.size()) {
    ASSIGN_OR_RETURN(const Step step, Ask(*open_[at_]));
    if (step == Step::kQuit) break;
    if (step == Step::kNext) ++at_;
    if (step == Step::kBack && at_ > 0) --at_;
  }
  for (const FlaggedItem* item : open_) counts_.left += file_.Find(*item) == nullptr;
  return counts_;
}

absl::StatusOr<std::vector<std::string>> ReviewSession::Lines(const FlaggedItem& item,
                                                              bool whole) const {
  const int width = terminal_.columns() - 1;
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) {
    for (std::string& line : SafeLines(text, width)) lines.push_back(std::move(line));
  };
  lines.emplace_back();
  add(absl::StrCat("[", at_ + 1, " of ", open_.size(), "] ", item.flag, ": ", item.summary));
  if (const v1::Review* review = file_.Find(item)) {
    const bool accepted = review->decision() == v1::REVIEW_DECISION_ACCEPT;
    add(absl::StrCat(accepted ? "accepted" : "rejected", " by ", review->who(), ", ",
                     review->date(), review->why().empty() ? "" : ": ", review->why()));
  }
  ASSIGN_OR_RETURN(const std::vector<Section> sections, items_.Texts(item, whole));
  for (const auto& [heading, text] : sections) {
    add(absl::StrCat("---- ", heading));
    add(text);
  }
  return lines;
}

void ReviewSession::ShowPage(const std::vector<std::string>& lines, size_t* next) {
  const size_t room = static_cast<size_t>(std::max(terminal_.rows() - 1, 2));
  const size_t end = std::min(lines.size(), *next + room);
  std::string page;
  for (; *next < end; ++*next) absl::StrAppend(&page, lines[*next], "\n");
  terminal_.Write(page);
}

int ReviewSession::Prompt(const std::string& text) {
  const int room = std::max(terminal_.columns() - 1, 1);
  const std::string shown = text.substr(0, static_cast<size_t>(room));
  terminal_.Write(shown);
  const int key = terminal_.ReadKey();
  terminal_.Write(absl::StrCat("\r", std::string(shown.size(), ' '), "\r"));
  return key;
}

std::string ReviewSession::ReadLine(const std::string& prompt) {
  terminal_.Write(prompt);
  std::string line;
  while (true) {
    const int key = terminal_.ReadKey();
    const bool left =
        key == Terminal::kEnd || key == kControlC || key == kControlD || key == kEscape;
    if (left || key == '\r' || key == '\n') {
      terminal_.Write("\n");
      return left || !IsUtf8(line) ? "" : std::string(absl::StripAsciiWhitespace(line));
    }
    if (IsErase(key) || key == kControlU) {
      do {
        if (line.empty()) break;
        DropLast(&line);
        terminal_.Write("\b \b");
      } while (key == kControlU);
    } else if (key >= ' ') {
      line.push_back(static_cast<char>(key));
      terminal_.Write(line.substr(line.size() - 1));
    }
  }
}

absl::StatusOr<bool> ReviewSession::Decide(const FlaggedItem& item, v1::ReviewDecision decision) {
  std::string why;
  const bool accept = decision == v1::REVIEW_DECISION_ACCEPT;
  if (!accept) {
    why = ReadLine("why: ");
    if (why.empty()) {
      terminal_.Write("Not rejected: a reason is needed.\n");
      return false;
    }
  }
  const absl::Status added = file_.Add(MakeReview(item, decision, why, reviewer_));
  // What the person typed can be put right; what the disk says cannot.
  if (absl::IsInvalidArgument(added)) {
    terminal_.Write(absl::StrCat("Not taken: ", std::string(added.message()), "\n"));
    return false;
  }
  RETURN_IF_ERROR(added);
  ++(accept ? counts_.accepted : counts_.rejected);
  terminal_.Write(accept ? "accepted\n" : "rejected\n");
  return true;
}

absl::StatusOr<ReviewSession::Step> ReviewSession::Ask(const FlaggedItem& item) {
  bool whole = false;
  ASSIGN_OR_RETURN(std::vector<std::string> lines, Lines(item, whole));
  size_t next = 0;
  ShowPage(lines, &next);
  while (true) {
    const bool more = next < lines.size();
    const std::string rest =
        more ? absl::StrCat("-- ", lines.size() - next, " more lines -- ") : "";
    const int key = Prompt(absl::StrCat(rest, kKeys));
    switch (key) {
      case 'a':
      case 'r': {
        const auto decision = key == 'a' ? v1::REVIEW_DECISION_ACCEPT : v1::REVIEW_DECISION_REJECT;
        ASSIGN_OR_RETURN(const bool decided, Decide(item, decision));
        if (decided) return Step::kNext;
        break;
      }
      case 's':
        ++counts_.skipped;
        return Step::kNext;
      case 'b':
        if (at_ == 0) terminal_.Write("This is the first one.\n");
        return Step::kBack;
      case 'm': {
        whole = !whole;
        ASSIGN_OR_RETURN(lines, Lines(item, whole));
        next = 0;
        ShowPage(lines, &next);
        break;
      }
      case ' ':
      case '\r':
      case '\n':
        if (more) ShowPage(lines, &next);
        break;
      case '?':
        terminal_.Write(kHelp);
        break;
      case 'q':
      case kControlC:
      case kControlD:
      case Terminal::kEnd:
        return Step::kQuit;
      default:
        break;
    }
  }
}

}  // namespace kernelmill::client
