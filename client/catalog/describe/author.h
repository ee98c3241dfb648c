#ifndef KERNELMILL_CLIENT_CATALOG_DESCRIBE_AUTHOR_H_
#define KERNELMILL_CLIENT_CATALOG_DESCRIBE_AUTHOR_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/catalog/entries/catalog_kernel.h"

namespace kernelmill::client {

// Who wrote a kernel, as far as it can be located, and what says so: "__author__", "copyright" (the
// lines of its file and its licence file, by their holders) or "owner" (of the repository on the
// web). Empty where nothing does.
struct Author {
  std::string name;
  std::string evidence;
};
Author AuthorOf(const CatalogKernel& kernel);

// The holder that a copyright line names: "Tri Dao" of "# Copyright (c) 2024, Tri Dao.".
std::string CopyrightHolder(absl::string_view line);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_DESCRIBE_AUTHOR_H_
