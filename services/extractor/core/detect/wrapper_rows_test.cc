// The rows of detection_rows_test.cc that are about wrappers of jit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// wrappers `@triton_jit`, `@triton_jit()`, also under `@staticmethod`
TEST(WrapperRowsTest, WrappersOfTheSameFile) {
  EXPECT_THAT(Forms(Extract("import triton\n"
                            "def triton_jit(fn=None, **kwargs):\n"
                            "    def decorate(fn):\n"
                            "        return triton.jit(fn, **kwargs)\n"
                            "    return decorate if fn is None else decorate(fn)\n"
                            "@triton_jit\ndef a(): pass\n"
                            "class C:\n"
                            "    @staticmethod\n"
                            "    @triton_jit()\n"
                            "    def b(): pass\n")),
              ElementsAre("a WRAPPED TRITON triton_jit", "C.b WRAPPED TRITON triton_jit"));
}

TEST(WrapperRowsTest, AWrapperIsAnythingThatLeadsToJit) {
  for (const std::string wrapper :
       {"w = triton.jit\n",
        "w = functools.partial(triton.jit, debug=True)\n",
        "w = triton.jit(debug=True)\n",
        "w = attempt(triton.jit)\n",
        "w = attempt(lambda: triton.jit)\n",
        "w = lambda f: triton.jit(f)\n",
        "def w(f):\n    return triton.autotune([])(triton.jit(f))\n",
        "def w(f):\n    g = triton.jit(fn=f)\n    return g\n",
        "def w(*args, **kw):\n    return triton.jit(*args, **kw)\n",
        "def w(f):\n    return v(f)\nv = triton.jit\n",
        "if fast:\n    def w(f): return f\nelse:\n    w = triton.jit\n",
        "class w(triton.runtime.jit.JITFunction):\n    pass\n",
        "w = triton.jit if fast else other\n",
        "w = other if slow else triton.jit\n",
        "w = fast and triton.jit\n",
        "w = None or (triton.jit)\n",
        "w = getattr(triton, 'jit', lambda f: f)\n",
        "def w(f):\n    return triton.jit(**o)(f)\n",
        "def w(f):\n    g = triton.jit(f)\n    return triton.autotune([])(g)\n",
        "class v:\n    def __init__(self, f):\n        self.f = triton.jit(f)\n"
        "def w(f):\n    return v(f)\n"}) {
    EXPECT_THAT(Forms(Extract("import triton, functools\n" + wrapper + "@w\ndef a(): pass\n")),
                ElementsAre("a WRAPPED TRITON w"))
        << wrapper;
  }
  for (const char* choice :
       {"(triton.jit if fast else other)", "getattr(triton, 'jit')", "(j := triton.jit or None)"}) {
    EXPECT_THAT(Forms(Extract(absl::StrCat("import triton\n@", choice, "\ndef a(): pass\n"))),
                ElementsAre("a WRAPPED TRITON triton.jit"));
  }
  EXPECT_THAT(Forms(Extract("import functools, triton\n"
                            "@functools.partial(triton.jit, debug=True)\ndef a(): pass\n")),
              ElementsAre("a WRAPPED TRITON triton.jit"));
}

TEST(WrapperRowsTest, AWrapperOfSomethingElseIsNone) {
  for (const std::string wrapper :
       {"def w(f):\n    return f\n", "def w(f):\n    return triton.jit(other)\n",
        "def w(f):\n    k = triton.jit(f)\n    return f\n", "w = numba.jit\n",
        "w = getattr(triton, 'cdiv', None)\n", "w = getattr(other, 'jit', None)\n",
        "w = f if triton else other\n", "def w(f):\n    return w(f)\n",
        "def other():\n    w = triton.jit\n", "def w(triton_jit):\n    return triton_jit\n"}) {
    EXPECT_THAT(Forms(Extract("import triton, numba\n" + wrapper + "@w\ndef a(): pass\n")),
                IsEmpty())
        << wrapper;
  }
}

TEST(WrapperRowsTest, WrappersOfOtherFilesOfTheSource) {
  const std::string wrapper = "import triton\ndef triton_jit(f):\n    return triton.jit(f)\n";
  const auto forms = [&](const std::string& import, const std::string& decorator) {
    return Forms(
        ExtractAndLink({{"pkg/utils/launch.py", wrapper},
                        {"pkg/utils/__init__.py", "from .launch import triton_jit\n"},
                        {"other/utils/launch.py", "def triton_jit(f): return f  # triton\n"},
                        {"pkg/layer/sum.py", import + "import triton.language as tl\n@" +
                                                 decorator + "\ndef a(): tl.load(1)\n"}}));
  };
  EXPECT_THAT(forms("from pkg.utils.launch import triton_jit\n", "triton_jit"),
              ElementsAre("a WRAPPED TRITON pkg.utils.launch.triton_jit"));
  EXPECT_THAT(forms("from ..utils.launch import triton_jit as t\n", "t()"),
              ElementsAre("a WRAPPED TRITON utils.launch.triton_jit"));
  EXPECT_THAT(forms("from ..utils import triton_jit\n", "triton_jit"),
              ElementsAre("a WRAPPED TRITON utils.triton_jit"));
  EXPECT_THAT(forms("from .. import utils\n", "utils.triton_jit"),
              ElementsAre("a WRAPPED TRITON utils.triton_jit"));
  EXPECT_THAT(forms("from other.utils.launch import triton_jit\n", "triton_jit"), IsEmpty());
  EXPECT_THAT(forms("from ...utils.launch import triton_jit\n", "triton_jit"), IsEmpty());
}

// Python looks for a module beside a script and where the source is installed, not in any folder.
TEST(WrapperRowsTest, AWrapperOfAFileThatAnImportDoesNotLoadIsNone) {
  const std::string wrapper = "import triton\nmy_jit = triton.jit\n";
  const std::string kernel = "import triton.language as tl\n@my_jit\ndef k(): tl.load(1)\n";
  const auto forms = [&](const std::vector<std::string>& wrappers, const std::string& path,
                         const std::string& import) {
    std::vector<NamedText> files = {{path, import + kernel}};
    for (const std::string& file : wrappers) files.emplace_back(file, wrapper);
    return Forms(ExtractAndLink(files));
  };
  const auto found = ElementsAre("k WRAPPED TRITON launch.my_jit");
  EXPECT_THAT(forms({"a/launch.py"}, "a/k.py", "from launch import my_jit\n"), found);
  EXPECT_THAT(forms({"b/launch.py"}, "a/k.py", "from launch import my_jit\n"), IsEmpty());
  // The importer's own package is p: that another tree has a p with the module does not matter.
  EXPECT_THAT(forms({"third_party/p/launch.py"}, "p/k.py", "from p.launch import my_jit\n"),
              IsEmpty());
  // If two folders may be on the path, neither counts.
  EXPECT_THAT(forms({"x/p/launch.py", "y/p/launch.py"}, "k.py", "from p.launch import my_jit\n"),
              IsEmpty());
  // torch is the installed one, whatever the source has beside.
  EXPECT_THAT(forms({"torch/launch.py"}, "k.py", "from torch.launch import my_jit\n"), IsEmpty());
}

TEST(WrapperRowsTest, WrappersThatComeByAWildcard) {
  const auto forms = [](const std::string& wrapper, const std::string& user) {
    return Forms(ExtractAndLink(
        {{"p/w.py",
          "import triton\ndef my_jit(f):\n    return triton.jit(f)\n_jit = my_jit\n" + wrapper},
         {"p/__init__.py", "from .w import *\n"},
         {"p/a.py", "import triton.language as tl\n" + user + "def a(): tl.load(1)\n"}}));
  };
  const auto found = ElementsAre("a WRAPPED TRITON my_jit");
  EXPECT_THAT(forms("", "from p.w import *\n@my_jit\n"), found);
  EXPECT_THAT(forms("__all__ = ['my_jit']\n", "from p.w import *\n@my_jit\n"), found);
  EXPECT_THAT(forms("", "from p.w import *\nfrom other import *\n@my_jit\n"), found);
  EXPECT_THAT(forms("", "from . import my_jit\n@my_jit\n"), ElementsAre("a WRAPPED TRITON my_jit"));
  EXPECT_THAT(forms("", "from . import *\n@my_jit()\n"), ElementsAre("a WRAPPED TRITON my_jit"));
  EXPECT_THAT(forms("", "from p.w import *\n@_jit\n"), IsEmpty());
  EXPECT_THAT(forms("__all__ = ['f']\n", "from p.w import *\n@my_jit\n"), IsEmpty());
  EXPECT_THAT(forms("", "from p.w import *\ndef my_jit(f): return f\n@my_jit\n"), IsEmpty());
  EXPECT_THAT(forms("", "from .x import *\n@my_jit\n"), IsEmpty());
}

TEST(WrapperRowsTest, FilesThatImportEverythingFromOneAnotherEnd) {
  EXPECT_THAT(
      Forms(ExtractAndLink({{"a.py", "from b import *\nfrom c import *\n"},
                            {"b.py", "from a import *\nfrom c import *\n"},
                            {"c.py", "from a import *\nfrom b import *\n"},
                            {"k.py", "from a import *  # triton\n@my_jit\ndef k(): pass\n"}})),
      IsEmpty());
}

TEST(WrapperRowsTest, AWrapperIsFoundThroughAFileThatDoesNotNameItsDsl) {
  EXPECT_THAT(Forms(ExtractAndLink(
                  {{"w.py", "import triton\nmy_jit = triton.jit\n"},
                   {"v.py", "from w import my_jit as its_jit\n"},
                   {"k.py", "from v import its_jit  # triton\n@its_jit\ndef k(): pass\n"}})),
              ElementsAre("k WRAPPED TRITON v.its_jit"));
}

TEST(WrapperRowsTest, WhatAnotherFileDecidesOnIsCountedWithItsFile) {
  const v1::KernelShard shard =
      ExtractAndLink({{"a.py", "import triton\nmy_jit = triton.jit\n"},
                      {"b.py", "from a import my_jit  # triton\n@my_jit\ndef k(): pass\n"},
                      {"c.py", "from d import my_jit  # triton\n@my_jit\ndef k(): pass\n"}});
  EXPECT_THAT(Places(shard), ElementsAre("k 2-3"));
  EXPECT_EQ(shard.files(1).kernels(), 1);
  EXPECT_EQ(shard.files(2).kernels(), 0);
  EXPECT_THAT(shard.candidates(), IsEmpty());
  EXPECT_THAT(shard.jit_names(), IsEmpty());
}

// vllm is not in the source, so its `triton` is taken at its word.
TEST(WrapperRowsTest, ANameFromAModuleThatIsNotThereIsTakenAtItsWord) {
  const struct {
    const char* imports;
    const char* decorator;
    const char* found;
  } kCases[] = {
      {"from vllm.triton_utils import tl, triton\n", "triton.jit",
       "TRITON name:vllm.triton_utils.triton.jit"},
      {"from vllm.triton_utils import tl, triton as t\n", "t.jit",
       "TRITON name:vllm.triton_utils.triton.jit"},
      {"from srt.layers.triton import tl, triton\n", "triton.jit(debug=True)",
       "TRITON name:srt.layers.triton.triton.jit"},
      {"import vllm.utils as v\nfrom vllm.utils import tl\n", "v.triton.jit",
       "TRITON name:vllm.utils.triton.jit"},
      {"import vllm.utils\nfrom vllm.utils import tl\n", "vllm.utils.triton.jit",
       "TRITON name:vllm.utils.triton.jit"},
      {"from x.compat import gluon, ttgl as tl\n", "gluon.jit", "GLUON name:x.compat.gluon.jit"},
      {"from torch._inductor.runtime.triton_compat import tl, triton\n", "triton.jit",
       "TRITON name:torch._inductor.runtime.triton_compat.triton.jit"},
      {"from .gone import tl, triton as t\n", "t.jit", "TRITON name:gone.triton.jit"},
      {"import triton.language as tl\nfrom x.compat import jit as j\n", "j",
       "TRITON name:x.compat.jit"},
      {"from x.compat import jit, tl  # triton\n", "jit()", "TRITON name:x.compat.jit"},
      {"from .x import jit, tl  # triton\n", "jit", "TRITON name:x.jit"},
      {"from x.compat import jit, ttgl as tl  # triton\n", "jit", "GLUON name:x.compat.jit"},
  };
  for (const auto& test : kCases) {
    EXPECT_THAT(Forms(ExtractAndLink({{"p/k.py", absl::StrCat(test.imports, "@", test.decorator,
                                                              "\ndef k(p): tl.store(p, 1)\n")}})),
                ElementsAre(absl::StrCat("k WRAPPED ", test.found)))
        << test.imports;
  }
}

TEST(WrapperRowsTest, ANameThatSaysSomethingElseIsNone) {
  for (const char* text :
       {"from x import jit  # triton\n@jit\ndef k(p): return p\n",
        "from x import numba  # triton\n@numba.jit\ndef k(p): return p\n",
        "from numba import jit  # triton\nfrom x import tl\n@jit\ndef k(p): tl.store(p, 1)\n",
        "from x import cute, tl  # triton\n@cute.jit\ndef k(p): tl.store(p, 1)\n",
        "from x import triton\n@triton.autotune([])\ndef k(p): return p  # jit\n",
        "from x.triton.tools import jit\n@jit\ndef k(p): return p\n",
        "from x import triton\n@triton.kernels.jit\ndef k(p): return p\n"}) {
    EXPECT_THAT(Forms(ExtractAndLink({{"k.py", text}})), IsEmpty()) << text;
  }
}

TEST(WrapperRowsTest, WhatTheSourceSaysOfANameComesBeforeItsWord) {
  const std::string kernel = "@triton.jit\ndef k(p): tl.store(p, 1)\n";
  const auto forms = [&](const std::string& compat) {
    return Forms(
        ExtractAndLink({{"p/__init__.py", ""},
                        {"p/compat.py", compat},
                        {"p/k.py", absl::StrCat("from p.compat import tl, triton\n", kernel)}}));
  };
  EXPECT_THAT(forms("import triton\nimport triton.language as tl\n"),
              ElementsAre("k WRAPPED TRITON p.compat.triton.jit"));
  EXPECT_THAT(forms("from vllm.triton_utils import tl, triton\n"),
              ElementsAre("k WRAPPED TRITON name:vllm.triton_utils.triton.jit"));
  EXPECT_THAT(forms("class triton:\n    jit = staticmethod(print)\n"), IsEmpty());
  EXPECT_THAT(Forms(ExtractAndLink({{"p/__init__.py", ""},
                                    {"p/triton.py", "def jit(f): return f\n"},
                                    {"p/k.py", "from p import triton\n" + kernel}})),
              IsEmpty());
}

}  // namespace
}  // namespace kernelmill::extractor
