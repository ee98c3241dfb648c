// Our own parser against tree-sitter: where it has a tree at all, it is the same one.
#include "common/python/parse/plain_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/python/parse/python_parser.h"

namespace kernelmill::python {
namespace {

constexpr size_t kMaxNodes = 1'000'000;

std::string Describe(const SyntaxNode& node) {
  return absl::StrCat("[", node.start, ",", node.end, ") parent ", node.parent, " to ",
                      node.subtree_end, " kind ", static_cast<int>(node.kind), " field ",
                      static_cast<int>(node.field));
}

void ExpectSameTree(absl::string_view text) {
  SCOPED_TRACE(std::string(text));
  const auto nodes = ParsePlain(text, kMaxNodes);
  ASSERT_TRUE(nodes.has_value());
  StandardParser::Options options;
  options.plain_first = false;
  const auto tree = StandardParser(options).Parse(text);
  ASSERT_TRUE(tree.ok());
  ASSERT_FALSE(tree->has_errors());
  ASSERT_EQ(nodes->size(), tree->size());
  for (NodeId node = 0; node < tree->size(); ++node) {
    ASSERT_EQ(Describe((*nodes)[node]), Describe((*tree)[node])) << "node " << node;
  }
}

TEST(PlainParserTest, ExpressionsBindAsTheyDoInTheGrammar) {
  for (const absl::string_view text :
       {"a + b * c ** -d ** e @ f // g\n", "a | b & c ^ d << e\n", "not a in b and c or not d\n",
        "a < b <= c is not d not in e\n", "x = a if b else c if d else lambda: e\n",
        "(a := f(b, *c, d=e, **g))[1:2, ::3, ...].h\n", "await_ = -1.5e3j + 0xff_f + 1_0\n",
        "f(x for x in y if z if w)\n", "{a: b, **c}; {a, b}; {}; [a for b, (c, d) in e]\n",
        "x = {k: v async for k, v in z}\n", "lambda x, *y, z=1, **w: (yield)\n",
        "x = [*a, *b.c()]; y = (*a.b, c)\n", "x = a, f(*b), {*c}\ny\n", "N, H = *x.shape, 1\n",
        "(a,); (a); ()\n", "[*a.b(c)[d].e]; {*a.b}; [*a[b]]\n", "[*a([*b.c()]).d]\n",
        "k = b, *c, *d.e, f\nreturn *f.g, *h[i],\nyield j, *k\n"}) {
    ExpectSameTree(text);
  }
}

TEST(PlainParserTest, Statements) {
  for (const absl::string_view text :
       {"import a.b as c, d\nfrom __future__ import x\nfrom ...q.r import (y, z as w,)\n",
        "from . import *\nglobal a, b\ndel a, b[0]\nassert a, b\nraise A(b) from c\n",
        "a = b = c, d\na, (b, [c, *d]) = e\na: List[int] | None = 1\na.b: c.D[e]\na += yield b\n",
        "@a.b(c)  # d\n# e\n@f\nclass G(H, i=J): x: Dict[str, Tuple[int, ...]]\n",
        "async def f(a, /, b: int = 1, *c: d, e=2, **g) -> h:\n  async with i as j: await k\n",
        "for a, *b in c, d:\n  pass\nelse: break\n", "while a:\n\tcontinue\n",
        "try:\n  a\nexcept (B, C) as d:\n  e\nexcept:\n  f\nelse:\n  g\nfinally:\n  h\n",
        "with a as b, c() as (d, e):\n  return *f, g\n", "print(a, *b); type = 1; x.match.print\n",
        "if a: b; c\nelif d:\n  e\n\n\n  f\nelse:\n    g", "*a, b = c\n*a, *d = e = f,\n",
        "def f():\n  yield a,\n  yield b, c,  # d\n  x = yield e,\n  return g,; h\n-i\n",
        "a = b,\nc, d = e\ndel a,\n(b)\n"}) {
    ExpectSameTree(text);
  }
}

TEST(PlainParserTest, StringsAreCutUpAlike) {
  for (const absl::string_view text :
       {"'a' \"b\" r'\\n' b'\\x00\\q' u'\\u1234\\N{DASH}'\n", "'''a'b''c\\\n\n'''\n",
        "r'\\\\'\nr'a\\'b'\n", "f'{a!r:>{w}.2f}{{x}}{b = }\\n\\q'\n", "f\"{a['b']}\" rf'\\d{c}'\n",
        "''; \"\"\"\"\"\"; '\xc3\xa9\\12345'\n"}) {
    ExpectSameTree(text);
  }
}

TEST(PlainParserTest, CommentsHangWhereTheTokensAroundThemMeet) {
  for (const absl::string_view text :
       {"# a\nx = (  # b\n  # c\n  1,  # d\n)  # e\n# f\n",
        "def f():  # a\n    # b\n  # c\n    if x:\n        y\n        # d\n      # e\n    # f\n  # "
        "g\n"
        "# h\nz\n",
        "if a:\n    b\n# c\nelse:\n    d\n        # e\n", "class A:\n  b\n  # c\n# d",
        "x = 1 + \\\n  2\ny = \\\n  'a' \\\n  'b'\r\nz = 3  # c\r\n"}) {
    ExpectSameTree(text);
  }
}

TEST(PlainParserTest, WhatItIsNotSureOfIsLeftToTreeSitter) {
  for (const absl::string_view text : {"",
                                       "print a\n",
                                       "match a:\n  case b: c\n",
                                       "x = \n",
                                       "def f(:\n  pass\n",
                                       "if a:\nb\n",
                                       "  a\n",
                                       "a\n  b\n",
                                       "if a:\n    b\n  c\n",
                                       "(a\n",
                                       "a)\n",
                                       "'a\n",
                                       "f'{a'\n",
                                       "x = 1_a\n",
                                       "x = 0o28\n",
                                       "x = 0._1\n",
                                       "a: b\\\n[c]\n",
                                       "def f(a: b  # c\n    [d]): pass\n",
                                       "x = 0b12\n",
                                       "x = 0x1\xc3\xa9\n",
                                       "\xc3\xa9 = 1\n",
                                       "a\x80\n",
                                       "a\rb\n",

                                       "type X = int\n",
                                       "with (a, b): c\n",
                                       "class A:\n    x = (a +\n  b)\n",
                                       "a <> b\n",
                                       "from import t\n",
                                       "e, lambda: x\n",
                                       "class p:\n @s\n#\n def k(): a\n",
                                       "*a.b\n",
                                       "(a := b if c else d)\n",
                                       "a = *b.c\n",
                                       "a, b = c, d * e, *f.g\n",
                                       "a = b, (*c, d)\n",
                                       "a = b, c\n[d] = e\n",
                                       "a, (b,)\n# c\n[d]: e\n",
                                       "*a, b\n",
                                       "*a, b += c\n",
                                       "*a = b\n",
                                       "[*(a).b]\n",
                                       "a = b, *c.d\n",
                                       "return a, *b.c\nd\n",
                                       "(yield a, *b.c)\n",
                                       "[*a.b() + c]\n",
                                       "a,\nb = c\n",
                                       "f(a=b for c in d)\n",
                                       "f(**a for c in d)\n",
                                       "async withal a: b\n",
                                       "nonlocal",
                                       "del\n",
                                       "exec 'a'\n",
                                       "a = *b\xff\n"}) {
    EXPECT_FALSE(ParsePlain(text, kMaxNodes).has_value()) << text;
  }
  EXPECT_FALSE(ParsePlain("a = 1\n", 3).has_value());
}

TEST(PlainParserTest, DeepNestingIsLeftToTreeSitter) {
  const std::string deep(5000, '(');
  EXPECT_FALSE(ParsePlain(absl::StrCat(deep, "1", std::string(5000, ')'), "\n"), kMaxNodes));
  EXPECT_FALSE(ParsePlain(absl::StrCat(std::string(5000, '-'), "1\n"), kMaxNodes));
}

}  // namespace
}  // namespace kernelmill::python
