#include "common/dsl/libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelmill::dsl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Libraries, AreKnownByTheirNamespaces) {
  EXPECT_THAT(FindLibraries("__global__ void k(cute::Tensor<int> x) {}"), ElementsAre("cutlass"));
  EXPECT_THAT(FindLibraries("using namespace kittens;\n__global__ void k(st_bf<8, 8> x) {}"),
              ElementsAre("thunderkittens"));
  EXPECT_THAT(FindLibraries("void f() { ::ck_tile::g(); cutlass::half_t x; }"),
              ElementsAre("composable_kernel", "cutlass"));
}

TEST(Libraries, OtherNamesAreNone) {
  EXPECT_THAT(FindLibraries("// as cutlass::half_t\nint cute = back::ck;\nmy::cute::f();"),
              IsEmpty());
  EXPECT_THAT(FindLibraries("std::string cutlass_path = \"cutlass::x\";"), IsEmpty());
  EXPECT_THAT(FindLibraries(""), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::dsl
