#include "client/commands/catalog_command.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/catalog/catalog.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kReportEvery = 256;  // kernels

absl::StatusOr<int> ListWanted(const CatalogOptions& options, Console& console) {
  ASSIGN_OR_RETURN(const std::vector<std::string> wanted,
                   ReadWanted(options.dataset, options.limit));
  for (const std::string& search : wanted) {
    console.Result(console.json() ? JsonLine({{"code", search}}) : absl::StrCat(search, "\n"));
  }
  return kDone;
}

}  // namespace

absl::StatusOr<int> Catalog(const CatalogOptions& options, rpc::TerminationSignal& signal,
                            Console& console) {
  if (options.wanted) return ListWanted(options, console);
  if (options.out_dir.empty()) {
    return absl::InvalidArgumentError("catalog needs --out, or --wanted");
  }
  const auto progress = [&](int64_t done, int64_t all) {
    if (done % kReportEvery == 0) {
      console.Progress(console.json() ? JsonLine({{"done", done}, {"all", all}})
                       : all == 0     ? absl::StrCat("read: ", done, " kernels")
                                      : absl::StrCat("written: ", done, " of ", all, " pages"));
    }
    return !signal.WaitFor(absl::ZeroDuration());
  };
  const absl::StatusOr<CatalogSums> sums = WriteCatalog(options.dataset, options.out_dir, progress);
  console.EndProgress();
  RETURN_IF_ERROR(sums.status());
  if (console.json()) {
    console.Result(JsonLine({{"kernels", sums->kernels},
                             {"operations", sums->operations},
                             {"covered", sums->covered},
                             {"needs", sums->needs},
                             {"out", options.out_dir}}));
  } else {
    console.Result(absl::StrCat("kernels    ", sums->kernels, "\noperations ", sums->covered,
                                " of ", sums->operations, " have a kernel; ", sums->needs,
                                " things are still needed\nwritten to ", options.out_dir,
                                "; open index.html there\n"));
  }
  return kDone;
}

}  // namespace kernelmill::client
