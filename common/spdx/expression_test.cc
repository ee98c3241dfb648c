#include "common/spdx/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::spdx {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

std::string Canonical(const std::string& text) {
  const absl::StatusOr<SpdxExpression> parsed = SpdxExpression::Parse(text);
  return parsed.ok() ? parsed->ToString() : "invalid";
}

TEST(SpdxExpressionTest, ExpressionsAreReadAndWrittenInCanonicalForm) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"MIT", "MIT"},
      {"  mit ", "MIT"},
      {"apache-2.0", "Apache-2.0"},
      {"MIT OR Apache-2.0", "MIT OR Apache-2.0"},
      {"MIT or apache-2.0 and ISC", "MIT OR Apache-2.0 AND ISC"},
      {"(MIT OR Apache-2.0) AND ISC", "(MIT OR Apache-2.0) AND ISC"},
      {"MIT OR (Apache-2.0 AND ISC)", "MIT OR Apache-2.0 AND ISC"},
      {"((MIT))", "MIT"},
      {"MIT AND MIT", "MIT"},
      {"MIT OR (ISC OR MIT)", "MIT OR ISC"},
      {"Apache-2.0 WITH LLVM-exception", "Apache-2.0 WITH LLVM-exception"},
      {"apache-2.0 with llvm-EXCEPTION OR NCSA", "Apache-2.0 WITH LLVM-exception OR NCSA"},
      {"Apache-2.0+", "Apache-2.0+"},
      {"GPL-2.0", "GPL-2.0-only"},
      {"GPL-2.0+", "GPL-2.0-or-later"},
      {"LGPL-2.1-only+", "LGPL-2.1-or-later"},
      {"GPL-2.0+ WITH Classpath-exception-2.0", "GPL-2.0-or-later WITH Classpath-exception-2.0"},
      {"LicenseRef-Acme-1", "LicenseRef-Acme-1"},
      {"licenseref-Acme", "LicenseRef-Acme"},
      {"DocumentRef-a:LicenseRef-b", "DocumentRef-a:LicenseRef-b"},
      {"SomethingNew-1.0", "SomethingNew-1.0"},
  };
  for (const auto& [text, canonical] : cases) EXPECT_EQ(Canonical(text), canonical) << text;
}

TEST(SpdxExpressionTest, WhatIsNoExpressionIsRefused) {
  for (const std::string text : {"",
                                 " ",
                                 "AND",
                                 "MIT AND",
                                 "OR MIT",
                                 "MIT Apache-2.0",
                                 "MIT License",
                                 "(MIT",
                                 "MIT)",
                                 "()",
                                 "MIT/ISC",
                                 "MIT WITH",
                                 "WITH x",
                                 "MIT WITH WITH",
                                 "NOASSERTION",
                                 "none",
                                 "MIT, ISC",
                                 "MIT\x01",
                                 "(MIT) WITH x",
                                 "+",
                                 "Apache-2.0 ++",
                                 "MIT && ISC"}) {
    EXPECT_THAT(SpdxExpression::Parse(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

TEST(SpdxExpressionTest, DepthAndLengthAreBounded) {
  EXPECT_THAT(SpdxExpression::Parse(std::string(100'000, '(')),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "MIT" + std::string(depth, ')');
  };
  EXPECT_THAT(SpdxExpression::Parse(nested(32)), IsOk());
  EXPECT_THAT(SpdxExpression::Parse(nested(33)), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(SpdxExpression::Parse(nested(100'000)), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SpdxExpressionTest, CanonicalFormIsAFixedPoint) {
  for (const std::string text : {"MIT OR Apache-2.0 AND ISC", "(MIT OR ISC) AND (Zlib OR 0BSD)",
                                 "GPL-2.0+ WITH GCC-exception-3.1 OR MIT"}) {
    EXPECT_EQ(Canonical(Canonical(text)), Canonical(text));
  }
}

TEST(SpdxExpressionTest, DeprecatedIdentifiersAreReplaced) {
  EXPECT_EQ(Canonical("GPL-2.0-with-classpath-exception"),
            "GPL-2.0-only WITH Classpath-exception-2.0");
  EXPECT_EQ(Canonical("BSD-2-Clause-FreeBSD OR StandardML-NJ"), "BSD-2-Clause OR SMLNJ");
  EXPECT_EQ(Canonical("GFDL-1.3"), "GFDL-1.3-only");
}

TEST(SpdxExpressionTest, WellKnownIdentifiersAreToldFromWords) {
  EXPECT_TRUE(IsKnownLicenseId("bsd-3-clause"));
  EXPECT_TRUE(IsKnownLicenseId("GPL-3.0"));
  EXPECT_TRUE(IsKnownLicenseId("LicenseRef-x"));
  EXPECT_FALSE(IsKnownLicenseId("BSD"));
  EXPECT_FALSE(IsKnownLicenseId("Other"));
}

}  // namespace
}  // namespace kernelmill::spdx
