// The rows of detection_rows_test.cc that are about makers behind members, entries, loops and other
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

constexpr char kTriton[] = "import functools, triton\nimport triton.language as tl\n";
constexpr char kForeign[] = "import functools\nfrom vllm.triton_utils import tl, triton\n";
constexpr char kKernel[] = "def k(p): tl.store(p, 1)\n";
constexpr char kTwo[] =
    "def k(p): tl.store(p, 1)\ndef m(p): tl.store(p, 2)\ndef host(p): return p\n";
constexpr char kBody[] = "def body(x_ref, o_ref, n=1): o_ref[...] = x_ref[...]\n";

// Returns the names of the kernels, joined by blanks.
std::string Names(const std::vector<NamedText>& files) {
  std::vector<std::string> names;
  const auto shard = ExtractAndLink(files);
  for (const v1::Kernel& kernel : shard.kernels()) names.push_back(kernel.name());
  return absl::StrJoin(names, " ");
}

std::string Names(const std::string& text) { return Names({{"a.py", text}}); }

TEST(IndirectRowsTest, AMemberOrAnEntryMayBeAWrapper) {
  for (const char* triton : {kTriton, kForeign}) {
    for (const std::string decorator :
         {"class N:\n    jit = triton.jit\n@N.jit\n",
          "class N:\n    jit = triton.jit\n@N.jit(debug=True)\n",
          "class N: pass\nN.jit = triton.jit\n@N.jit\n",
          "class N:\n    class M:\n        jit = triton.jit\n@N.M.jit\n",
          "class B:\n    jit = triton.jit\nclass N(B): pass\n@N.jit\n",
          "class N:\n    @classmethod\n    def jit(cls, f): return triton.jit(f)\n@N.jit\n",
          "class N:\n    def jit(self, f): return triton.jit(f)\n@N().jit\n",
          "class N:\n    def jit(self, f): return triton.jit(f)\nn = N()\n@n.jit\n",
          "class N:\n    def __init__(self): self.jit = triton.jit\nn = N()\n@n.jit\n",
          "n = SimpleNamespace(jit=triton.jit)\n@n.jit\n", "d = {'j': triton.jit}\n@d['j']\n",
          "d = dict(j=triton.jit)\n@d['j']\n", "d = {}\nd['j'] = triton.jit\n@d['j']\n",
          "d = [print, triton.jit]\n@d[1]\n"}) {
      EXPECT_EQ(Names(absl::StrCat(triton, decorator, kKernel)), "k") << triton << decorator;
    }
  }
  for (const std::string decorator :
       {"class N:\n    jit = print\nclass M:\n    jit = triton.jit\n@N.jit\n",
        "d = [print, triton.jit]\n@d[0]\n", "d = {'j': triton.jit, 'p': print}\n@d['p']\n",
        "class N:\n    def jit(self, f): return f\nclass M:\n    def go(self): self.jit = "
        "triton.jit\n"
        "@N().jit\n",
        "@functools.wraps(triton.jit)\n"}) {
    EXPECT_EQ(Names(absl::StrCat(kTriton, decorator, kKernel)), "") << decorator;
  }
}

TEST(IndirectRowsTest, DecoratorsThatAreComposedCount) {
  for (const std::string decorator :
       {"def w(*ds):\n    def v(f):\n        for d in ds: f = d(f)\n        return f\n    return "
        "v\n"
        "@w(triton.autotune([]), triton.jit)\n",
        "def w(a, b): return lambda f: a(b(f))\n@w(triton.autotune([]), triton.jit)\n",
        "def w(*ds): return lambda f: functools.reduce(lambda g, d: d(g), ds, f)\n"
        "c = w(triton.jit)\n@c\n",
        "from toolz import compose\n@compose(triton.autotune([]), triton.jit)\n",
        "def w(f):\n    f = triton.jit(f)\n    return triton.autotune([])(f)\n@w\n"}) {
    EXPECT_EQ(Names(absl::StrCat(kTriton, decorator, kKernel)), "k") << decorator;
  }
}

TEST(IndirectRowsTest, ACallMayTakeSeveralFunctions) {
  for (const char* triton : {kTriton, kForeign}) {
    for (const std::string call :
         {"t = [triton.jit(f) for f in (k, m)]\n", "for f in [k, m]: t.append(triton.jit(f))\n",
          "fs = {k, m}\nt = {triton.jit(f) for f in fs}\n",
          "t = {n: triton.jit(f) for n, f in {'a': k, 'b': m}.items()}\n",
          "d = dict(a=k, b=m)\nt = list(triton.jit(f) for f in d.values())\n",
          "t = [triton.jit(f) for i, f in enumerate((k, m))]\n",
          "t = [triton.jit(f) for f, r in zip((k, m), (host, host))]\n",
          "for f, r in ((k, host), (m, host)): r.t = triton.jit(f)\n",
          "t = [triton.jit(f) for f in [k, *[m]]]\n", "t = map(triton.jit, (k, m))\n",
          "t = map(lambda f: triton.jit(f), [k, m])\n", "t = triton.jit(k if fast else m)\n",
          "d = {'a': k, 'b': m}\nt = triton.jit(d[name])\n"}) {
      EXPECT_EQ(Names(absl::StrCat(triton, kTwo, call)), "k m") << triton << call;
    }
    EXPECT_EQ(Names(absl::StrCat(triton, kTwo, "d = {'a': k, 'b': m}\nt = triton.jit(d['b'])\n")),
              "m");
  }
}

TEST(IndirectRowsTest, AModuleMayHaveAnotherName) {
  for (const std::string module :
       {"t = importlib.import_module('triton')\n", "t = __import__('triton')\n",
        "t = pytest.importorskip('triton')\n", "t = sys.modules['triton']\n",
        "import triton as _t\nt = _t\n", "import triton\nu = triton\nt = u\n",
        "import vllm.utils as v\nt = v.triton\n",
        "import vllm.utils as v\ntl, t = v.tl, v.triton\n",
        "import triton as _t\nif checked:\n    t = _t\nelse:\n    t = types.ModuleType('t')\n"}) {
    EXPECT_EQ(Names(absl::StrCat("import triton.language as tl\n", module, "@t.jit\n", kKernel)),
              "k")
        << module;
  }
  EXPECT_EQ(
      Names(absl::StrCat("import triton.language as tl\nt = load('triton')\n@t.jit\n", kKernel)),
      "");
  EXPECT_EQ(Names(absl::StrCat("class triton:\n    @staticmethod\n    def jit(f): return f\n"
                               "@triton.jit\n",
                               kKernel)),
            "");
}

TEST(IndirectRowsTest, ANameMayBeSetInOtherWays) {
  for (const char* triton : {kTriton, kForeign}) {
    for (const std::string decorator :
         {"j, t = triton.jit, triton.autotune\n@j\n", "(j, t) = (triton.jit, 1)\n@j\n",
          "class N: pass\nsetattr(N, 'jit', triton.jit)\n@N.jit\n",
          "d = {'j': triton.jit}\n@d.get('j')\n", "@{'j': triton.jit}.get('j', print)\n",
          "globals()['j'] = triton.jit\n@j\n",
          "j = None\ndef init():\n    global j\n    j = triton.jit\n@j\n",
          "def w(f, j=triton.jit): return j(f)\n@w\n",
          "r = {}\ndef w(n):\n    def v(f):\n        r[n] = triton.jit(f)\n        return r[n]\n"
          "    return v\n@w('a')\n",
          "class B:\n    def jit(self, f): return triton.jit(f)\nclass N(B):\n"
          "    def jit(self, f): return super().jit(f)\n@N().jit\n"}) {
      EXPECT_EQ(Names(absl::StrCat(triton, decorator, kKernel)), "k") << triton << decorator;
    }
  }
  EXPECT_EQ(Names(absl::StrCat(kTriton, "j, t = print, triton.jit\n@j\n", kKernel)), "");
  EXPECT_EQ(
      Names(absl::StrCat(kTriton, "j = print\ndef init():\n    j = triton.jit\n@j\n", kKernel)),
      "");
}

TEST(IndirectRowsTest, AWrapperMayTakeItsKernelByAnyParameter) {
  for (const std::string call :
       {"def w(x, body): return triton.jit(body)\nt = w(host, k)\n",
        "def w(x, *, my): return triton.jit(my)\nt = w(host, my=k)\n",
        "def w(x, my): return triton.jit(my)\nv = functools.partial(w, host)\nt = v(k)\n",
        "class A:\n    def w(self, x, my): return triton.jit(my)\nt = A().w(host, k)\n",
        "def w(f, maker): return maker(f)\nt = w(k, triton.jit)\n",
        "def w(f, maker=None): return maker(f)\nt = w(k, maker=triton.jit)\n",
        "def w(x, f=k): return triton.jit(f)\n"}) {
    EXPECT_EQ(Names(absl::StrCat(kTriton, kTwo, call)), "k") << call;
  }
  EXPECT_EQ(Names(absl::StrCat(kTriton, kTwo,
                               "def w(f, maker): return maker(host)\n"
                               "t = w(k, triton.jit)\n")),
            "");
}

TEST(IndirectRowsTest, ACallMayTakeAMethod) {
  const std::string method = "    @staticmethod\n    def _k(p): tl.store(p, 1)\n";
  for (const std::string call :
       {"class A:\n    def __init__(self): self.k = triton.jit(self._k)\n",
        "class A:\n    @classmethod\n    def make(cls): return triton.jit(cls._k)\n",
        "t = triton.jit(A._k)\nclass A:\n", "t = triton.jit(A()._k)\nclass A:\n",
        "a = A()\nf = a._k\nt = triton.jit(f)\nclass A:\n"}) {
    EXPECT_EQ(Names(absl::StrCat(kTriton, call, method)), "_k") << call;
  }
}

TEST(IndirectRowsTest, AForeignJitWorksInAllForms) {
  for (const std::string rest : {"k = triton.jit(k)\n", "t = triton.autotune([])(triton.jit(k))\n",
                                 "j = functools.partial(triton.jit, debug=True)\nt = j(k)\n",
                                 "j = getattr(triton, 'jit', None)\nt = j(k)\n",
                                 "def j(f): return triton.jit(f)\nt = j(k)\n"}) {
    EXPECT_EQ(Names(absl::StrCat(kForeign, kKernel, rest)), "k") << rest;
  }
  const v1::KernelShard shard =
      ExtractAndLink({{"a.py", absl::StrCat(kForeign, kKernel, "k = triton.jit(k)\n")}});
  EXPECT_THAT(Forms(shard),
              ::testing::ElementsAre("k CALLED TRITON name:vllm.triton_utils.triton.jit"));
}

// Returns the names of the kernels of p/k.py beside p/c.py.
std::string NamesBeside(const std::string& c, const std::string& k) {
  return Names({{"p/__init__.py", ""}, {"p/c.py", c}, {"p/k.py", k}});
}

TEST(IndirectRowsTest, AFileNeedNotNameTriton) {
  const std::string own =
      "import triton\nimport triton.language as tl\njit = kernel = triton.jit\n";
  for (const std::string user :
       {"from .c import jit, tl\n@jit\n", "from .c import kernel, tl\n@kernel\n",
        "from .c import jit as j, tl\n@j\n", "from p import c\nfrom .c import tl\n@c.jit\n",
        "from .c import *\n@jit\n"}) {
    EXPECT_EQ(NamesBeside(own, user + kKernel), "k") << user;
    EXPECT_EQ(NamesBeside("jit = kernel = tl = print\n", user + kKernel), "") << user;
  }
  EXPECT_EQ(NamesBeside(own, "from .c import jit\n@jit\ndef k(a, b): return a + b\n"), "k");
  EXPECT_EQ(Names("from x.c import jit, tl\n@jit\ndef k(p): tl.store(p, 1)\n"), "k");
  EXPECT_EQ(Names("from x.c import jit\n@jit\ndef k(p): return p\n"), "");
}

TEST(IndirectRowsTest, AForeignWildcardMayComeThroughAFileOfTheSource) {
  const std::string foreign = "from vllm.utils import *\n";
  for (const std::string user : {"from .c import *\n@jit\n", "from .c import jit, tl\n@jit\n",
                                 "from .c import tl, triton\n@triton.jit\n"}) {
    EXPECT_EQ(NamesBeside(foreign, user + kKernel), "k") << user;
  }
  EXPECT_EQ(NamesBeside(foreign + "def jit(f): return f\n",
                        std::string("from .c import *\n@jit\n") + kKernel),
            "");
  EXPECT_THAT(Forms(ExtractAndLink({{"k.py", foreign + "@jit\n" + kKernel}})),
              ::testing::ElementsAre("k WRAPPED TRITON name:vllm.utils.jit"));
}

TEST(IndirectRowsTest, MembersAndCallsLeadThroughOtherFiles) {
  const std::string c =
      "import triton\nclass N:\n    jit = triton.jit\nclass R:\n    def jit(self, f): return "
      "triton.jit(f)\nr = R()\ndef my_jit(f): return triton.jit(f)\n";
  const std::string tl = "import triton.language as tl\n";
  EXPECT_EQ(NamesBeside(c, absl::StrCat(tl, "from .c import N\n@N.jit\n", kKernel)), "k");
  EXPECT_EQ(NamesBeside(c, absl::StrCat(tl, "from . import c\n@c.N.jit\n", kKernel)), "k");
  EXPECT_EQ(NamesBeside(c, absl::StrCat(tl, "from .c import r\n@r.jit\n", kKernel)), "k");
  EXPECT_EQ(NamesBeside(c, absl::StrCat(tl, "from .c import my_jit\n", kKernel, "k = my_jit(k)\n")),
            "k");
}

TEST(IndirectRowsTest, PallasGetsItsKernelByAnyPartialOrLambda) {
  const std::string pl = "import functools as ft\nfrom jax.experimental import pallas as pl\n";
  for (const std::string call :
       {"p = ft.partial\npl.pallas_call(p(body, n=2))(x)\n",
        "from functools import partial as P\npl.pallas_call(P(body, n=2))(x)\n",
        "from jax.tree_util import Partial\npl.pallas_call(Partial(body, n=2))(x)\n",
        "from .util import partial\npl.pallas_call(partial(body, n=2))(x)\n",
        "pl.pallas_call(lambda *refs: body(*refs, n=2))(x)\n",
        "class A:\n    def f(self, x): return self.c(body)\n    def c(self, f): return "
        "pl.pallas_call(f)\n"}) {
    EXPECT_EQ(Names(absl::StrCat(pl, kBody, call)), "body") << call;
  }
  EXPECT_EQ(Names(absl::StrCat(pl, kBody, "pl.pallas_call(lambda: body(1))(x)\n")), "");
}

TEST(IndirectRowsTest, PallasGetsItsKernelFromACall) {
  const std::string pl = "import functools, jax\nfrom jax.experimental import pallas as pl\n";
  const std::string make =
      "def make(n):\n    def body(x_ref, o_ref): o_ref[...] = x_ref[...] * n\n";
  for (const std::string call :
       {"    return body\npl.pallas_call(make(2))(x)\n",
        "    return functools.partial(body)\nf = make(2)\npl.pallas_call(f)(x)\n",
        "    if n: return body\n    return "
        "body\npl.pallas_call(functools.partial(make(2)))(x)\n"}) {
    EXPECT_EQ(Names(absl::StrCat(pl, make, call)), "body") << call;
  }
  EXPECT_EQ(Names(absl::StrCat(pl, make, "    return n\npl.pallas_call(make(2))(x)\n")), "");
  for (const std::string call : {"pl.pallas_call(jax.named_call(body))(x)\n",
                                 "pl.pallas_call(jax.named_scope('x')(body))(x)\n"}) {
    EXPECT_EQ(Names(absl::StrCat(pl, kBody, call)), "body") << call;
  }
}

TEST(IndirectRowsTest, EachAssignmentThatMayReachTheCallCounts) {
  const std::string pl = "import functools\nfrom jax.experimental import pallas as pl\n";
  const std::string two = "def a(x_ref): pass\ndef b(x_ref): pass\n";
  for (const std::string call : {"if c:\n    f = a\nelse:\n    f = b\npl.pallas_call(f)(x)\n",
                                 "f = a\nif c: f = b\npl.pallas_call(f)(x)\n",
                                 "if c:\n    f = a\nelse:\n    f = b\nf = functools.partial(f, "
                                 "n=1)\npl.pallas_call(f)(x)\n"}) {
    EXPECT_EQ(Names(absl::StrCat(pl, two, call)), "a b") << call;
  }
  EXPECT_EQ(Names(absl::StrCat(pl, two, "if c: f = a\nf = b\npl.pallas_call(f)(x)\nf = a\n")), "b");
}

TEST(IndirectRowsTest, APipelinesBodyIsAKernel) {
  for (const char* module : {"tpu", "mosaic_gpu"}) {
    const std::string text =
        absl::StrCat("from jax.experimental.pallas import ", module, " as pp\n", kBody,
                     "def outer(x): pp.emit_pipeline(body, grid=(4,))(x)\n");
    EXPECT_EQ(Names(text), "body");
  }
}

TEST(IndirectRowsTest, OtherPackagesPallasCallIsTakenAtItsWord) {
  for (const std::string call : {"from x.c import pallas_call\npallas_call(body)(x)\n",
                                 "from x.c import pl\npl.pallas_call(body)(x)\n",
                                 "import x.c as c\nc.pallas_call(body)(x)\n",
                                 "from x.c import pp\npp.emit_pipeline(body)(x)\n"}) {
    EXPECT_EQ(Names(absl::StrCat(call, kBody)), "body") << call;
  }
  const v1::KernelShard shard = ExtractAndLink(
      {{"a.py", absl::StrCat("from x.c import pallas_call\npallas_call(body)(x)\n", kBody)}});
  EXPECT_THAT(Forms(shard),
              ::testing::ElementsAre("body KERNEL_ARGUMENT PALLAS name:x.c.pallas_call"));
}

TEST(IndirectRowsTest, NamesAreHandedOnByAssignments) {
  const std::string tl = "import triton.language as tl\n";
  const std::string user = absl::StrCat(tl, "from p.c import final\n@final\n", kKernel);
  EXPECT_EQ(Names({{"p/__init__.py", ""},
                   {"p/b.py", "from triton import jit as mid\n"},
                   {"p/c.py", "from . import b  # with triton\nfinal = b.mid\n"},
                   {"p/k.py", user}}),
            "k");
  EXPECT_EQ(NamesBeside("import importlib\ntriton = importlib.import_module('triton')\n",
                        absl::StrCat(tl, "from p.c import triton\n@triton.jit\n", kKernel)),
            "k");
}

TEST(IndirectRowsTest, PallasGetsItsKernelFromAnotherFile) {
  const std::string pl = "import functools\nfrom jax.experimental import pallas as pl\n";
  const std::string body = absl::StrCat(pl, kBody, "def other(x_ref): pass\n");
  for (const std::string call :
       {"from .c import body\npl.pallas_call(body)(x)\n",
        "from p.c import body as b\npl.pallas_call(functools.partial(b, n=2))(x)\n",
        "from . import c\nf = functools.partial(c.body, n=2)\npl.pallas_call(f)(x)\n",
        "from .c import body\nfrom x import y\nf = body if c else y\npl.pallas_call(f)(x)\n",
        "from .again import body\ndef run(f): return pl.pallas_call(f)\nrun(body)\n"}) {
    const std::vector<NamedText> files = {{"p/__init__.py", ""},
                                          {"p/c.py", body},
                                          {"p/again.py", "from p.c import body\n"},
                                          {"p/k.py", pl + call}};
    EXPECT_EQ(Names(files), "body") << call;
  }
  EXPECT_THAT(
      Forms(ExtractAndLink({{"c.py", body},
                            {"k.py", absl::StrCat(pl,
                                                  "from c import body\n"
                                                  "pl.pallas_call(body)(x)\n")}})),
      ::testing::ElementsAre("body KERNEL_ARGUMENT PALLAS jax.experimental.pallas.pallas_call"));
  EXPECT_EQ(Names(body), "");
}

TEST(IndirectRowsTest, PallasLeadsThroughFilesOfTheSource) {
  const std::string pl = "from jax.experimental import pallas as pl\n";
  const auto names = [](const std::string& c, const std::string& call) {
    return NamesBeside(c, absl::StrCat(call, kBody));
  };
  const std::string call = "from .c import pallas_call\npallas_call(body)(x)\n";
  EXPECT_EQ(names(pl + "def pallas_call(f, **kw): return pl.pallas_call(f, **kw)\n", call), "body");
  EXPECT_EQ(names("from jax.experimental.pallas import *\n", call), "body");
  EXPECT_EQ(names("def pallas_call(f, **kw): return f\n", call), "");
  EXPECT_EQ(names(pl, "from .c import pl\npl.pallas_call(body)(x)\n"), "body");
  EXPECT_EQ(names(pl + "def run(f): return pl.pallas_call(f)\n",
                  "from .c import run  # pallas_call\nrun(body)\n"),
            "body");
}

}  // namespace
}  // namespace kernelmill::extractor
