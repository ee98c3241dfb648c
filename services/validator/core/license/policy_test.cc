#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"
#include "services/validator/core/license/source_licenses.h"

namespace kernelmill::validator {
namespace {

LicensePolicy MakePolicy(const std::vector<std::string>& allow) {
  v1::LicensePolicy proto;
  for (const std::string& id : allow) proto.add_allow(id);
  return LicensePolicy(proto);
}

TEST(LicensePolicyTest, AnExpressionIsAllowedWhenAllowedLicencesSatisfyIt) {
  struct Case {
    std::vector<std::string> allow;
    std::string expression;
    bool allowed;
  };
  const std::vector<Case> cases = {
      {{"MIT"}, "MIT", true},
      {{"mit"}, "MIT", true},
      {{"MIT"}, "ISC", false},
      {{"MIT"}, "MIT OR GPL-3.0-only", true},
      {{"MIT"}, "MIT AND GPL-3.0-only", false},
      {{"MIT", "GPL-3.0"}, "MIT AND GPL-3.0-only", true},
      {{"MIT"}, "(MIT OR ISC) AND (Zlib OR MIT)", true},
      {{"MIT"}, "(MIT OR ISC) AND Zlib", false},
      {{"Apache-2.0"}, "Apache-2.0 WITH LLVM-exception", true},
      {{"Apache-2.0"}, "Apache-2.0+", true},
      {{"GPL-2.0-only"}, "GPL-2.0-or-later", true},
      {{"GPL-2.0-or-later"}, "GPL-2.0-only", false},
      {{"GPL-2.0-only WITH Classpath-exception-2.0"},
       "GPL-2.0-only WITH Classpath-exception-2.0",
       true},
      {{"GPL-2.0-only WITH Classpath-exception-2.0"}, "GPL-2.0-only", false},
      {{"BSD-3-Clause"}, "BSD-3-Clause-Clear", false},
      {{"MIT"}, "NOASSERTION", false},
      {{"NOASSERTION"}, "NOASSERTION", false},
      {{"MIT"}, "MIT WITH Commons-Clause", false},
      {{"MIT WITH Commons-Clause"}, "MIT WITH Commons-Clause", true},
      {{"*"}, "GPL-3.0-only", true},
      {{"*"}, "LicenseRef-x AND MIT", true},
      {{"*"}, "NOASSERTION", true},
      {{"MIT"}, "", false},
      {{"MIT"}, "MIT AND", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MakePolicy(c.allow).Allows(c.expression), c.allowed)
        << c.expression << " by " << c.allow.front();
  }
}

TEST(LicensePolicyTest, AnEmptyListMeansTheDefaults) {
  const LicensePolicy policy = MakePolicy({});
  for (const std::string id : {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC"}) {
    EXPECT_TRUE(policy.Allows(id)) << id;
  }
  for (const std::string id :
       {"GPL-3.0-only", "AGPL-3.0-only", "MPL-2.0", "BSD-4-Clause", "CC0-1.0"}) {
    EXPECT_FALSE(policy.Allows(id)) << id;
  }
}

// Returns the origin and its line that a CUDA kernel `k` in the content has; empty without one.
std::string FindCudaOrigin(const std::string& path, const std::string& content, v1::Kernel kernel) {
  const v1::SourceTree tree;
  const StatedLicenses stated;
  SourceLicenses licenses(tree, stated);
  kernel.set_path(path);
  kernel.set_dsl(dsl::kCuda);
  kernel.mutable_cuda();
  const v1::License license = licenses.Of(kernel, content);
  if (license.adapted_from_size() != 1) return "";
  return absl::StrCat(license.adapted_from(0).origin(), " ", license.adapted_from(0).line());
}

TEST(SourceLicensesTest, CommentsOfCudaInStringsNameOrigins) {
  const std::string function = "// Adapted from https://example.com/o/n\n__global__ void k() {}\n";
  const std::string python = absl::StrCat("import torch\nSOURCE = \"\"\"\n", function, "\"\"\"\n");
  v1::Kernel kernel;
  kernel.set_string_begin(static_cast<int64_t>(python.find("\n//")));
  kernel.set_first_byte(static_cast<int64_t>(python.find("__global__")));
  kernel.set_source("__global__ void k() {}\n");
  kernel.set_first_line(4);
  kernel.set_last_line(4);
  EXPECT_EQ(FindCudaOrigin("a.py", python, kernel), "https://example.com/o/n 3");

  v1::Kernel in_json;
  in_json.set_json_pointer("/0");
  in_json.set_source("__global__ void k() {\n  // Ported from https://example.com/o/n\n}\n");
  in_json.set_first_line(7);
  in_json.set_last_line(9);
  EXPECT_EQ(FindCudaOrigin("a.json", "[]", in_json), "https://example.com/o/n 8");
}

}  // namespace
}  // namespace kernelmill::validator
