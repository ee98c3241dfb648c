// The rows of notices.jsonl, reduced to the fields that notice pages show.

#include "client/catalog/entries/notices.h"

#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::client {

absl::Status ForEachNotice(const std::string& dataset,
                           const std::function<absl::Status(const Notice&)>& visit) {
  return dataset::ForEachRow<v1::NoticeRow>(
      dataset, {.fields = {"repository", "path", "url", "text"}},
      [&visit](const v1::NoticeRow& row, const dataset::RowPlace&) {
        return visit({row.repository(), row.path(), row.url(), row.text()});
      });
}

}  // namespace kernelmill::client
