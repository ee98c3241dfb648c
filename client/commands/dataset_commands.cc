// The commands review, catalog and diff: they read an exported dataset and need no cluster.

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/catalog/catalog.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "client/diff/dataset_diff.h"
#include "client/http/http_server.h"
#include "client/review/flagged_items.h"
#include "client/review/review_session.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/job/review_list.h"
#include "common/words/counted.h"

namespace kernelmill::client {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Returns the name of the user of this process; empty if it has none.
std::string GetUserName() {
  const passwd* user = ::getpwuid(::getuid());
  if (user != nullptr && user->pw_name != nullptr && *user->pw_name != '\0') return user->pw_name;
  const char* name = std::getenv("USER");
  return name == nullptr ? "" : name;
}

OrderedJson KernelJson(const FlaggedKernel& flagged) {
  const v1::Kernel& kernel = flagged.kernel;
  return {{"id", kernel.id()},
          {"repository", flagged.repository},
          {"path", kernel.path()},
          {"name", kernel.name()},
          {"first_line", kernel.first_line()},
          {"last_line", kernel.last_line()},
          {"sha256", kernel.sha256()}};
}

OrderedJson DecisionJson(const v1::Review* review) {
  if (review == nullptr) return nullptr;
  return {{"decision", review->decision() == v1::REVIEW_DECISION_ACCEPT ? "accept" : "reject"},
          {"who", review->who()},
          {"why", review->why()},
          {"date", review->date()}};
}

OrderedJson ItemJson(const FlaggedItem& item, const v1::Review* review) {
  OrderedJson json = {{"id", item.id},
                      {"flag", item.flag},
                      {"value", item.value},
                      {"summary", item.summary},
                      {"kernels", OrderedJson::array()}};
  for (const FlaggedKernel& kernel : item.kernels) json["kernels"].push_back(KernelJson(kernel));
  json["decision"] = DecisionJson(review);
  return json;
}

// Returns an item for a person: its id, which --accept and --reject take, then one line for each
// kernel.
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

// Prints the items, one by one: with --json a line each. Decided items only if `all` is set.
void List(const FlaggedItems& items, const ReviewFile& file, bool all, Console& console) {
  for (const FlaggedItem& item : items.items()) {
    const v1::Review* review = file.Find(item);
    if (review != nullptr && !all) continue;
    console.Result(console.json() ? JsonLine("flagged", ItemJson(item, review))
                                  : ItemText(item, review));
  }
}

// Records the decisions of --accept and --reject.
absl::Status DecideByOptions(const ReviewOptions& options, const Reviewer& reviewer,
                             const FlaggedItems& items, ReviewFile* file) {
  const auto decide = [&](const std::string& id, v1::ReviewDecision decision) -> absl::Status {
    const auto item = std::find_if(items.items().begin(), items.items().end(),
                                   [&](const FlaggedItem& known) { return known.id == id; });
    if (item == items.items().end()) {
      return absl::NotFoundError(
          absl::StrCat(id, ": no flagged item has this id; --list shows the ids"));
    }
    return file->Add(MakeReview(*item, decision, options.why, reviewer));
  };
  for (const std::string& id : options.accept) {
    RETURN_IF_ERROR(decide(id, v1::REVIEW_DECISION_ACCEPT));
  }
  for (const std::string& id : options.reject) {
    RETURN_IF_ERROR(decide(id, v1::REVIEW_DECISION_REJECT));
  }
  return absl::OkStatus();
}

constexpr int64_t kReportEvery = 256;  // kernels between two progress reports

// Prints one search for each gap. With --json each is an object.
absl::StatusOr<int> ListWanted(const CatalogOptions& options, Console& console) {
  ASSIGN_OR_RETURN(const std::vector<std::string> wanted,
                   ReadWanted(options.dataset, options.limit));
  for (const std::string& search : wanted) {
    console.Result(console.json() ? JsonLine("wanted", {{"code", search}})
                                  : absl::StrCat(search, "\n"));
  }
  return kDone;
}

// Writes the site of a dataset and prints its totals.
absl::Status WriteSite(const CatalogOptions& options, rpc::TerminationSignal& signal,
                       Console& console) {
  // A poll of the signal for each kernel; progress more seldom.
  const auto progress = [&](int64_t done, int64_t all) {
    if (done % kReportEvery == 0) {
      console.Progress({{"what", all == 0 ? "kernels" : "pages"},
                        {"done", done},
                        {"all", all == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(all)}},
                       all == 0 ? absl::StrCat("read ", Counted(done, "kernel"), " so far")
                                : absl::StrCat("wrote ", done, " of ", Counted(all, "page")));
    }
    return !signal.WaitFor(absl::ZeroDuration());
  };
  const absl::StatusOr<CatalogSums> sums = WriteCatalog(options.dataset, options.out_dir, progress);
  console.EndProgress();
  RETURN_IF_ERROR(sums.status());
  if (console.json()) {
    console.Result(JsonLine("catalog", {{"kernels", sums->kernels},
                                        {"operations", sums->operations},
                                        {"covered", sums->covered},
                                        {"needs", sums->needs},
                                        {"out", options.out_dir}}));
  } else {
    console.Result(absl::StrCat(
        "kernels    ", sums->kernels, "\noperations ", sums->covered, " of ", sums->operations,
        " have a kernel; ", Counted(sums->needs, "gap"), sums->needs == 1 ? " remains" : " remain",
        "\nwritten to ", options.out_dir, "; open index.html there\n"));
  }
  return absl::OkStatus();
}

// Listens before it writes the site, so that a port in use is said at once. Flushes the result
// before it serves: a program that waits for the site reads it.
absl::StatusOr<int> ServeSite(CatalogOptions options, rpc::TerminationSignal& signal,
                              Console& console) {
  std::optional<TempDir> temp;
  if (options.out_dir.empty()) {
    ASSIGN_OR_RETURN(temp, TempDir::Create());
    options.out_dir = temp->path() + "/site";
  }
  const absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::ServeFolder(options.serve, options.out_dir);
  if (!server.ok()) {
    return absl::Status(
        server.status().code(),
        absl::StrCat(server.status().message(), "; --serve HOST:PORT chooses another address"));
  }
  RETURN_IF_ERROR(WriteSite(options, signal, console));
  RETURN_IF_ERROR(console.Flush());
  console.Note(absl::StrCat("the site is at ", (*server)->url(), " until Ctrl-C"));
  signal.Wait();
  return kDone;
}

}  // namespace

absl::StatusOr<int> Review(const ReviewOptions& options, rpc::TerminationSignal& signal,
                           Console& console) {
  if (options.reviews.empty() && !options.list) {
    return absl::InvalidArgumentError("--reviews is required: decisions are written to this file");
  }
  ASSIGN_OR_RETURN(const FlaggedItems items,
                   FlaggedItems::Read(options.dataset, {options.flags, options.license_below}));
  ReviewFile file;
  if (!options.reviews.empty()) {
    ASSIGN_OR_RETURN(file, ReviewFile::Open(options.reviews));
  }
  const Reviewer reviewer = {options.who.empty() ? GetUserName() : options.who,
                             absl::FormatTime("%Y-%m-%d", absl::Now(), absl::LocalTimeZone())};
  // Three ways to use the command: decisions in options, a list, or a dialogue. Only the dialogue
  // needs a terminal.
  if (!options.accept.empty() || !options.reject.empty()) {
    RETURN_IF_ERROR(DecideByOptions(options, reviewer, items, &file));
    return kDone;
  }
  if (options.list) {
    List(items, file, options.all, console);
    return kDone;
  }
  if (reviewer.who.empty())
    return absl::InvalidArgumentError("--who is required: the user of this process has no name");
  ReviewCounts counts;
  {
    // The end of this block restores the terminal's settings, before the note below is written.
    ASSIGN_OR_RETURN(const std::unique_ptr<Terminal> terminal,
                     OpenTerminal([&] { return signal.WaitFor(absl::ZeroDuration()); }));
    ReviewSession session(items, reviewer, &file, terminal.get());
    ASSIGN_OR_RETURN(counts, session.Run());
  }
  console.Note(absl::StrCat(counts.accepted, " accepted, ", counts.rejected, " rejected, ",
                            counts.skipped, " skipped, ", counts.left, " left undecided; ",
                            "decisions are in ", options.reviews,
                            "; set it as `reviews` in the job"));
  return kDone;
}

absl::StatusOr<int> Catalog(const CatalogOptions& options, rpc::TerminationSignal& signal,
                            Console& console) {
  if (options.wanted) return ListWanted(options, console);
  if (!options.serve.empty()) return ServeSite(options, signal, console);
  if (options.out_dir.empty()) {
    return absl::InvalidArgumentError("catalog requires --out, --serve or --wanted");
  }
  RETURN_IF_ERROR(WriteSite(options, signal, console));
  if (!signal.WaitFor(absl::ZeroDuration())) return kDone;
  return absl::CancelledError(
      absl::StrCat("interrupted; the site was already written to ", options.out_dir));
}

absl::StatusOr<int> Diff(const DiffOptions& options, Console& console) {
  // Both datasets share the texts, so that equal texts have equal numbers.
  Texts texts;
  ASSIGN_OR_RETURN(const ExportedDataset a, ReadExport(options.a, texts));
  ASSIGN_OR_RETURN(const ExportedDataset b, ReadExport(options.b, texts));
  const DatasetDiff diff = CompareDatasets(a, b, texts);
  if (console.json()) {
    WriteDiffJson(a, b, diff, texts, [&](absl::string_view line) { console.Result(line); });
  } else {
    console.Result(DiffText(a, b, diff, texts, options.limit));
  }
  // As diff(1): 0 for equal, 1 for different.
  return diff.same ? kDone : kInputsFailed;
}

}  // namespace kernelmill::client
