#include "client/commands/review_command.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/review/flagged_items.h"
#include "client/review/review_file.h"
#include "client/review/review_session.h"
#include "client/review/terminal.h"
#include "common/base/status.h"
#include "common/job/review_list.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

// Who is at this machine.
std::string UserName() {
  const passwd* user = ::getpwuid(::getuid());
  if (user != nullptr && user->pw_name != nullptr && *user->pw_name != '\0') return user->pw_name;
  const char* name = std::getenv("USER");
  return name == nullptr ? "" : name;
}

Json KernelJson(const FlaggedKernel& flagged) {
  const v1::Kernel& kernel = flagged.kernel;
  return {{"id", kernel.id()},
          {"repository", flagged.repository},
          {"path", kernel.path()},
          {"name", kernel.name()},
          {"first_line", kernel.first_line()},
          {"last_line", kernel.last_line()},
          {"sha256", kernel.sha256()}};
}

Json DecisionJson(const v1::Review* review) {
  if (review == nullptr) return nullptr;
  return {{"decision", review->decision() == v1::REVIEW_DECISION_ACCEPT ? "accept" : "reject"},
          {"who", review->who()},
          {"why", review->why()},
          {"date", review->date()}};
}

Json ItemJson(const FlaggedItem& item, const v1::Review* review) {
  Json json = {{"id", item.id},
               {"flag", item.flag},
               {"value", item.value},
               {"summary", item.summary},
               {"kernels", Json::array()}};
  for (const FlaggedKernel& kernel : item.kernels) json["kernels"].push_back(KernelJson(kernel));
  json["decision"] = DecisionJson(review);
  return json;
}

std::string ItemText(const FlaggedItem& item, const v1::Review* review) {
  std::string text = absl::StrCat(item.id, "  ", OneLine(item.summary));
  if (review != nullptr) {
    const bool accepted = review->decision() == v1::REVIEW_DECISION_ACCEPT;
    absl::StrAppend(&text, "  (", accepted ? "accepted" : "rejected", " by ",
                    OneLine(review->who()), ", ", review->date(), ")");
  }
  for (const FlaggedKernel& kernel : item.kernels) {
    absl::StrAppend(&text, "\n  ", OneLine(kernel.repository), "  ", OneLine(kernel.kernel.path()),
                    ":", kernel.kernel.first_line(), "-", kernel.kernel.last_line(), "  ",
                    OneLine(kernel.kernel.name()));
  }
  return text + "\n";
}

void List(const FlaggedItems& items, const ReviewFile& file, bool all, Console& console) {
  for (const FlaggedItem& item : items.items()) {
    const v1::Review* review = file.Find(item);
    if (review != nullptr && !all) continue;
    console.Result(console.json() ? JsonLine(ItemJson(item, review)) : ItemText(item, review));
  }
}

absl::Status DecideOn(const std::vector<std::string>& ids, v1::ReviewDecision decision,
                      const std::string& why, const Reviewer& reviewer, const FlaggedItems& items,
                      ReviewFile* file) {
  for (const std::string& id : ids) {
    const auto item = std::find_if(items.items().begin(), items.items().end(),
                                   [&](const FlaggedItem& known) { return known.id == id; });
    if (item == items.items().end()) {
      return absl::NotFoundError(absl::StrCat("nothing flagged is ", id, "; --list has what is"));
    }
    RETURN_IF_ERROR(file->Add(MakeReview(*item, decision, why, reviewer)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> Review(const ReviewOptions& options, rpc::TerminationSignal& signal,
                           Console& console) {
  if (options.reviews.empty() && !options.list) {
    return absl::InvalidArgumentError("--reviews FILE is needed, for the decisions");
  }
  ASSIGN_OR_RETURN(const FlaggedItems items,
                   FlaggedItems::Read(options.dataset, {options.flags, options.license_below}));
  ReviewFile file;
  if (!options.reviews.empty()) {
    ASSIGN_OR_RETURN(file, ReviewFile::Open(options.reviews));
  }
  const Reviewer reviewer = {options.who.empty() ? UserName() : options.who,
                             absl::FormatTime("%Y-%m-%d", absl::Now(), absl::LocalTimeZone())};
  if (!options.accept.empty() || !options.reject.empty()) {
    RETURN_IF_ERROR(
        DecideOn(options.accept, v1::REVIEW_DECISION_ACCEPT, options.why, reviewer, items, &file));
    RETURN_IF_ERROR(
        DecideOn(options.reject, v1::REVIEW_DECISION_REJECT, options.why, reviewer, items, &file));
    return kDone;
  }
  if (options.list) {
    List(items, file, options.all, console);
    return kDone;
  }
  if (reviewer.who.empty()) return absl::InvalidArgumentError("--who is needed: nobody knows you");
  ReviewCounts counts;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Terminal> terminal,
                     OpenTerminal([&] { return signal.WaitFor(absl::ZeroDuration()); }));
    ReviewSession session(items, reviewer, &file, terminal.get());
    ASSIGN_OR_RETURN(counts, session.Run());
  }
  console.Note(absl::StrCat(counts.accepted, " accepted, ", counts.rejected, " rejected, ",
                            counts.skipped, " skipped, ", counts.left, " left undecided; ",
                            options.reviews,
                            " has the decisions: name it as `reviews` in the job"));
  return kDone;
}

}  // namespace kernelmill::client
