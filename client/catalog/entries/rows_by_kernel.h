#ifndef KERNELMILL_CLIENT_CATALOG_ENTRIES_ROWS_BY_KERNEL_H_
#define KERNELMILL_CLIENT_CATALOG_ENTRIES_ROWS_BY_KERNEL_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "dataset/rows/row_reader.h"

namespace kernelmill::client {

// The rows of one of a dataset's files by the kernel that they are about. It holds the places of
// rows and reads a row when a page needs it, because rows with cases are large. Not thread-safe.
template <typename Row>
class RowsByKernel {
 public:
  // `id_of` returns the kernel's id; `id_field` is the field that it is in. If a kernel has several
  // rows, the first counts. A dataset without the file has no such rows. Errors are those of
  // dataset::RowReader.
  template <typename IdOf>
  static absl::StatusOr<RowsByKernel> Open(const std::string& dataset, const char* id_field,
                                           const IdOf& id_of) {
    RowsByKernel rows;
    const dataset::RowSchema& schema = dataset::GetSchema<Row>();
    std::error_code error;
    if (!std::filesystem::exists(absl::StrCat(dataset, "/", schema.file), error)) return rows;
    RETURN_IF_ERROR(dataset::ForEachRow<Row>(dataset, {.fields = {id_field}},
                                             [&](const Row& row, const dataset::RowPlace& place) {
                                               rows.offsets_.try_emplace(id_of(row), place.offset);
                                               return absl::OkStatus();
                                             }));
    ASSIGN_OR_RETURN(dataset::RowReader reader, dataset::RowReader::Open(dataset, schema));
    rows.reader_ = std::make_unique<dataset::RowReader>(std::move(reader));
    return rows;
  }

  // Returns nothing if the kernel has no row.
  absl::StatusOr<std::optional<Row>> Find(const std::string& id) {
    const auto at = offsets_.find(id);
    if (at == offsets_.end()) return std::nullopt;
    std::optional<Row> row(std::in_place);
    RETURN_IF_ERROR(reader_->ReadAt(at->second, &*row));
    return row;
  }

 private:
  absl::flat_hash_map<std::string, int64_t> offsets_;
  std::unique_ptr<dataset::RowReader> reader_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_ENTRIES_ROWS_BY_KERNEL_H_
