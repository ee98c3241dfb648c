#include "client/catalog/site_layout.h"

#include "absl/strings/match.h"
#include "common/base/file.h"

namespace kernelmill::client {
namespace {

constexpr const char* kFiles[] = {"index.html", "learn.html", "coverage.html", "coverage.json",
                                  "TRITON_INDEX.md"};
constexpr dataset::OutputFolder kFolders[] = {{"assets", ""},       {"data", ".js"},
                                              {"kernels", ".html"}, {"lists", ".html"},
                                              {"notices", ".html"}, {"triton-index", ".md"}};
constexpr int64_t kMaxMark = 4 << 20;

bool IsOurs(const std::string& coverage) {
  const absl::StatusOr<std::string> text = ReadFile(coverage, kMaxMark);
  return text.ok() && absl::StrContains(*text, "\"operations\"");
}

}  // namespace

const dataset::OutputLayout& SiteLayout() {
  static constexpr dataset::OutputLayout kLayout = {kFiles,
                                                    kFolders,
                                                    "coverage.json",
                                                    IsOurs,
                                                    "which is not of a catalog",
                                                    "is not empty and not an earlier catalog"};
  return kLayout;
}

}  // namespace kernelmill::client
