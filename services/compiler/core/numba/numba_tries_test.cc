#include "services/compiler/core/numba/numba_tries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::compiler::numba {
namespace {

Tries MakeTries(const std::string& module, const std::string& launcher = "") {
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.set_module(absl::StrCat("from numba import cuda\n", module));
  kernel.mutable_launcher()->set_text(launcher);
  const absl::StatusOr<Tries> made = MakeNumbaTries(kernel);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *made : Tries();
}

// Returns "x=float32[::1] guess:float n=int64 guess:int " of a try, or what is missing.
std::string Format(const Tries& tries, size_t place = 0) {
  if (place >= tries.tries.size()) return "missing " + tries.missing;
  std::string text;
  for (const v1::ArgumentType& argument : tries.tries[place].arguments()) {
    absl::StrAppend(&text, argument.name(), "=", argument.type(), " ", argument.rule(), " ");
  }
  return text;
}

TEST(NumbaTriesTest, ASignatureIsTakenAsItIs) {
  EXPECT_EQ(Format(MakeTries("@cuda.jit('void(float32[:, ::1], int64)', fastmath=True)\n"
                             "def k(x, n):\n    x[0, 0] = n\n")),
            "x=float32[:, ::1] annotation n=int64 annotation ");
  EXPECT_EQ(Format(MakeTries("@cuda.jit(void(types.float64[:], int32))\n"
                             "def k(x, n):\n    x[0] = n\n")),
            "x=types.float64[:] annotation n=int32 annotation ");
  EXPECT_EQ(Format(MakeTries("def k(x, n):\n    x[0] = n\n",
                             "    def test(self):\n"
                             "        sig = 'void(uint32[:], uint32)'\n"
                             "        compiled = cuda.jit(sig)(k)\n")),
            "x=uint32[:] annotation n=uint32 annotation ");
}

TEST(NumbaTriesTest, TheModuleHasASignatureThatCannotBeRead) {
  const Tries tries = MakeTries("@cuda.jit(void(f(T), int32))\ndef k(x, n):\n    x[0] = n\n");
  ASSERT_EQ(tries.tries.size(), 1);
  EXPECT_EQ(Format(tries), "");
}

TEST(NumbaTriesTest, CodeTellsArraysFromNumbers) {
  EXPECT_EQ(Format(MakeTries("@cuda.jit\n"
                             "def k(x, y, z, w, idx, n, eps):\n"
                             "    i = cuda.grid(1)\n"
                             "    x[i, i + 1] = y.shape[0] + len(z) + n + eps\n"
                             "    cuda.atomic.add(w, (i, 0, 0), idx[i])\n")),
            "x=float32[:, ::1] guess:float y=float32[::1] guess:float z=float32[::1] guess:float "
            "w=float32[:, :, ::1] guess:float idx=int32[::1] name:idx n=int64 guess:int "
            "eps=float64 name:eps ");
}

TEST(NumbaTriesTest, EachTryIsThereOnce) {
  EXPECT_EQ(MakeTries("@cuda.jit\ndef k():\n    pass\n").tries.size(), 1);
  const Tries tries = MakeTries("@cuda.jit\ndef k(x):\n    x[0] = 1\n");
  EXPECT_EQ(Format(tries, 1), "x=float64[::1] guess:float ");
  EXPECT_EQ(tries.tries[1].attempt(), 2);
}

TEST(NumbaTriesTest, AModuleWithoutTheKernelHasNone) {
  EXPECT_EQ(Format(MakeTries("k = 1\n")), "missing function");
}

}  // namespace
}  // namespace kernelmill::compiler::numba
