#include "common/sensitive/sensitive.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"

namespace kernelmill::sensitive {
namespace {

// Put together here, so that no scanner takes this file for one that holds a secret.
std::string Made(absl::string_view prefix, size_t size) {
  static constexpr absl::string_view kLetters = "aZ3bY7cX1dW9eV5fU2gT8hS4iR6jQ0kP";
  std::string secret(prefix);
  for (size_t i = 0; i < size; ++i) secret += kLetters[i % kLetters.size()];
  return secret;
}

v1::Kernel MakeKernel(std::string source) {
  v1::Kernel kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_source(std::move(source));
  return kernel;
}

std::string Kinds(const v1::Kernel& kernel) {
  std::string kinds;
  for (const v1::Sensitive& finding : FindSensitive(kernel))
    absl::StrAppend(&kinds, finding.kind(), ";");
  return kinds;
}

TEST(Sensitive, AddressesInCommentsAndStringsAreFound) {
  const v1::Kernel kernel = MakeKernel("# by jane.doe@example.org\nx = 'a@b-c.co.uk'\n");
  EXPECT_EQ(Kinds(kernel), "email;email;");
  const v1::Sensitive first = FindSensitive(kernel).at(0);
  EXPECT_EQ(kernel.source().substr(first.begin(), first.size()), "jane.doe@example.org");
  EXPECT_EQ(first.text(), v1::Sensitive::TEXT_SOURCE);
}

TEST(Sensitive, AProductOfMatricesIsNoAddress) {
  EXPECT_EQ(Kinds(MakeKernel("acc += a@b.to(tl.float32)\nq@k.trans\n@triton.jit\n")), "");
  EXPECT_EQ(Kinds(MakeKernel("# acc += q @ k.T\n# user@host, @triton.jit\n")), "");
}

TEST(Sensitive, SecretsAreFoundByTheirForms) {
  EXPECT_EQ(Kinds(MakeKernel("k = '" + std::string("AKIA") + "ABCDEFGHIJ234567'\n")),
            "aws_access_key;");
  EXPECT_EQ(Kinds(MakeKernel("k = '" + Made("ghp_", 36) + "'\n")), "github_token;");
  EXPECT_EQ(Kinds(MakeKernel("k = '" + Made("sk-", 40) + "'\n")), "openai_key;");
  EXPECT_EQ(Kinds(MakeKernel("k = '" + Made("xoxb-", 20) + "'\n")), "slack_token;");
  EXPECT_EQ(Kinds(MakeKernel("k = '" + Made("glpat-", 20) + "'\n")), "gitlab_token;");
  EXPECT_EQ(Kinds(MakeKernel("k = 'hf_" + std::string(34, 'a') + "'\n")), "huggingface_token;");
  EXPECT_EQ(Kinds(MakeKernel("k = '" + Made("AIza", 35) + "'\n")), "google_api_key;");
  EXPECT_EQ(Kinds(MakeKernel("k = '" + Made("sk_live_", 16) + "'\n")), "stripe_key;");
  EXPECT_EQ(Kinds(MakeKernel("k = '" + Made("npm_", 36) + "'\n")), "npm_token;");
  EXPECT_EQ(Kinds(MakeKernel("k = '" + Made("pypi-AgE", 50) + "'\n")), "pypi_token;");
  EXPECT_EQ(Kinds(MakeKernel(absl::StrCat("k = '", Made("eyJ", 10), ".", Made("eyJ", 10), ".",
                                          Made("", 10), "'\n"))),
            "jwt;");
  EXPECT_EQ(Kinds(MakeKernel("# -----BEGIN RSA " + std::string("PRIVATE KEY-----\nMIIE\n"))),
            "private_key;");
}

TEST(Sensitive, ALiteralIsAPasswordWhereItIsCalledOneAndLooksLikeOne) {
  EXPECT_EQ(Kinds(MakeKernel("DB_PASSWORD = \"" + Made("", 16) + "\"\n")), "password;");
  EXPECT_EQ(Kinds(MakeKernel("api_key: '" + Made("", 24) + "'\n")), "password;");
  EXPECT_EQ(
      Kinds(MakeKernel("password = 'changeme-please'\napi_key = os.environ['API_KEY_2345678']\n")),
      "");
}

TEST(Sensitive, TheModuleAndTheLauncherAreReadToo) {
  v1::Kernel kernel = MakeKernel("x = 1\n");
  kernel.set_module("# a@example.org\n");
  kernel.mutable_launcher()->set_text("# b@example.org\n");
  const auto found = FindSensitive(kernel);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].text(), v1::Sensitive::TEXT_MODULE);
  EXPECT_EQ(found[1].text(), v1::Sensitive::TEXT_LAUNCHER);
}

TEST(Sensitive, FindingsAreBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&text, "# a", i, "@example.org\n");
  EXPECT_EQ(FindSensitive(MakeKernel(text)).size(), 100u);
}

}  // namespace
}  // namespace kernelmill::sensitive
