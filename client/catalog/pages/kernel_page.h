#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_PAGE_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_PAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/catalog/describe/description.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/pages/execution_section.h"
#include "client/catalog/relatives/relatives.h"

namespace kernelmill::client {

inline constexpr size_t kMaxPage = 1'000'000;  // the limit of bytes for a page

// Returns the path of a kernel's page in the site: "kernels/AB/ID.html".
std::string KernelPagePath(absl::string_view id);

// A relative that the page shows.
struct ShownRelative {
  const CatalogEntry* entry = nullptr;
  Relative relative;
};

// The content of a kernel's page.
struct KernelPageInput {
  const v1::KernelRow& kernel;
  const std::vector<Sentence>& sentences;
  const Duplicates* duplicates = nullptr;  // null: none
  std::vector<ShownRelative> relatives;
  // The relative that the page compares side by side, with its source; null: none.
  const CatalogEntry* compared = nullptr;
  std::string compared_source;
  ExecutionRows execution;
  // The pages of licence and NOTICE files: the path in the repository and the page's name.
  std::vector<std::pair<std::string, std::string>> notices;
};

// Returns the page of a kernel, smaller than kMaxPage. The page says where it cuts long text. It
// needs no script and loads nothing from other sites.
std::string KernelPage(const KernelPageInput& input);

// Returns shell commands that download the kernel's file at its commit and print its lines. Names
// are quoted, so that the shell does not run them. Empty if the source is not a repository on the
// web, or a name has characters that do not belong in a command line.
std::string GetAgainCommands(const v1::KernelRow& kernel);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_KERNEL_PAGE_H_
