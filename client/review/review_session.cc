// The dialogue with a person who decides on flagged items, and the file of decisions. The session
// only knows Terminal, so that tests can press keys. A decision is appended and synced before the
// next item is shown: quitting, an interrupt or a crash loses nothing, and the next session
// continues with what is undecided.

#include "client/review/review_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/review_list.h"
#include "common/manifest/curated_pairs.h"
#include "common/text/safe_text.h"
#include "common/words/counted.h"

namespace kernelmill::client {
namespace {

// The longest time between two checks for the end of the program.
constexpr int kPollMillis = 200;

// The terminal of the process. Keys come one by one and are not echoed; the destructor restores the
// settings.
class TtyTerminal final : public Terminal {
 public:
  TtyTerminal(const termios& before, std::function<bool()> ended)
      : before_(before), ended_(std::move(ended)) {
    termios keys = before;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);  // Ctrl-C is a key: it quits
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
  }
  TtyTerminal(const TtyTerminal&) = delete;
  TtyTerminal& operator=(const TtyTerminal&) = delete;
  ~TtyTerminal() override { ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_); }

  int rows() const override { return Size().ws_row > 0 ? Size().ws_row : 24; }
  int columns() const override { return Size().ws_col > 0 ? Size().ws_col : 80; }

  void Write(absl::string_view text) override {
    while (!text.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      text.remove_prefix(static_cast<size_t>(written));
    }
  }

  int ReadKey() override {
    while (!ended_()) {
      // Wait with a limit: a blocking read would not notice that the program is to end.
      pollfd input = {STDIN_FILENO, POLLIN, 0};
      if (::poll(&input, 1, kPollMillis) <= 0) continue;
      unsigned char key = 0;
      const ssize_t got = ::read(STDIN_FILENO, &key, 1);
      if (got < 0 && errno == EINTR) continue;
      return got == 1 ? key : kEnd;
    }
    return kEnd;
  }

 private:
  static winsize Size() {
    winsize size = {};
    ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return size;
  }

  const termios before_;
  const std::function<bool()> ended_;
};

// Returns whether a reference of a decision names this kernel.
bool Names(const v1::KernelReference& reference, const FlaggedKernel& flagged) {
  return manifest::NamesKernel(reference, flagged.repository, flagged.kernel);
}

// Returns whether the decision is about the item: the same flag and the same kernels.
bool IsOn(const v1::Review& review, const FlaggedItem& item) {
  if (review.flag() != item.flag) return false;
  if (item.flag != job::kFlagPair) return Names(review.kernel(), item.kernels[0]);
  return Names(review.cuda(), item.kernels[0]) && Names(review.triton(), item.kernels[1]);
}

constexpr char kKeys[] = "[a]ccept [r]eject [s]kip [b]ack [m]odule [q]uit [?] ";
constexpr char kHelp[] =
    "  a  accept: the flag is removed; a pair of kernels becomes a row to train on\n"
    "  r  reject, with a reason: the kernel is left out; a pair is no longer a candidate\n"
    "  s  skip: the item is shown again in the next review\n"
    "  b  back to the previous item, to read it or change the decision\n"
    "  m  switch between the kernels and their modules, which are the training text\n"
    "  space or Enter: more of a long text\n"
    "  q  quit: the decisions are in the file, and the next review continues here\n";
constexpr int kControlC = 3;
constexpr int kControlD = 4;
constexpr int kControlU = 21;
constexpr int kEscape = 27;

// Terminals send either backspace or delete for the same key.
bool IsErase(int key) { return key == 8 || key == 127; }

// Removes the last character of a text in UTF-8.
void DropLast(std::string* text) {
  while (!text->empty() && (static_cast<unsigned char>(text->back()) & 0xc0) == 0x80) {
    text->pop_back();
  }
  if (!text->empty()) text->pop_back();
}

}  // namespace

v1::Review MakeReview(const FlaggedItem& item, v1::ReviewDecision decision, const std::string& why,
                      const Reviewer& reviewer) {
  v1::Review review = FlaggedItems::NewReview(item);
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
  // Count at the end, because a person may go back and change decisions.
  for (const FlaggedItem* item : open_) counts_.left += file_.Find(*item) == nullptr;
  return counts_;
}

absl::StatusOr<std::vector<std::string>> ReviewSession::Lines(const FlaggedItem& item,
                                                              bool whole) const {
  // The last column stays free: some terminals break the line after it.
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
  // SafeLines breaks lines at the terminal's width, and spells out characters that would move its
  // cursor.
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
  // On one line, so that "\r" and blanks can erase it again.
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
    // Cancelled, or the end of the input.
    const bool left =
        key == Terminal::kEnd || key == kControlC || key == kControlD || key == kEscape;
    if (left || key == '\r' || key == '\n') {
      terminal_.Write("\n");
      return left || !IsUtf8(line) ? "" : std::string(absl::StripAsciiWhitespace(line));
    }
    // The terminal does not echo in this mode, so each change of the line is drawn here.
    if (IsErase(key) || key == kControlU) {
      // Ctrl-U erases the whole line, other keys one character.
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
    // A rejection removes a kernel from datasets, so it needs a reason for other people.
    why = ReadLine("why: ");
    if (why.empty()) {
      terminal_.Write("Not rejected: a reason is required.\n");
      return false;
    }
  }
  const absl::Status added = file_.Add(MakeReview(item, decision, why, reviewer_));
  // The person can correct the input; other errors end the session.
  if (absl::IsInvalidArgument(added)) {
    terminal_.Write(absl::StrCat("Not recorded: ", std::string(added.message()), "\n"));
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
        more ? absl::StrCat("-- ", Counted(lines.size() - next, "more line"), " -- ") : "";
    const int key = Prompt(absl::StrCat(rest, kKeys));
    switch (key) {
      case 'a':
      case 'r': {
        const auto decision = key == 'a' ? v1::REVIEW_DECISION_ACCEPT : v1::REVIEW_DECISION_REJECT;
        // A decision that was not made leaves the item on the screen, for another key.
        ASSIGN_OR_RETURN(const bool decided, Decide(item, decision));
        if (decided) return Step::kNext;
        break;
      }
      case 's':
        ++counts_.skipped;
        return Step::kNext;
      case 'b':
        if (at_ == 0) terminal_.Write("This is the first item.\n");
        return Step::kBack;
      // Read the item again in the other form, from its first line.
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

absl::StatusOr<ReviewFile> ReviewFile::Open(const std::string& path) {
  ReviewFile file;
  file.path_ = path;
  absl::StatusOr<std::vector<v1::Review>> reviews = job::ReadReviewList(path);
  if (absl::IsNotFound(reviews.status())) return file;
  RETURN_IF_ERROR(reviews.status());
  file.reviews_ = *std::move(reviews);
  return file;
}

const v1::Review* ReviewFile::Find(const FlaggedItem& item) const {
  // From the end: the last decision on an item counts.
  for (auto review = reviews_.rbegin(); review != reviews_.rend(); ++review) {
    if (IsOn(*review, item)) return &*review;
  }
  return nullptr;
}

absl::Status ReviewFile::Add(const v1::Review& review) {
  RETURN_IF_ERROR(job::CheckReview("review", review));
  const std::string line = job::ReviewLine(review);
  const FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() < 0) return absl::ErrnoToStatus(errno, "cannot write " + path_);
  // One write of one line under a lock: lines of other processes come before or after it.
  if (::flock(file.get(), LOCK_EX) != 0 ||
      ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
      ::fsync(file.get()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot write " + path_);
  }
  reviews_.push_back(review);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Terminal>> OpenTerminal(std::function<bool()> ended) {
  termios before = {};
  if (::isatty(STDOUT_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before) != 0) {
    return absl::FailedPreconditionError(
        "review requires a terminal; use --list, --accept and --reject without one");
  }
  return std::make_unique<TtyTerminal>(before, std::move(ended));
}

}  // namespace kernelmill::client
