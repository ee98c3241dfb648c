#ifndef KERNELMILL_CLIENT_REVIEW_REVIEW_SESSION_H_
#define KERNELMILL_CLIENT_REVIEW_REVIEW_SESSION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/review/flagged_items.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {

// The file of a person's decisions, which a job names under `reviews`. Decisions are only appended:
// a changed decision is written again, and the last one counts. Not thread-safe; several processes
// may write to the same file.
class ReviewFile {
 public:
  // A missing file is a file without decisions. Returns the errors of job::ReadReviewList.
  static absl::StatusOr<ReviewFile> Open(const std::string& path);

  // Returns the decision on the item; null if it is undecided.
  const v1::Review* Find(const FlaggedItem& item) const;

  // Appends the decision and syncs the file.
  absl::Status Add(const v1::Review& review);

 private:
  std::string path_;
  std::vector<v1::Review> reviews_;
};

// A person's terminal: text out, keys in. All output is plain text. Tests have a fake.
class Terminal {
 public:
  static constexpr int kEnd = -1;  // the end of the input, or of the program

  virtual ~Terminal() = default;
  virtual int rows() const = 0;
  virtual int columns() const = 0;
  virtual void Write(absl::string_view text) = 0;
  // Waits for a key and returns its byte, 0 to 255, or kEnd.
  virtual int ReadKey() = 0;
};

// Opens the terminal of this process's standard input and output. It returns each key at once; the
// destructor restores the terminal's settings. `ended` is called from time to time and returns true
// if the program is to end. FAILED_PRECONDITION: there is no terminal.
absl::StatusOr<std::unique_ptr<Terminal>> OpenTerminal(std::function<bool()> ended);

// The author and the date of decisions.
struct Reviewer {
  std::string who;
  std::string date;  // YYYY-MM-DD
};

struct ReviewCounts {
  int accepted = 0;
  int rejected = 0;
  int skipped = 0;
  int left = 0;  // undecided items
};

// One session of a person who decides: it shows each undecided item and asks. Each decision is in
// the file before the next item is shown.
//
//   a  accept     r  reject, with a reason     s  skip     b  back to the previous item
//   m  show the modules instead of the kernels     space  more     ?  help     q  quit
//
// Keeps references to its arguments. Not thread-safe.
class ReviewSession {
 public:
  ReviewSession(const FlaggedItems& items, const Reviewer& reviewer, ReviewFile* file,
                Terminal* terminal);

  // Runs until the last item, or until the person quits. Returns errors of the dataset and the
  // file.
  absl::StatusOr<ReviewCounts> Run();

 private:
  enum class Step { kNext, kBack, kQuit };

  absl::StatusOr<Step> Ask(const FlaggedItem& item);
  absl::StatusOr<std::vector<std::string>> Lines(const FlaggedItem& item, bool whole) const;
  // Shows the lines from *next on that fit on the screen.
  void ShowPage(const std::vector<std::string>& lines, size_t* next);
  // Shows a prompt, waits for a key, and erases the prompt.
  int Prompt(const std::string& text);
  // Reads a line; empty if the person cancelled.
  std::string ReadLine(const std::string& prompt);
  // Returns whether a decision was made.
  absl::StatusOr<bool> Decide(const FlaggedItem& item, v1::ReviewDecision decision);

  const FlaggedItems& items_;
  const Reviewer& reviewer_;
  ReviewFile& file_;
  Terminal& terminal_;
  std::vector<const FlaggedItem*> open_;  // the items that were undecided at the start
  size_t at_ = 0;
  ReviewCounts counts_;
};

// Makes the decision of `reviewer` on an item. It does not check it.
v1::Review MakeReview(const FlaggedItem& item, v1::ReviewDecision decision, const std::string& why,
                      const Reviewer& reviewer);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_REVIEW_REVIEW_SESSION_H_
