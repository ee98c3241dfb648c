#include "client/console/style.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace kernelmill::client {
namespace {

constexpr int kNoTerminal = -1;

class StyleTest : public ::testing::Test {
 protected:
  StyleTest() {
    ::unsetenv("NO_COLOR");
    ::unsetenv("CLICOLOR_FORCE");
  }
  ~StyleTest() override {
    ::unsetenv("NO_COLOR");
    ::unsetenv("CLICOLOR_FORCE");
  }
};

TEST_F(StyleTest, ColorsAreForTerminals) {
  EXPECT_FALSE(WantsColor(ColorChoice::kAuto, kNoTerminal));
  EXPECT_TRUE(WantsColor(ColorChoice::kAlways, kNoTerminal));
  EXPECT_FALSE(WantsColor(ColorChoice::kNever, kNoTerminal));
}

TEST_F(StyleTest, TheFlagBeatsNoColorAndThatBeatsForce) {
  ::setenv("CLICOLOR_FORCE", "0", 1);
  EXPECT_FALSE(WantsColor(ColorChoice::kAuto, kNoTerminal));
  ::setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(WantsColor(ColorChoice::kAuto, kNoTerminal));
  EXPECT_FALSE(WantsColor(ColorChoice::kNever, kNoTerminal));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(WantsColor(ColorChoice::kAuto, kNoTerminal));
  EXPECT_TRUE(WantsColor(ColorChoice::kAlways, kNoTerminal));
  ::setenv("NO_COLOR", "", 1);  // as if it were not set
  EXPECT_TRUE(WantsColor(ColorChoice::kAuto, kNoTerminal));
}

TEST(Paint, EndsWhatItBegins) {
  EXPECT_EQ(Paint(Tone::kPlain, "x"), "x");
  EXPECT_EQ(Paint(Tone::kBad, "x"), "\x1b[31mx\x1b[0m");
}

TEST(PlainText, PutsTextsBesideLabels) {
  EXPECT_EQ(PlainText({{"job", "j"}, {"", "  more"}, {"written to", "/out"}}),
            "job        j\n  more\nwritten to /out\n");
}

}  // namespace
}  // namespace kernelmill::client
