#ifndef KERNELMILL_CLIENT_REVIEW_REVIEW_SESSION_H_
#define KERNELMILL_CLIENT_REVIEW_REVIEW_SESSION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/review/flagged_items.h"
#include "client/review/review_file.h"
#include "client/review/terminal.h"

namespace kernelmill::client {

// Who decides, and on which day.
struct Reviewer {
  std::string who;
  std::string date;  // YYYY-MM-DD
};

struct ReviewCounts {
  int accepted = 0;
  int rejected = 0;
  int skipped = 0;
  int left = 0;  // that nothing was decided on
};

// Goes through the items that the file has no decision on, in their order, and asks for each. Each
// decision is in the file before the next item is shown.
//
//   a  accept     r  reject, with a reason     s  skip     b  back to the item before
//   m  the modules in place of the kernels     space  more     ?  help     q  quit
//
// Keeps references to its arguments. Not thread-safe.
class ReviewSession {
 public:
  ReviewSession(const FlaggedItems& items, const Reviewer& reviewer, ReviewFile* file,
                Terminal* terminal);

  // Until the last item or until the person quits. Errors of the dataset and of the file.
  absl::StatusOr<ReviewCounts> Run();

 private:
  enum class Step { kNext, kBack, kQuit };

  absl::StatusOr<Step> Ask(const FlaggedItem& item);
  absl::StatusOr<std::vector<std::string>> Lines(const FlaggedItem& item, bool whole) const;
  // Shows the lines from *next on, as many as there is room for.
  void ShowPage(const std::vector<std::string>& lines, size_t* next);
  // The key that the person gives at a prompt, which is wiped again.
  int Prompt(const std::string& text);
  // A line; empty where the person gave none or thought better of it.
  std::string ReadLine(const std::string& prompt);
  // Whether a decision was made.
  absl::StatusOr<bool> Decide(const FlaggedItem& item, v1::ReviewDecision decision);

  const FlaggedItems& items_;
  const Reviewer& reviewer_;
  ReviewFile& file_;
  Terminal& terminal_;
  std::vector<const FlaggedItem*> open_;  // that were undecided at the beginning
  size_t at_ = 0;
  ReviewCounts counts_;
};

// The decision of `reviewer` on an item. Nothing is checked.
v1::Review MakeReview(const FlaggedItem& item, v1::ReviewDecision decision, const std::string& why,
                      const Reviewer& reviewer);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_REVIEW_REVIEW_SESSION_H_
