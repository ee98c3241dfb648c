#ifndef KERNELMILL_CLIENT_JOBS_PAGE_WEB_ASSETS_H_
#define KERNELMILL_CLIENT_JOBS_PAGE_WEB_ASSETS_H_

#include <array>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// The front end of the page of jobs, bundled by esbuild when this program was built.
struct JobsPageAsset {
  absl::string_view name;
  absl::string_view type;  // for HTTP
  absl::string_view bytes;
};
extern const std::array<JobsPageAsset, 3> kJobsPageAssets;
extern const absl::string_view kJobsPageHtml;

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_JOBS_PAGE_WEB_ASSETS_H_
