#include "common/base/unsafe_text.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill {
namespace {

TEST(UnsafeText, JsonKeepsItsValueWithoutUnsafeCharacters) {
  EXPECT_EQ(EscapeUnsafeJson("{\"a\": \"plain \xc3\xa4\"}\n"), "{\"a\": \"plain \xc3\xa4\"}\n");
  EXPECT_EQ(EscapeUnsafeJson("\"\xe2\x80\xae\xc2\x9b\""), "\"\\u202e\\u009b\"");
  EXPECT_EQ(EscapeUnsafeJson("\"\xf3\xa0\x80\x81\""), "\"\\udb40\\udc01\"");
  EXPECT_EQ(EscapeUnsafeJson("\"\xff\xf0\x9f\x98\x80\""), "\"\xff\xf0\x9f\x98\x80\"");
}

TEST(UnsafeText, ControlsAndCharactersThatReorderOrHideAreUnsafe) {
  for (const uint32_t code : {0x1bu, 0x9bu, 0x202eu, 0x2066u, 0x200bu, 0xfeffu, 0xe0001u}) {
    EXPECT_TRUE(IsUnsafeCodePoint(code)) << code;
  }
  for (const uint32_t code : {0x20u, 0x41u, 0xe4u, 0x4e2du, 0x1f600u}) {
    EXPECT_FALSE(IsUnsafeCodePoint(code)) << code;
  }
}

}  // namespace
}  // namespace kernelmill
