#include "services/extractor/core/reference/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/python/parse/python_parser.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A library with an autograd function, a class and a re-export.
constexpr char kKernels[] = R"(import torch
import triton
import triton.language as tl
from .sizes import round_up

@triton.jit
def forward_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def backward_kernel(dy, dx, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(dx + i, tl.load(dy + i, mask=i < n) * 2, mask=i < n)

class DoubleFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        forward_kernel[(1,)](x, y, x.numel(), B=round_up(x.numel()))
        return y

    @staticmethod
    def backward(ctx, dy):
        dx = torch.empty_like(dy)
        backward_kernel[(1,)](dy, dx, dy.numel(), B=round_up(dy.numel()))
        return dx
)";
constexpr char kLayers[] = R"(import torch
from .kernels import DoubleFunction

class Double(torch.nn.Module):
    def forward(self, x):
        return DoubleFunction.apply(x)

def double(x):
    return DoubleFunction.apply(x)
)";

std::vector<NamedText> Library(std::vector<NamedText> more) {
  std::vector<NamedText> texts = {
      {"lib/__init__.py", "from .layers import Double, double\n"},
      {"lib/sizes.py", "STEP = 16\n\ndef round_up(n):\n    return (n + STEP - 1) // STEP * STEP\n"},
      {"lib/kernels.py", kKernels},
      {"lib/layers.py", kLayers}};
  texts.insert(texts.end(), more.begin(), more.end());
  return texts;
}

v1::KernelReferences Find(const std::vector<NamedText>& texts, const std::string& name,
                          const ReferenceOptions& options = {}) {
  v1::SourceTree tree;
  v1::FileShard files;
  for (const auto& [path, text] : texts) {
    tree.add_files()->set_path(path);
    v1::SourceFile& file = *files.add_files();
    file.set_path(path);
    file.set_content(text);
  }
  const v1::KernelShard kernels = ExtractAndLink(texts);
  const ReferenceInputs inputs = {1, [&](size_t) { return files; }, 1,
                                  [&](size_t) { return kernels; }};
  const python::StandardParser parser;
  v1::ReferenceShard found;
  const auto write = [&](v1::ReferenceShard shard) {
    found = std::move(shard);
    return absl::OkStatus();
  };
  EXPECT_TRUE(FindReferences(tree, inputs, parser, write, options).ok());
  EXPECT_EQ(found.kernels_size(), kernels.kernels_size());
  for (int i = 0; i < kernels.kernels_size(); ++i) {
    if (kernels.kernels(i).name() == name) return found.kernels(i);
  }
  ADD_FAILURE() << "no kernel " << name;
  return {};
}

// The only test of a kernel of the library.
v1::TestReference FindTest(const std::string& test, const std::string& kernel = "forward_kernel") {
  const v1::KernelReferences found = Find(Library({{"tests/test_double.py", test}}), kernel);
  EXPECT_EQ(found.tests_size(), 1) << found.reason();
  return found.tests().empty() ? v1::TestReference() : found.tests(0);
}

std::string ShowCase(const v1::ReferenceCase& one) {
  std::vector<std::string> values;
  for (const auto& value : one.values()) {
    values.push_back(absl::StrCat(value.name(), "=", value.value(), value.literal() ? "" : "?"));
  }
  return absl::StrJoin(values, " ");
}

// A library that asks its machine what it is.
constexpr char kRuntime[] = R"(import vendor_toolkit

class Detector:
    def __init__(self):
        found = vendor_toolkit.detect()
        self.name, self.vendor_name, self.support_fp64 = found

device = Detector()
)";
constexpr char kConftest[] = R"(import pytest
import yaml

TO_CPU = False

def pytest_configure(config):
    global TO_CPU
    TO_CPU = config.getoption("--ref") == "cpu"
)";
constexpr char kUtils[] = R"(import torch
import lib
from .conftest import TO_CPU

fp64_is_supported = lib.runtime.device.support_fp64

def to_reference(x, upcast=False):
    if TO_CPU:
        x = x.to("cpu")
    return x.to(torch.float64) if upcast and fp64_is_supported else x

def check_close(out, ref):
    torch.testing.assert_close(out, lib.runtime.cast(ref))
)";

v1::TestReference FindTestWithRuntime(const std::string& test) {
  std::vector<NamedText> texts = Library({{"lib/runtime.py", kRuntime},
                                          {"tests/__init__.py", ""},
                                          {"tests/conftest.py", kConftest},
                                          {"tests/utils.py", kUtils},
                                          {"tests/test_double.py", test}});
  texts[0].second = R"(import torch
from . import runtime
from .layers import Double, double
device = runtime.device.name
vendor_name = runtime.device.vendor_name
)";
  const v1::KernelReferences found = Find(texts, "forward_kernel");
  EXPECT_EQ(found.tests_size(), 1) << found.reason();
  return found.tests().empty() ? v1::TestReference() : found.tests(0);
}

TEST(ReferencesTest, HelperOfTestsComesAlongWithWhatTheLibraryFindsOutOfTheMachine) {
  const v1::TestReference test = FindTestWithRuntime(R"(import torch
import lib
from . import utils

def test_double():
    x = torch.randn(8, device=lib.device)
    ref_x = utils.to_reference(x, True)
    ref_out = torch.mul(ref_x, 2)
    utils.check_close(lib.double(x), ref_out)
)");
  const v1::Reference& reference = test.reference();
  EXPECT_TRUE(reference.self_contained()) << reference.DebugString();
  EXPECT_THAT(reference.module(), HasSubstr("\nTO_CPU = False\n"));
  EXPECT_THAT(reference.module(),
              HasSubstr("\nfp64_is_supported = True  # lib.runtime.device.support_fp64\n"));
  EXPECT_THAT(reference.module(), HasSubstr("\nutils.to_reference = to_reference\n"));
  EXPECT_THAT(reference.module(), Not(HasSubstr("pytest")));
}

TEST(ReferencesTest, ConstantThatHandsOnWhatTheLibraryFoundOutHasItsValue) {
  const v1::TestReference test = FindTestWithRuntime(R"(import torch
import lib

device = lib.device
VENDOR = getattr(lib, "vendor_name", "")

def test_double():
    x = torch.randn(8, device=device)
    ref_out = torch.mul(x.to(device if VENDOR == "nvidia" else "cpu"), 2)
    torch.testing.assert_close(lib.double(x), ref_out)
)");
  EXPECT_TRUE(test.reference().self_contained()) << test.reference().DebugString();
  EXPECT_THAT(
      test.reference().module(),
      HasSubstr("device = \"cuda\" if torch.cuda.is_available() else \"cpu\"  # lib.device\n"));
  EXPECT_THAT(test.reference().module(), HasSubstr("VENDOR = \"nvidia\"  # lib.vendor_name\n"));
}

TEST(ReferencesTest, AHelperOfBothSidesIsNoReference) {
  const v1::TestReference test = FindTest(R"(import numpy as np
import torch
from lib import double

def to_numpy(x, copies=1):
    return x.detach().cpu().numpy()

def add_all(x):
    return x + x

def test_double():
    x = torch.randn(8)
    expected = add_all(x)
    np.testing.assert_allclose(to_numpy(double(x), 2), to_numpy(expected, 2))
)");
  EXPECT_EQ(test.reference().name(), "add_all");
}

TEST(ReferencesTest, AGradcheckHasOneSideOnly) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import double

def test_double():
    x = torch.randn(8, requires_grad=True)
    assert torch.autograd.gradcheck(double, (x,))
)");
  EXPECT_EQ(test.qualname(), "test_double");
  EXPECT_FALSE(test.has_reference());
}

TEST(ReferencesTest, AKernelThatTheTestExpectsIsNotWhatItTests) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import double

def dequantize(x, scale):
    return x.float() * scale

def test_fast():
    x = torch.randn(8)
    ref_out = double(x)
    test_state, test_scale = torch.ops.fast.double(x)
    actual = dequantize(test_state, test_scale)
    torch.testing.assert_close(actual, ref_out)
)");
  EXPECT_EQ(test.status(), "other_comparison");
}

TEST(ReferencesTest, ACountOfTheTestsParametersIsNoReference) {
  const std::string test = R"(import pytest
import torch
from lib import double

@pytest.mark.parametrize("rows,columns", [(2, 4), (8, 16)])
def test_double(rows, columns):
    y = double(torch.ones(rows, columns))
    count = (y > 0).sum().item()
    assert count == )";
  EXPECT_EQ(FindTest(test + "rows * columns\n").status(), "no_reference");
  EXPECT_EQ(FindTest(test + "torch.ones(rows, columns).sum() * columns\n").status(), "reference");
}

TEST(ReferencesTest, OtherFactsOfTheMachineAreNotGuessed) {
  const v1::TestReference test = FindTestWithRuntime(R"(import torch
import lib

KIND = lib.runtime.device.kind
VENDOR = getattr(lib.runtime, "vendor_name", "").upper()

def test_double():
    x = torch.randn(8)
    ref_out = torch.mul(x, 2 if KIND else len(VENDOR))
    torch.testing.assert_close(lib.double(x), ref_out)
)");
  EXPECT_FALSE(test.reference().self_contained());
  EXPECT_THAT(test.reference().module(), HasSubstr("KIND = lib.runtime.device.kind\n"));
  EXPECT_THAT(test.reference().module(), HasSubstr(", \"\").upper()\n"));
}

TEST(ReferencesTest, KernelWithoutTestHasTheReasonAndItsLauncherWithHelpers) {
  const v1::KernelReferences found = Find(Library({}), "forward_kernel");
  EXPECT_EQ(found.reason(), "no_test");
  EXPECT_EQ(found.launcher().qualname(), "DoubleFunction");
  EXPECT_TRUE(found.launcher().self_contained());
  EXPECT_THAT(found.launcher().module(), HasSubstr("STEP = 16\n\ndef round_up(n):"));
  EXPECT_THAT(found.launcher().module(), HasSubstr("def forward_kernel("));
}

TEST(ReferencesTest, FunctionOfTheTestFileIsTheReferenceWithItsHelpers) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import double

SCALE = 2

def reference_double(x):
    return x * SCALE

def test_double():
    x = torch.randn(8)
    out = double(x)
    ref = reference_double(x)
    torch.testing.assert_close(out, ref, rtol=1e-3, atol=0)
)");
  EXPECT_EQ(test.status(), "reference");
  EXPECT_THAT(test.chain(), ElementsAre("double", "DoubleFunction", "forward_kernel"));
  EXPECT_EQ(test.entry(), "double");
  EXPECT_EQ(test.entry_path(), "lib/layers.py");
  EXPECT_EQ(test.reference().kind(), "function");
  EXPECT_EQ(test.reference().name(), "reference_double");
  EXPECT_EQ(test.reference().module(),
            "SCALE = 2\n\ndef reference_double(x):\n    return x * SCALE\n");
  EXPECT_TRUE(test.reference().self_contained());
  ASSERT_EQ(test.comparisons_size(), 1);
  const v1::Comparison& comparison = test.comparisons(0);
  EXPECT_EQ(comparison.form(), "torch_testing");
  EXPECT_EQ(comparison.actual(), "out");
  EXPECT_EQ(comparison.expected(), "ref");
  ASSERT_EQ(comparison.tolerances_size(), 2);
  EXPECT_EQ(comparison.tolerances(0).name(), "rtol");
  EXPECT_EQ(comparison.tolerances(0).text(), "1e-3");
  EXPECT_EQ(comparison.tolerances(0).values(0).value(), "0.001");
}

TEST(ReferencesTest, ChainOfCallsBecomesAFunctionOfTheSharedInputs) {
  const v1::TestReference test = FindTest(R"(import torch
import lib

def test_layer():
    x = torch.randn(8)
    layer = lib.Double()
    ref_x = x.float()
    with torch.no_grad():
        ref = torch.mul(ref_x, 2)
        out = layer(x)
    assert torch.allclose(out, ref)
)");
  EXPECT_EQ(test.reference().kind(), "torch_chain");
  EXPECT_EQ(test.reference().module(),
            "import torch\n\ndef reference(x):\n    ref_x = x.float()\n    with torch.no_grad():\n"
            "        ref = torch.mul(ref_x, 2)\n    return ref\n");
  EXPECT_THAT(test.chain(), ElementsAre("Double", "DoubleFunction", "forward_kernel"));
}

TEST(ReferencesTest, KernelOfTheBackwardPassIsComparedByGradients) {
  const std::string text = R"(import torch
from lib import double

def test_gradients():
    x1 = torch.randn(8, requires_grad=True)
    x2 = x1.detach().clone().requires_grad_()
    y1 = double(x1)
    y2 = x2 * 2
    torch.testing.assert_close(y1, y2)
    y1.sum().backward()
    y2.sum().backward()
    torch.testing.assert_close(x1.grad, x2.grad)
)";
  const v1::TestReference backward = FindTest(text, "backward_kernel");
  ASSERT_EQ(backward.comparisons_size(), 1);
  EXPECT_EQ(backward.comparisons(0).actual(), "x1.grad");
  EXPECT_THAT(backward.reference().text(), HasSubstr("return x2.grad"));
  EXPECT_THAT(backward.reference().text(), HasSubstr("y2.sum().backward()"));
  EXPECT_THAT(backward.reference().text(), Not(HasSubstr("double")));
  const v1::TestReference forward = FindTest(text);
  EXPECT_EQ(forward.comparisons(0).actual(), "y1");
}

TEST(ReferencesTest, ForwardTestDoesNotReachTheBackwardKernel) {
  const std::string text = R"(import torch
from lib import double

def test_double():
    x = torch.randn(8)
    torch.testing.assert_close(double(x), x * 2)
)";
  EXPECT_EQ(Find(Library({{"tests/test_double.py", text}}), "backward_kernel").reason(), "no_test");
}

// A library whose passes lie in a module, a method and a function of both.
constexpr char kPasses[] = R"(import torch
from . import kernels

class ThroughModule(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        kernels.forward_kernel[(1,)](x, y, x.numel(), B=16)
        return y

    @staticmethod
    def backward(ctx, dy):
        dx = torch.empty_like(dy)
        kernels.backward_kernel[(1,)](dy, dx, dy.numel(), B=16)
        return dx

def through_module(x):
    return ThroughModule.apply(x)
)";

TEST(ReferencesTest, BackwardKernelOfAModuleThatBothPassesUseIsNotReachedByAForwardTest) {
  const auto find = [](const std::string& kernel) {
    return Find({{"lib/__init__.py", "from .passes import through_module\n"},
                 {"lib/sizes.py", "def round_up(n):\n    return n\n"},
                 {"lib/kernels.py", kKernels},
                 {"lib/passes.py", kPasses},
                 {"tests/test_passes.py", R"(import torch
from lib import through_module

def test_passes():
    x = torch.randn(8)
    torch.testing.assert_close(through_module(x), x * 2)
)"}},
                kernel);
  };
  EXPECT_EQ(find("backward_kernel").reason(), "no_test");
  EXPECT_EQ(find("forward_kernel").tests(0).status(), "reference");
}

TEST(ReferencesTest, BackwardKernelInAMethodThatBackwardCallsIsNotReachedByAForwardTest) {
  const auto find = [](const std::string& kernel) {
    return Find({{"lib/__init__.py", ""},
                 {"lib/sizes.py", "def round_up(n):\n    return n\n"},
                 {"lib/kernels.py", kKernels},
                 {"lib/passes.py", R"(import torch
from .kernels import backward_kernel, forward_kernel

class ByMethods(torch.autograd.Function):
    @staticmethod
    def launch(x):
        y = torch.empty_like(x)
        forward_kernel[(1,)](x, y, x.numel(), B=16)
        return y

    @staticmethod
    def launch_other(dy):
        dx = torch.empty_like(dy)
        backward_kernel[(1,)](dy, dx, dy.numel(), B=16)
        return dx

    @staticmethod
    def forward(ctx, x):
        return ByMethods.launch(x)

    @staticmethod
    def backward(ctx, dy):
        return ByMethods.launch_other(dy)
)"},
                 {"tests/test_passes.py", R"(import torch
from lib.passes import ByMethods

def test_passes():
    x = torch.randn(8)
    torch.testing.assert_close(ByMethods.apply(x), x * 2)
)"}},
                kernel);
  };
  EXPECT_EQ(find("backward_kernel").reason(), "no_test");
  EXPECT_EQ(find("forward_kernel").tests(0).status(), "reference");
}

// A library whose function takes either pass.
std::vector<NamedText> EitherPass(const std::string& test) {
  return {{"lib/__init__.py", ""},
          {"lib/either.py", R"(import torch
import triton

@triton.jit
def scale_fwd_kernel(x, y):
    pass

@triton.jit
def scale_bwd_kernel(dy, dx):
    pass

def scale(x, dy=None):
    y = torch.empty_like(x)
    if dy is None:
        scale_fwd_kernel[(1,)](x, y)
    else:
        scale_bwd_kernel[(1,)](dy, y)
    return y

def scale_bwd(dy):
    return scale(dy, dy)
)"},
          {"tests/test_either.py", test}};
}

TEST(ReferencesTest, ForwardValuesAreNoReferenceOfAKernelThatIsNamedBackward) {
  const std::vector<NamedText> texts = EitherPass(R"(import torch
from lib.either import scale

def test_scale():
    x = torch.randn(8)
    torch.testing.assert_close(scale(x), x * 2)
)");
  EXPECT_EQ(Find(texts, "scale_bwd_kernel").tests(0).status(), "other_comparison");
  EXPECT_EQ(Find(texts, "scale_fwd_kernel").tests(0).status(), "reference");
}

TEST(ReferencesTest, BackwardFunctionThatATestCallsIsComparedByItsValues) {
  const v1::KernelReferences found = Find(EitherPass(R"(import torch
from lib.either import scale_bwd

def test_scale_bwd():
    dy = torch.randn(8)
    torch.testing.assert_close(scale_bwd(dy), dy * 2)
)"),
                                          "scale_bwd_kernel");
  ASSERT_EQ(found.tests_size(), 1);
  EXPECT_EQ(found.tests(0).status(), "reference");
}

TEST(ReferencesTest, BackwardFunctionThatATestCallsIsComparedWithGradients) {
  const v1::KernelReferences found = Find(EitherPass(R"(import torch
from lib.either import scale

def test_scale():
    x = torch.randn(8, requires_grad=True)
    dy = torch.randn(8)
    y = x * 2
    (dx,) = torch.autograd.grad(y, x, dy)
    torch.testing.assert_close(scale(x, dy), dx)
)"),
                                          "scale_bwd_kernel");
  ASSERT_EQ(found.tests_size(), 1);
  EXPECT_EQ(found.tests(0).status(), "reference");
  EXPECT_THAT(found.tests(0).reference().text(), HasSubstr("torch.autograd.grad(y, x, dy)"));
}

TEST(ReferencesTest, FixtureThatMakesTheExpectedValuesIsTheReference) {
  const v1::TestReference test = FindTest(R"(import pytest
import torch
from lib import double

class TestDouble:
    @pytest.fixture
    def x(self):
        yield torch.randn(8)

    @pytest.fixture
    def expected(self, x):
        scale = 2
        yield x * scale

    def test_double(self, x, expected):
        out = double(x)
        torch.testing.assert_close(out, expected.float())
)");
  EXPECT_EQ(test.status(), "reference");
  EXPECT_EQ(test.reference().kind(), "torch_chain");
  EXPECT_EQ(test.reference().text(),
            "def reference(x):\n        scale = 2\n        return x * scale\n");
}

TEST(ReferencesTest, FixtureThatCallsAFunctionLeadsToIt) {
  const v1::KernelReferences found =
      Find(Library({{"tests/conftest.py", R"(import pytest
from .plain import plain

@pytest.fixture(name="x")
def make_x():
    return torch.randn(8)

@pytest.fixture()
def gold(x):
    values = plain(x)
    return values, values.sum()
)"},
                    {"tests/plain.py", "def plain(x):\n    return x * 2\n"},
                    {"tests/test_double.py", R"(import torch
from lib import double

def test_double(x, gold):
    out, total = gold
    torch.testing.assert_close(double(x), out)
)"}}),
           "forward_kernel");
  ASSERT_EQ(found.tests_size(), 1);
  EXPECT_EQ(found.tests(0).reference().name(), "plain");
  EXPECT_EQ(found.tests(0).reference().path(), "tests/plain.py");
}

TEST(ReferencesTest, FixtureOfInputsAndExpectedValuesIsTakenApart) {
  const v1::TestReference test = FindTest(R"(import pytest
import torch
from lib import double

@pytest.fixture
def data():
    x = torch.randn(8)
    two = 2
    expected = x * two
    return x, expected

def test_double(data):
    x, expected = data
    torch.testing.assert_close(double(x), expected)
)");
  EXPECT_EQ(test.status(), "reference");
  EXPECT_EQ(test.reference().text(),
            "def reference(x):\n    two = 2\n    expected = x * two\n    return expected\n");
}

TEST(ReferencesTest, ExpectedValuesOfAnUnknownPlaceAreNoReference) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def test_double(inputs, expected):
    torch.testing.assert_close(double(inputs), expected.float())
)")
                .status(),
            "no_reference");
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def check(case):
    x, expected = case
    torch.testing.assert_close(double(x), expected.cuda())

def test_double(case):
    check(case)
)")
                .status(),
            "no_reference");
}

TEST(ReferencesTest, FixtureWhoseValuesAreScaledIsTheReference) {
  const v1::TestReference test = FindTest(R"(import pytest
import torch
from lib import double

@pytest.fixture
def x():
    return torch.randn(8)

@pytest.fixture
def expected(x):
    return torch.add(x, x)

def test_double(x, expected):
    out = expected.new_empty(8)
    out = double(x)
    most = expected.abs().max()
    out = out / most
    expected = expected / most
    torch.testing.assert_close(out, expected)
)");
  EXPECT_EQ(test.status(), "reference");
  EXPECT_EQ(test.reference().text(), "def reference(x):\n    return torch.add(x, x)\n");
}

TEST(ReferencesTest, GradientsOfOneInputThatATestTakesTwiceAreKeptApart) {
  const std::string text = R"(import torch
from lib import double

def plain(x):
    return x * 2

def test_gradients():
    x = torch.randn(8).requires_grad_()
    dy = torch.randn(8)
    ref = plain(x)
    (ref * dy).sum().backward()
    ref_dx, x.grad = x.grad.clone(), None
    out = double(x)
    (out * dy).sum().backward()
    dx, x.grad = x.grad.clone(), None
    torch.testing.assert_close(out, ref)
    torch.testing.assert_close(dx, ref_dx)
)";
  EXPECT_EQ(FindTest(text).reference().name(), "plain");
  const v1::TestReference backward = FindTest(text, "backward_kernel");
  EXPECT_EQ(backward.comparisons(0).actual(), "dx");
  EXPECT_EQ(backward.reference().text(),
            "def reference(x, dy):\n    ref = plain(x)\n    (ref * dy).sum().backward()\n"
            "    ref_dx, x.grad = x.grad.clone(), None\n    return ref_dx\n");
}

TEST(ReferencesTest, FixtureBehindAMeasureOfItsValuesIsTheReference) {
  const v1::TestReference test = FindTest(R"(import pytest
import torch
from lib import double

@pytest.fixture
def x():
    return torch.randn(8)

@pytest.fixture
def expected(x):
    return torch.add(x, x)

def test_double(x, expected):
    out = double(x)
    most = expected.abs().max()
    torch.testing.assert_close(out.abs().max(), most)
)");
  EXPECT_EQ(test.reference().text(), "def reference(x):\n    return torch.add(x, x)\n");
}

TEST(ReferencesTest, GradientsAreNoReferenceOfAKernelOfTheForwardPass) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def test_gradients():
    x1 = torch.randn(8, requires_grad=True)
    x2 = x1.detach().clone().requires_grad_()
    double(x1).sum().backward()
    (x2 * 2).sum().backward()
    torch.testing.assert_close(x1.grad, x2.grad)
)")
                .status(),
            "other_comparison");
}

TEST(ReferencesTest, KernelWhoseResultIsAnotherOperationsInputIsNotCompared) {
  const std::vector<NamedText> texts = Library({{"lib/half.py", R"(import triton

@triton.jit
def half_kernel(x):
    pass

def half(x):
    half_kernel[(1,)](x)
    return x
)"},
                                                {"tests/test_both.py", R"(import torch
from lib import double
from lib.half import half

def plain_half(x, by):
    return x * 0.5 * by

def test_half():
    x = double(torch.randn(8))
    by = torch.ones(1)
    out = half(x)
    plain = x.float()
    ref = plain_half(plain, by)
    torch.testing.assert_close(out, ref)

def test_chained():
    x = torch.randn(8)
    twice = double(x)
    out = half(twice)
    torch.testing.assert_close(out, x * 1.0)
)"}});
  EXPECT_EQ(Find(texts, "half_kernel").tests(0).reference().name(), "plain_half");
  const v1::KernelReferences other = Find(texts, "forward_kernel");
  ASSERT_EQ(other.tests_size(), 2);
  EXPECT_EQ(other.tests(0).status(), "other_comparison");
  EXPECT_EQ(other.tests(1).status(), "other_comparison");
}

TEST(ReferencesTest, FactoryOfTheReferenceIsPartOfAChain) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import double

def make_plain(scale):
    def plain(x):
        return x * scale
    return plain

def test_double():
    x = torch.randn(8)
    plain = make_plain(2)
    torch.testing.assert_close(double(x), plain(x))
)");
  EXPECT_EQ(test.reference().kind(), "torch_chain");
  EXPECT_EQ(test.reference().text(),
            "def reference(x):\n    plain = make_plain(2)\n    return plain(x)\n");
  EXPECT_THAT(test.reference().module(), HasSubstr("def make_plain(scale):"));
  const v1::TestReference at_once = FindTest(R"(import torch
from lib import double

def make_plain(scale):
    return lambda x: x * scale

def test_double():
    x = torch.randn(8)
    torch.testing.assert_close(double(x), make_plain(2)(x))
)");
  EXPECT_EQ(at_once.reference().text(), "def reference(x):\n    return make_plain(2)(x)\n");
}

TEST(ReferencesTest, InputThatIsReturnedIsNoReference) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def test_double():
    x = torch.randn(8)
    before = x.clone()
    back = double(x).mul(0.5)
    torch.testing.assert_close(back, before.to(torch.float32))
)")
                .status(),
            "no_reference");
}

TEST(ReferencesTest, FunctionThatMakesTheInputIsNoReference) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def make_input(n):
    return torch.randn(n) * 3

def test_round_trip():
    x = make_input(8)
    back = double(x).mul(0.5)
    torch.testing.assert_close(back, x.float())
)")
                .status(),
            "no_reference");
}

TEST(ReferencesTest, FunctionThatOnlyLaysOutTheExpectedValuesIsPartOfAChain) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import double

def plain(x):
    return x * 2

def to_blocks(x):
    return x.reshape(2, -1)

def test_double():
    x = torch.randn(8)
    values = plain(x)
    expected = to_blocks(values)
    torch.testing.assert_close(double(x), expected)
)");
  EXPECT_EQ(test.reference().text(),
            "def reference(x):\n    values = plain(x)\n    expected = to_blocks(values)\n"
            "    return expected\n");
}

TEST(ReferencesTest, ShapesThatAHelperComparesAreNoValues) {
  EXPECT_EQ(FindTest(R"(import unittest
from lib import double

class DoubleTest(unittest.TestCase):
    def test_double(self):
        n = 8
        self.assertEqual(double(n).shape, (n, n))
)")
                .status(),
            "no_comparison");
}

TEST(ReferencesTest, ResultsOfTwoCallsOfTheKernelAreNoReferenceOfOneAnother) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import Double, double

def test_both():
    x = torch.randn(8)
    result = double(x)
    first = result.view(2, 4)
    second = Double()(x)
    torch.testing.assert_close(second, first)
)")
                .status(),
            "same_path");
}

TEST(ReferencesTest, FunctionThatFillsAPartOfTheExpectedTensorIsPartOfTheReference) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import double

def fill_plain(x, out):
    out.copy_(x * 2)

def test_double():
    x = torch.randn(8)
    expected = torch.zeros(1, 8)
    fill_plain(x, expected[0])
    torch.testing.assert_close(double(x), expected)
)");
  EXPECT_EQ(test.reference().text(),
            "def reference(x):\n    expected = torch.zeros(1, 8)\n"
            "    fill_plain(x, expected[0])\n    return expected\n");
}

TEST(ReferencesTest, TableOfFunctionsIsNoUseOfThem) {
  std::string table = "from lib.layers import double\nTABLE = {'double': double";
  std::string plain;
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&plain, "\ndef f", i, "(x):\n    return double(x)\n");
    absl::StrAppend(&table, ", ", i, ": f", i);
  }
  const std::vector<NamedText> texts = Library(
      {{"lib/table.py", absl::StrCat("from lib.layers import double\n", plain, table, "}\n")},
       {"tests/test_table.py",
        "from lib.table import TABLE\n\ndef test_table():\n    names = sorted(['double'])\n"
        "    assert sorted(TABLE.values()) == sorted(names)\n"}});
  EXPECT_EQ(Find(texts, "forward_kernel").reason(), "no_test");
}

TEST(ReferencesTest, ConstantsAreNoReference) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def test_double():
    x = torch.tensor([1.0, 2.0])
    expected = torch.tensor([2.0, 4.0], device=x.device)
    torch.testing.assert_close(double(x), expected)
)")
                .status(),
            "no_reference");
  EXPECT_EQ(FindTest(R"(import math
import torch
from lib import double

def test_double():
    x = torch.ones(2)
    torch.testing.assert_close(double(x), torch.tensor([2.0 * x.numel(), -math.log(2)]))
)")
                .status(),
            "no_reference");
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def test_double():
    x = torch.zeros(8)
    torch.testing.assert_close(double(x), torch.zeros_like(x))
)")
                .status(),
            "no_reference");
}

TEST(ReferencesTest, HelpersOfTheTestsThatCompareAreSeenThrough) {
  const v1::TestReference test = FindTest(R"(import torch
import pytest
from lib import double

def assert_like(a, b, tol=1e-2):
    worst = (a - b).abs().max()
    assert worst < tol

def check(function, reference, size):
    x = torch.randn(size)
    assert_like(function(x), reference(x))

def plain(x):
    return x + x

@pytest.mark.parametrize("size", [8, 16])
def test_double(size):
    check(double, plain, size)
)");
  EXPECT_EQ(test.status(), "reference");
  EXPECT_EQ(test.reference().name(), "plain");
  EXPECT_EQ(test.comparisons(0).form(), "helper");
  EXPECT_EQ(test.comparisons(0).tolerances(0).values(0).value(), "0.01");
  EXPECT_EQ(test.cases_total(), 2);
}

TEST(ReferencesTest, CasesAreTheProductOfParametrizeFixturesLoopsAndLiterals) {
  const v1::KernelReferences found = Find(
      Library(
          {{"tests/conftest.py",
            "import pytest\n\n@pytest.fixture(params=['cuda', 'cpu'])\ndef device(request):\n"
            "    return request.param\n"},
           {"tests/shapes.py", "def shapes(most):\n    return [(2, n) for n in range(1, most)]\n"},
           {"tests/test_double.py", R"(import pytest
import torch
from lib import double
from .shapes import shapes

DTYPES = [torch.float16] + [torch.float32]

@pytest.mark.parametrize("shape", shapes(3))
@pytest.mark.parametrize("dtype, atol", [(torch.float16, 1e-2), pytest.param(torch.float32, 1e-5, id="exact")])
def test_double(shape, dtype, atol, device, tmp_path):
    steps = 4
    x = torch.randn(shape, dtype=dtype)
    torch.testing.assert_close(double(x), x * 2, atol=atol, rtol=0)
)"}}),
      "forward_kernel");
  ASSERT_EQ(found.tests_size(), 1);
  const v1::TestReference& test = found.tests(0);
  EXPECT_EQ(test.cases_total(), 8);
  std::vector<std::string> cases;
  for (const v1::ReferenceCase& one : test.cases()) cases.push_back(ShowCase(one));
  EXPECT_THAT(cases, ElementsAre("shape=(2, 1)", "shape=(2, 2)", "dtype=torch.float16 atol=0.01",
                                 "dtype=torch.float32 atol=1e-05", "device='cuda'", "device='cpu'",
                                 "steps=4"));
  EXPECT_THAT(test.open_parameters(), ElementsAre("tmp_path"));
  const v1::Tolerance& atol = test.comparisons(0).tolerances(0);
  EXPECT_EQ(atol.values(1).dtype(), "torch.float32");
  EXPECT_EQ(atol.values(1).value(), "1e-05");
}

TEST(ReferencesTest, CasesBeyondTheBoundAreCounted) {
  const v1::TestReference test = FindTest(R"(import pytest
import torch
from lib import double

@pytest.mark.parametrize("a", list(range(512)))
@pytest.mark.parametrize("b", list(range(100)))
def test_double(a, b):
    torch.testing.assert_close(double(a), a * 2)
)");
  EXPECT_EQ(test.cases_total(), 51200);
  ASSERT_EQ(test.cases_size(), 356);
  EXPECT_EQ(ShowCase(test.cases(255)), "a=510");
}

TEST(ReferencesTest, ReferenceThatAParameterIsGivenIsFound) {
  const v1::TestReference test = FindTest(R"(import pytest
import torch
from lib import Double

class Plain(torch.nn.Module):
    def forward(self, x):
        return x * 2

@pytest.mark.parametrize("reference, size", [(Plain, 8)])
def test_double(reference, size):
    x = torch.randn(size)
    expected = reference().to("cuda")(x)
    torch.testing.assert_close(Double()(x), expected)
)");
  EXPECT_EQ(test.reference().name(), "Plain");
  EXPECT_EQ(test.reference().kind(), "function");
}

TEST(ReferencesTest, TestsWithoutAReferenceSayWhy) {
  EXPECT_EQ(FindTest("from lib import double\n\ndef test_runs():\n    double(1)\n").status(),
            "no_comparison");
  EXPECT_EQ(FindTest("import torch\nfrom lib import double, Double\n\ndef test_same():\n"
                     "    x = torch.ones(1)\n    assert torch.equal(double(x), Double()(x))\n")
                .status(),
            "same_path");
  EXPECT_EQ(FindTest("import torch\nfrom lib import double\n\ndef test_shape():\n"
                     "    y = double(1)\n    assert torch.equal(torch.ones(1), torch.ones(1))\n")
                .status(),
            "other_comparison");
}

TEST(ReferencesTest, RegisteredOperatorIsReachedWhereTheLibraryDispatches) {
  const v1::KernelReferences found =
      Find({{"lib/__init__.py", R"(from .ops import double, half, third
TABLE = (("mul.Tensor", double), ("div", half), ("abs", third))

def use():
    return register(TABLE)
)"},
            {"lib/ops.py", R"(import triton

@triton.jit
def double_kernel(x):
    pass

def double(x):
    double_kernel[(1,)](x)

def half(x):
    return x

def third(x):
    return x
)"},
            {"tests/test_ops.py", R"(import torch
import lib

def test_mul():
    x = torch.ones(1)
    ref = torch.mul(x, 2)
    with lib.use():
        out = torch.mul(x, 2)
    torch.testing.assert_close(out, ref)
)"}},
           "double_kernel");
  ASSERT_EQ(found.tests_size(), 1);
  EXPECT_EQ(found.tests(0).status(), "reference");
  EXPECT_THAT(found.tests(0).chain(), ElementsAre("torch.mul", "double", "double_kernel"));
  EXPECT_THAT(found.tests(0).reference().text(), HasSubstr("ref = torch.mul(x, 2)"));
}

TEST(ReferencesTest, PackageMemberByNameIsReached) {
  const v1::TestReference test = FindTest(R"(import pytest
import torch
import lib

def assert_close(*pairs, rtol=None):
    for pair in pairs:
        torch.testing.assert_close(*pair, rtol=rtol)

@pytest.mark.parametrize("name", ["Double"])
def test_layers(name):
    x = torch.randn(8)
    a = getattr(lib, name)()
    b = getattr(torch.nn, name)()
    out = a(x)
    ref = b(x)
    if x.requires_grad:
        ref = torch.where(out == 0, 0, ref)
    pair = (out, ref) if True else (None, None)
    assert_close(pair, rtol=1e-3)
)");
  EXPECT_EQ(test.status(), "reference");
  EXPECT_EQ(test.comparisons(0).expected(), "ref");
  EXPECT_THAT(test.chain(), ElementsAre("Double", "DoubleFunction", "forward_kernel"));
}

TEST(ReferencesTest, BenchmarkGivesItsValuesAsCases) {
  const v1::KernelReferences found = Find(Library({{"bench/double.py", R"(import torch
import triton
from lib import double

@triton.testing.perf_report(
    triton.testing.Benchmark(x_names=["M", "N"], x_vals=[2**i for i in range(2)], line_arg="provider",
                             line_vals=["ours", "torch"], line_names=[], styles=[], args={"K": 7}))
def bench(M, N, provider, K):
    x = torch.randn(M, N)
    return triton.testing.do_bench(lambda: double(x))
)"}}),
                                          "forward_kernel");
  ASSERT_EQ(found.tests_size(), 1);
  EXPECT_EQ(found.tests(0).status(), "benchmark");
  EXPECT_EQ(found.tests(0).cases_total(), 4);
  std::vector<std::string> cases;
  for (const v1::ReferenceCase& one : found.tests(0).cases()) cases.push_back(ShowCase(one));
  EXPECT_THAT(cases,
              ElementsAre("M=1 N=1", "M=2 N=2", "provider='ours'", "provider='torch'", "K=7"));
}

TEST(ReferencesTest, ObjectsAndStarredParametersThatATestHandsOnAreFollowed) {
  const v1::TestReference test = FindTest(R"(import pytest
import torch
from lib import Double

SIZES = ("n, scale", [(8, 1), (16, 2)])

class Plain(torch.nn.Module):
    def forward(self, x):
        return x * 2

def check(ours, plain, n):
    x = torch.randn(n)
    torch.testing.assert_close(ours(x), plain(x))

@pytest.mark.parametrize(*SIZES)
def test_double(n, scale):
    ours = Double()
    plain = Plain()
    check(ours, plain, n)
)");
  EXPECT_EQ(test.status(), "reference");
  EXPECT_EQ(test.reference().name(), "Plain");
  EXPECT_EQ(test.cases_total(), 2);
}

TEST(ReferencesTest, WeightsThatAreCopiedAreInputsOfTheReference) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import Double

def test_double():
    x = torch.randn(8)
    ours = Double()
    plain = torch.nn.Linear(8, 8)
    plain.weight.copy_(ours.weight)
    assert torch.allclose(ours(x), plain(x))
)");
  EXPECT_EQ(test.reference().text(),
            "def reference(ours, x):\n    plain = torch.nn.Linear(8, 8)\n"
            "    plain.weight.copy_(ours.weight)\n    return plain(x)\n");
}

TEST(ReferencesTest, CallOfAnUnknownParameterIsNoReference) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def check(function, reference):
    x = torch.randn(8)
    torch.testing.assert_close(function(x), reference(x))

def test_double():
    def local(x):
        return x * 2
    check(double, local)
)")
                .status(),
            "no_reference");
}

TEST(ReferencesTest, RandomGradientOfTheReferencesShapeIsAnInput) {
  const v1::TestReference test = FindTest(R"(from lib import double

def test_gradients():
    import torch
    x1 = torch.randn(8, requires_grad=True)
    x2 = x1.detach().clone().requires_grad_()
    y1 = x1 * 2
    y2 = double(x2)
    dy = torch.randn_like(y1)
    y1.backward(dy)
    y2.backward(dy)
    torch.testing.assert_close(x2.grad, x1.grad)
)",
                                          "backward_kernel");
  EXPECT_EQ(test.reference().text(),
            "def reference(x1, dy):\n    import torch\n    y1 = x1 * 2\n    y1.backward(dy)\n"
            "    return x1.grad\n");
}

TEST(ReferencesTest, ConditionalImportIsFollowedToTheFunction) {
  const v1::KernelReferences found =
      Find(Library({{"lib/plain.py", "def plain(x):\n    return x * 2\n"},
                    {"tests/test_double.py", R"(import torch
from lib import double

if torch.cuda.is_available():
    from lib.plain import plain

def test_double():
    x = torch.randn(8)
    torch.testing.assert_close(double(x), plain(x))
)"}}),
           "forward_kernel");
  ASSERT_EQ(found.tests_size(), 1);
  EXPECT_EQ(found.tests(0).reference().path(), "lib/plain.py");
}

TEST(ReferencesTest, ValuesThatMustDifferAreNoReference) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def test_changes():
    x = torch.randn(8)
    assert not torch.allclose(double(x), x)
)")
                .status(),
            "no_comparison");
}

TEST(ReferencesTest, SourcesOfFunctionsAreNoResults) {
  EXPECT_EQ(FindTest(R"(import inspect
from lib import Double

def test_patched():
    model = make(Double)
    assert inspect.getsource(model.forward) == inspect.getsource(Double.forward)
)")
                .status(),
            "no_comparison");
}

TEST(ReferencesTest, ShapesAndStatisticsAreNoComparisonsOfValues) {
  EXPECT_EQ(FindTest(R"(import torch
from lib import double

def test_double():
    x = torch.randn(8)
    y = double(x)
    assert y.shape == x.shape
    assert y.dtype == x.dtype
    assert pvalue(y, x) > 0.05
)")
                .status(),
            "no_comparison");
}

TEST(ReferencesTest, ParameterOfTheTestIsNoReference) {
  EXPECT_EQ(FindTest(R"(import pytest
import torch
from lib import double

@pytest.mark.parametrize("expected", [2.0])
def test_double(expected):
    torch.testing.assert_close(double(torch.ones(1)).item(), expected)
)")
                .status(),
            "no_reference");
}

TEST(ReferencesTest, MethodOfWhatAFunctionReturnsIsNotThatFunction) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import double

def prepare(x):
    return x.cpu()

def test_double():
    x = torch.randn(8)
    ref_x = prepare(x)
    ref = ref_x.mul(2)
    torch.testing.assert_close(double(x), ref)
)");
  EXPECT_EQ(test.reference().kind(), "torch_chain");
  EXPECT_THAT(test.reference().module(), HasSubstr("def prepare(x):"));
}

TEST(ReferencesTest, WeightsThatBothSidesAreGivenTogetherMixNothing) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import Double

class Plain(torch.nn.Module):
    def forward(self, x):
        return x * 2

def test_double():
    ours = Double()
    plain = Plain()
    plain.weight.data = ours.weight.data = torch.rand(8)
    x = torch.randn(8)
    torch.testing.assert_close(ours(x), plain(x))
)");
  EXPECT_EQ(test.reference().name(), "Plain");
}

TEST(ReferencesTest, TolerancesOfLocalNamesAndHelpersAreRead) {
  const v1::TestReference test = FindTest(R"(import torch
from lib import double

def test_double():
    x = torch.randn(8)
    a_tol, r_tol = 3e-3, 1e-2
    torch.testing.assert_close(double(x), x * 2, atol=a_tol, rtol=r_tol)
    torch.testing.assert_close(double(x), x + x, atol=a_tol, rtol=r_tol)
)");
  ASSERT_EQ(test.comparisons_size(), 2);
  EXPECT_EQ(test.comparisons(1).tolerances(0).values(0).value(), "0.003");
}

TEST(ReferencesTest, KernelThatATestDefinesItselfIsReachedByIt) {
  const v1::KernelReferences found = Find({{"tests/test_own.py", R"(import torch
import triton

def test_own():
    @triton.jit
    def own_kernel(x, y):
        pass
    x = torch.randn(8)
    y = torch.empty_like(x)
    own_kernel[(1,)](x, y)
    torch.testing.assert_close(y, x * 2)
)"}},
                                          "own_kernel");
  ASSERT_EQ(found.tests_size(), 1);
  EXPECT_EQ(found.tests(0).status(), "reference");
  EXPECT_THAT(found.tests(0).reference().text(), HasSubstr("return x * 2"));
}

TEST(ReferencesTest, KernelsThatAreNoPythonFunctionsAreNotRead) {
  EXPECT_EQ(Find({{"a.cu", "__global__ void k(float* x) { x[0] = 1; }\n"}}, "k").reason(),
            "not_read");
}

TEST(ReferencesTest, TestsBeyondTheBoundAreCounted) {
  std::string text = "import torch\nfrom lib import double\n";
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&text, "\ndef test_", i, "():\n    assert torch.equal(double(", i, "), ", i,
                    " * torch.ones(1))\n");
  }
  const v1::KernelReferences found =
      Find(Library({{"tests/test_double.py", text}}), "forward_kernel");
  EXPECT_EQ(found.tests_size(), 8);
  EXPECT_EQ(found.further_tests(), 12);
}

// Every statement reads all before it, and every comparison follows them: cubic without a bound.
TEST(ReferencesTest, LongTestsAreBounded) {
  std::string text =
      "import torch\nfrom lib import double\n\ndef test_long():\n    a0 = double(1)\n";
  std::string sum = "a0";
  for (int i = 1; i < 1500; ++i) {
    absl::StrAppend(&text, "    a", i, " = ", sum, "\n");
    if (i % 8 == 0) absl::StrAppend(&sum, " + a", i);
  }
  for (int i = 0; i < 300; ++i) {
    absl::StrAppend(&text, "    assert torch.equal(a", i, ", a", 1499 - i, ")\n");
  }
  const v1::KernelReferences found =
      Find(Library({{"tests/test_long.py", text}}), "forward_kernel");
  EXPECT_EQ(found.tests_size(), 1);
}

TEST(ReferencesTest, FilesBeyondTheBoundsAreNotRead) {
  ReferenceOptions options;
  options.max_file_bytes = 10;
  EXPECT_EQ(Find(Library({}), "forward_kernel", options).reason(), "not_read");
  options = {};
  options.max_bytes = 10;
  const v1::KernelReferences found =
      Find(Library({{"tests/test_double.py",
                     "import torch\nfrom lib import double\n\ndef test_double():\n"
                     "    assert torch.equal(double(1), torch.ones(1))\n"}}),
           "forward_kernel", options);
  EXPECT_EQ(found.tests_size(), 0);
  EXPECT_EQ(found.further_tests(), 1);
  EXPECT_EQ(found.reason(), "no_reference");
}

}  // namespace
}  // namespace kernelmill::extractor
