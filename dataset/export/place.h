#ifndef KERNELMILL_DATASET_EXPORT_PLACE_H_
#define KERNELMILL_DATASET_EXPORT_PLACE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/dsl/languages.h"
#include "dataset/export/dataset_index.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// Returns the URL of a file of a repository at a commit, and of lines of it unless `first_line` is
// 0, as the site that serves it writes them. Empty if the commit is unknown or place.cc does not
// list the kind of site.
std::string WebLink(absl::string_view repository_url, absl::string_view commit,
                    absl::string_view path, int first_line, int last_line);

// The same of a commit.
std::string CommitLink(absl::string_view repository_url, absl::string_view commit);

// Fills the fields by which a row names a kernel, which several messages of rows.proto have by the
// same names: its id and its place, in its source and on the web.
template <typename Row>
void FillPlace(const DatasetIndex& index, uint32_t number, Row* row) {
  const KernelEntry& kernel = index.kernels[number];
  const SourceEntry& source = index.GetSource(number);
  const std::string& path = index.GetFile(number).path;
  // A link to lines needs lines of the file: those of a string of a JSON file are the string's, and
  // those of a whole file are all of it.
  const bool all = kernel.in_json || kernel.form == v1::KERNEL_FORM_FILE;
  row->set_id(kernel.id());
  row->set_repository(source.repository);
  row->set_repository_url(source.url);
  row->set_commit(source.commit);
  row->set_path(path);
  row->set_first_line(kernel.first_line);
  row->set_last_line(kernel.last_line);
  if (kernel.in_json) row->set_json_pointer(index.json_pointers.at(number));
  row->set_url(
      WebLink(source.url, source.commit, path, all ? 0 : kernel.first_line, kernel.last_line));
}

// Fills the same, the kernel's hash, and what kind of kernel it is.
template <typename Row>
void FillIdentity(const DatasetIndex& index, uint32_t number, Row* row) {
  const KernelEntry& kernel = index.kernels[number];
  FillPlace(index, number, row);
  row->set_sha256(kernel.sha256());
  row->set_dsl(std::string(dsl::GetName(kernel.language)));
  row->set_role(static_cast<v1::KernelRole>(kernel.role));
  row->set_form(static_cast<v1::KernelForm>(kernel.form));
}

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_PLACE_H_
