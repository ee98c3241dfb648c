#ifndef KERNELMILL_CLIENT_CATALOG_ENTRIES_NOTICES_H_
#define KERNELMILL_CLIENT_CATALOG_ENTRIES_NOTICES_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace kernelmill::client {

// A row of notices.jsonl: a licence or NOTICE file of a repository.
struct Notice {
  std::string repository;
  std::string path;
  std::string url;
  std::string text;
};

// Calls visit(notice) for each row of notices.jsonl in the folder `dataset`, in its order. Errors
// are those of dataset::RowReader; an error of `visit` ends the walk.
absl::Status ForEachNotice(const std::string& dataset,
                           const std::function<absl::Status(const Notice&)>& visit);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_ENTRIES_NOTICES_H_
