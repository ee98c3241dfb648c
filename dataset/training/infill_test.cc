#include "dataset/training/infill.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kernelmill::dataset {
namespace {

manifest::FimPair Pair() {
  manifest::FimPair pair;
  pair.prompt = "def k(x, n):\n";
  pair.completion =
      "    # first\n    i = tl.program_id(0)\n    y = tl.load(\n        x,\n    )\n    for j in "
      "range(n):\n"
      "        y += j; y *= 2\n        # of the loop\n    s = '''a\n    b = 1\n    # c\n'''\n"
      "    t = s  # not above\n\n    # written\n    # back\n    tl.store(x, y)\n";
  return pair;
}

std::string Hash(unsigned char a, unsigned char b) {
  return std::string(1, static_cast<char>(a)) + std::string(1, static_cast<char>(b)) +
         std::string(18, '\0');
}

TEST(Infill, PartsJoinedAreThePair) {
  const manifest::FimPair pair = Pair();
  for (int a = 0; a < 256; ++a) {
    const Infill infill = CutInfill(pair, Hash(static_cast<unsigned char>(a), 7));
    EXPECT_EQ(infill.prefix + infill.middle + infill.suffix, pair.prompt + pair.completion);
    EXPECT_FALSE(infill.middle.empty());
    EXPECT_EQ(infill.prefix.substr(0, pair.prompt.size()), pair.prompt);
  }
}

TEST(Infill, CutsStandWhereStatementsOrTheCommentsAboveThemBegin) {
  const std::set<std::string> begins = {"    # firs", "    y = tl", "    for j ", "        y ",
                                        "    s = ''", "    t = s ", "    # writ"};
  std::set<std::string> seen;
  for (int a = 0; a < 256; ++a) {
    for (const unsigned char b : {0, 1, 9}) {
      const Infill infill = CutInfill(Pair(), Hash(static_cast<unsigned char>(a), b));
      seen.insert(infill.middle.substr(0, 10));
      if (!infill.suffix.empty()) seen.insert(infill.suffix.substr(0, 10));
    }
  }
  EXPECT_EQ(seen, begins);
}

TEST(Infill, AnIdentityDrawsOneCut) {
  EXPECT_EQ(CutInfill(Pair(), Hash(3, 4)).middle, CutInfill(Pair(), Hash(3, 4)).middle);
  EXPECT_NE(CutInfill(Pair(), Hash(3, 4)).middle, CutInfill(Pair(), Hash(4, 4)).middle);
}

TEST(Infill, OneStatementIsWhollyTheMiddle) {
  manifest::FimPair pair;
  pair.prompt = "def k():\n";
  pair.completion = "    return 1\n";
  const Infill infill = CutInfill(pair, Hash(200, 100));
  EXPECT_EQ(infill.prefix, pair.prompt);
  EXPECT_EQ(infill.middle, pair.completion);
  EXPECT_EQ(infill.suffix, "");
}

}  // namespace
}  // namespace kernelmill::dataset
