#include "client/catalog/search/row_files.h"

#include "absl/strings/str_cat.h"
#include "client/catalog/search/data_files.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::client {
namespace {

// Of text before it is JSON. A file costs a page as much as some 100 KiB more in one.
constexpr size_t kRowFile = 96 << 10;

}  // namespace

absl::StatusOr<std::vector<uint32_t>> WriteRowFiles(const std::string& site, TempRecords& rows,
                                                    const std::vector<uint32_t>& order) {
  std::vector<uint32_t> firsts;
  for (uint32_t place = 0; place < order.size();) {
    const std::string name = absl::StrCat("rows/", firsts.size());
    firsts.push_back(place);
    std::string lines;
    do {
      ASSIGN_OR_RETURN(const std::string row, rows.Read(order[place]));
      absl::StrAppend(&lines, lines.empty() ? "" : "\n", row);
    } while (++place < order.size() && lines.size() < kRowFile);
    RETURN_IF_ERROR(WriteDataFile(site, name, JsonString(lines)));
  }
  return firsts;
}

}  // namespace kernelmill::client
