#ifndef KERNELMILL_CLIENT_CATALOG_WEB_ASSETS_H_
#define KERNELMILL_CLIENT_CATALOG_WEB_ASSETS_H_

#include <array>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

struct Asset {
  absl::string_view name;
  absl::string_view bytes;
};

// The front end as esbuild bundled it when this program was built.
extern const std::array<Asset, 4> kAssets;

// index.html with @META@, @NAV@, @TITLE@ and @NOSCRIPT@ in it.
extern const absl::string_view kIndexTemplate;

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_WEB_ASSETS_H_
