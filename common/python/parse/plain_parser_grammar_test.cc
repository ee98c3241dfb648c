// Thousands of small programs made from a grammar, read by our own parser and by tree-sitter: forms
// meet here that no repository combines. --gtest_random_seed makes others.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/python/parse/plain_parser.h"
#include "common/python/parse/python_parser.h"

namespace kernelmill::python {
namespace {

constexpr int kTexts = 20'000;
constexpr int kMaxDepth = 7;
constexpr size_t kMaxNodes = 1'000'000;

// $x~ is one of x's forms, the first one if it is nested too deep; $> and $< open and close a
// block;
// $; ends a line, and the next line begins with its block's indentation unless it begins with $0.
using Grammar = std::map<std::string, std::vector<std::string>>;

const Grammar& Python() {
  static const auto& grammar = *new Grammar{
      {"name", {"a", "b", "c1", "x", "print", "type", "match", "exec", "await_"}},
      {"atom",
       {"$name~", "1", "$number~", "'t'", "\"s\" 'b'", "None", "...", "True", "f'a{$name~}'",
        "f'{$name~!r:>3}{{}}'", "r'\\'", "b'''q\n'''"}},
      {"number",
       {"1", "0x1f", "0o17", "1.5e3j", "$digits~", "$digits~.$digits~", "$digits~.", ".$digits~",
        "$digits~e$digits~", "$digits~.E-$digits~j", "0X$digits~", "0b$digits~", "0o$digits~"}},
      {"type",
       {"$name~", "$name~", "$expr~", "$name~[$subs~]", "$name~ [$name~]", "$name~\\\n  [$name~]",
        "$name~.b[$name~] | None"}},
      {"digits", {"1", "0", "10", "7_1", "9", "0_0", "_1", "1_", "f", "1L"}},
      {"dotted", {"$name~", "$name~.b", "$name~()", "$name~[0]", "$name~.b.c"}},
      {"expr",
       {"$atom~",
        "$atom~",
        "$name~",
        "$dotted~.$name~",
        "$expr~$op~$expr~",
        "$expr~$op~$expr~",
        "$name~($args~)",
        "$name~.b($args~)",
        "$name~[$subs~]",
        "($expr~)",
        "($elems~)",
        "($elems~,)",
        "[$elems~]",
        "[$elems~, ]",
        "{$elems~}",
        "{$pairs~}",
        "{}",
        "()",
        "[]",
        "$expr~ if $expr~ else $expr~",
        "lambda$params~: $expr~",
        "not $expr~",
        "-$expr~",
        "~$expr~",
        "await $expr~",
        "(yield)",
        "(yield $list~)",
        "(yield from $expr~)",
        "($name~ := $expr~)",
        "[$expr~ for $target~ in $expr~]",
        "($expr~ for $target~ in $expr~ if $expr~)",
        "{$expr~: $expr~ for $target~ in $expr~}",
        "{$expr~ async for $target~ in $expr~ for x in $expr~}"}},
      {"op",
       {" + ", "*", " @ ", "**", "//", "<<", " | ", "&", " - ", "%", " and ", " or ", " < ", " in ",
        " not in ", " is ", " is not ", "==", " >= "}},
      {"splat", {"*$name~", "*$dotted~", "*($name~)", "*$expr~"}},
      {"elem", {"$expr~", "$expr~", "$expr~", "$splat~"}},
      {"elems",
       {"$elem~", "$elem~", "$elem~, $elem~", "$elem~,$elem~", "$elem~, $elem~,\n  $elem~"}},
      {"pairs",
       {"$expr~: $expr~", "**$expr~", "$expr~: $expr~, **$name~", "$expr~:$expr~,$expr~:$expr~,"}},
      {"arg",
       {"$expr~", "$expr~", "$splat~", "**$expr~", "$name~=$expr~", "$expr~ for x in $expr~"}},
      {"args", {"", "$arg~", "$arg~", "$arg~, $arg~", "$arg~,\n $arg~, $arg~", "$arg~,"}},
      {"sub", {"$expr~", "$expr~", "$expr~:$expr~", ":", "::$expr~", "$splat~", "..."}},
      {"subs", {"$sub~", "$sub~", "$sub~, $sub~", "$sub~,"}},
      {"target",
       {"$name~", "$name~", "$name~, $name~", "($name~, $name~)", "$name~.b", "$name~[0]",
        "*$name~, $name~", "[$name~]"}},
      {"list",
       {"$expr~", "$expr~", "$elem~", "$elem~, $elem~", "$elem~,$elem~, $elem~", "$elem~,",
        "$elem~, $elem~,"}},
      {"params", {"", " x", " *x", " x, y=1", " *, x", " **k", " x, /, y"}},
      {"formal",
       {"$name~", "$name~=$expr~", "$name~: $type~", "$name~: int = $expr~", "*$name~", "**$name~",
        "*", "/", "*a: b"}},
      {"formals", {"", "$formal~", "$formal~, $formal~", "$formal~,\n  $formal~,"}},
      {"returns", {"", "", " -> $type~"}},
      {"simple",
       {"pass",
        "$list~",
        "$list~",
        "$target~ = $list~",
        "$target~ = $list~",
        "$target~ = $target~ = $list~",
        "$list~ = $list~",
        "$target~ += $list~",
        "$target~ **= $list~",
        "$target~: $type~",
        "$target~: $type~ = $list~",
        "return $list~",
        "return",
        "yield $list~",
        "$name~ = yield $list~",
        "del $list~",
        "assert $expr~",
        "assert $expr~, $expr~",
        "import a, b.c as d",
        "from . import a",
        "from .a.b import (a, b as c,)",
        "from a import *",
        "global a, b",
        "nonlocal a",
        "raise",
        "raise $expr~ from $expr~",
        "print $list~",
        "break",
        "continue"}},
      {"line",
       {"$simple~$;", "$simple~$;", "$simple~$;", "$simple~; $simple~$;", "$simple~ # c$;",
        "# c$;$simple~$;", "$;$simple~ ;$;", "$0 # c$;$simple~$;", "$0# c$;$simple~$;"}},
      {"block",
       {"$>$line~$<", "$>$line~$<", "$>$stmt~$<", "$>$stmt~$stmt~$<", " # c$># d$;$stmt~$<",
        "$>$stmt~# e$;$<"}},
      {"else", {"", "", "else:$block~"}},
      {"handler",
       {"finally:$block~", "except:$block~$else~", "except a as b:$block~",
        "except (a, b) as c:$block~finally:$block~"}},
      {"decorated",
       {"def f($formals~)$returns~:$block~", "class A($args~):$block~", "class A:$block~",
        "async def g():$block~"}},
      {"stmt",
       {"$line~", "$line~", "$line~", "$decorated~", "@$expr~$;$decorated~",
        "@$dotted~$;# c$;$decorated~", "if $expr~:$block~$else~",
        "if $expr~:$block~elif $expr~:$block~$else~", "for $target~ in $list~:$block~$else~",
        "while $expr~:$block~$else~", "try:$block~$handler~", "with $expr~:$block~",
        "with $expr~ as $target~, b as c:$block~", "if $expr~: $simple~$;",
        "for $target~ in $list~: $simple~$;", "async for $target~ in $list~:$block~"}},
      {"program", {"$stmt~", "$stmt~$stmt~"}},
  };
  return grammar;
}

class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  std::string Program() {
    text_.clear();
    fresh_ = true;
    Write("program", 0);
    if (random_() % 8 == 0) text_.pop_back();
    return text_;
  }

 private:
  const std::string& PickForm(const std::vector<std::string>& forms) {
    return forms[random_() % forms.size()];  // no distribution: those differ between libraries
  }

  void Write(const std::string& symbol, int depth) {
    const std::vector<std::string>& forms = Python().at(symbol);
    const std::string& form = depth > kMaxDepth ? forms.front() : PickForm(forms);
    for (size_t at = 0; at < form.size(); ++at) {
      if (form[at] != '$') {
        Put(form[at]);
      } else if (absl::ascii_isalpha(form[++at])) {
        const size_t end = form.find('~', at);
        Write(form.substr(at, end - at), depth + 1);
        at = end;
      } else {
        Mark(form[at]);
      }
    }
  }

  void Put(char c) {
    if (fresh_) absl::StrAppend(&text_, absl::StrJoin(indents_, ""));
    fresh_ = false;
    text_ += c;
  }

  void Mark(char mark) {
    if (mark == '<') return indents_.pop_back();
    if (mark == '>') indents_.push_back(PickForm({"    ", "  ", "\t"}));
    if (mark != '0') text_ += '\n';
    fresh_ = mark != '0';
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<std::string> indents_;
  bool fresh_ = true;  // at a line's begin
};

bool Same(const SyntaxNode& a, const SyntaxNode& b) {
  return a.start == b.start && a.end == b.end && a.parent == b.parent &&
         a.subtree_end == b.subtree_end && a.kind == b.kind && a.field == b.field &&
         a.missing == b.missing;
}

TEST(PlainParserGrammarTest, WhatItReadsTreeSitterReadsAlike) {
  StandardParser::Options options;
  options.plain_first = false;
  const StandardParser tree_sitter(options);
  Writer writer(static_cast<uint32_t>(GTEST_FLAG_GET(random_seed)));
  int read = 0;
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = writer.Program();
    const auto nodes = ParsePlain(text, kMaxNodes);
    if (!nodes) continue;
    ++read;
    const auto tree = tree_sitter.Parse(text);
    ASSERT_TRUE(tree.ok()) << text;
    ASSERT_FALSE(tree->has_errors()) << text;
    ASSERT_EQ(nodes->size(), tree->size()) << text;
    for (NodeId node = 0; node < tree->size(); ++node) {
      ASSERT_TRUE(Same((*nodes)[node], (*tree)[node])) << text << "\nnode " << node;
    }
  }
  EXPECT_GT(read, kTexts / 6) << "too little is read for this to say much";
}

}  // namespace
}  // namespace kernelmill::python
