#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_PAGE_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_PAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/catalog/describe/description.h"
#include "client/catalog/entries/catalog_kernel.h"
#include "client/catalog/relatives/overview.h"

namespace kernelmill::client {

inline constexpr size_t kMaxPage = 1'000'000;  // bytes of a file of the site

// Where a kernel's page lies in the site: "kernels/AB/ID.html".
std::string KernelPagePath(absl::string_view id);

// A relative that the page shows, and its row where the page shows the difference.
struct ShownRelative {
  const CatalogEntry* entry = nullptr;
  Relative relative;
};

struct KernelPageInput {
  const CatalogKernel& kernel;
  const std::vector<Sentence>& sentences;
  const Duplicates* duplicates = nullptr;  // null: none
  std::vector<ShownRelative> relatives;
  // The one of the relatives that the page shows side by side, with its source.
  const CatalogEntry* compared = nullptr;
  std::string compared_source;
  // Pages of licence and NOTICE files: of a path of the repository the page's name, else nothing.
  std::vector<std::pair<std::string, std::string>> notices;
};

// The page of a kernel, of less than kMaxPage bytes: long texts are cut, which it says. It needs no
// script and loads nothing from elsewhere.
std::string KernelPage(const KernelPageInput& input);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_PAGE_H_
