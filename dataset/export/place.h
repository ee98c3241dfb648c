#ifndef KERNELMILL_DATASET_EXPORT_PLACE_H_
#define KERNELMILL_DATASET_EXPORT_PLACE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "dataset/export/dataset_index.h"
#include "dataset/output/row_writer.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// As records spell them: "triton", "device".
std::string DslWord(v1::Dsl dsl);
std::string RoleWord(v1::KernelRole role);

// Writes the fields by which a kernel is named: its id and where it stands, in its source and on
// the web.
void WritePlace(const DatasetIndex& index, uint32_t number, RowWriter& row);

// Those, and what every row about a kernel begins with: its hash and of what kind it is.
void WriteIdentity(const DatasetIndex& index, uint32_t number, RowWriter& row);

// A file of a repository on the web at a commit, and lines of it unless `first_line` is 0, as the
// site that serves it has them; empty where the commit is none or the site is of no kind that
// place.cc lists.
std::string WebLink(absl::string_view repository_url, absl::string_view commit,
                    absl::string_view path, int first_line, int last_line);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_PLACE_H_
