#include "dataset/export/redact.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::dataset {
namespace {

v1::Kernel MakeKernel(const std::string& source) {
  v1::Kernel kernel;
  kernel.set_path("jane@example.org/k.py");
  kernel.set_source(source);
  kernel.set_module("import triton\n" + source);
  kernel.set_docstring("By jane@example.org.");
  kernel.mutable_launcher()->set_text("# jane@example.org");
  kernel.add_parameters()->set_default_value("'jane@example.org'");
  return kernel;
}

v1::Quality Found(const std::string& kind, int64_t begin, int64_t size) {
  v1::Quality quality;
  v1::Sensitive& finding = *quality.add_sensitive();
  finding.set_kind(kind);
  finding.set_text(v1::Sensitive::TEXT_SOURCE);
  finding.set_begin(begin);
  finding.set_size(size);
  return quality;
}

v1::QualityPolicy Policy(v1::SensitivePolicy secrets, v1::SensitivePolicy emails) {
  v1::QualityPolicy policy;
  policy.set_secrets(secrets);
  policy.set_emails(emails);
  return policy;
}

TEST(Redact, WritesOverEveryPlaceButNamesAndPaths) {
  const v1::Kernel kernel = MakeKernel("# jane@example.org\nx = 1\n");
  const v1::Kernel redacted =
      Redacted(kernel, Found("email", 2, 16),
               Policy(v1::SENSITIVE_POLICY_REJECT, v1::SENSITIVE_POLICY_REDACT));
  EXPECT_EQ(redacted.source(), "# xxxx@xxxxxxx.xxx\nx = 1\n");
  EXPECT_EQ(redacted.module(), "import triton\n# xxxx@xxxxxxx.xxx\nx = 1\n");
  EXPECT_EQ(redacted.docstring(), "By xxxx@xxxxxxx.xxx.");
  EXPECT_EQ(redacted.launcher().text(), "# xxxx@xxxxxxx.xxx");
  EXPECT_EQ(redacted.parameters(0).default_value(), "'xxxx@xxxxxxx.xxx'");
  EXPECT_EQ(redacted.path(), kernel.path());
}

TEST(Redact, LeavesWhatThePolicyOnlyLabels) {
  const v1::Kernel kernel = MakeKernel("# jane@example.org\n");
  const v1::QualityPolicy policy = Policy(v1::SENSITIVE_POLICY_REDACT, v1::SENSITIVE_POLICY_LABEL);
  EXPECT_EQ(Redacted(kernel, Found("email", 2, 16), policy).source(), kernel.source());
  EXPECT_EQ(Redacted(kernel, Found("jwt", 2, 4), policy).source(), "# xxxx@example.org\n");
}

TEST(Redact, AFindingBeyondTheTextIsPassedOver) {
  const v1::Kernel kernel = MakeKernel("# jane\n");
  const v1::QualityPolicy policy = Policy(v1::SENSITIVE_POLICY_REDACT, v1::SENSITIVE_POLICY_REDACT);
  for (const auto& [begin, size] :
       {std::pair<int64_t, int64_t>{5, 100}, {-1, 2}, {100, 1}, {2, INT64_MAX}}) {
    EXPECT_EQ(Redacted(kernel, Found("email", begin, size), policy).source(), kernel.source());
  }
}

}  // namespace
}  // namespace kernelmill::dataset
