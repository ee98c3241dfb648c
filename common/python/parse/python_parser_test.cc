#include "common/python/parse/python_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kernelmill::python {
namespace {

const StandardParser& Refusing() {
  static const StandardParser parser({.refuse_errors = true});
  return parser;
}

TEST(RefusedErrors, AreThoseOfTheWholeTree) {
  const absl::string_view lines[] = {"x = tl.load(p", "  y = x;;", "print 'a'",
                                     "def f(:",       "z = 1)",    "match x:\n  case 1: pass",
                                     "é = 2",         "if x:",     "\"\"\""};
  for (const absl::string_view line : lines) {
    for (const int before : {0, 1, 100}) {
      std::string text;
      for (int i = 0; i < before; ++i) absl::StrAppend(&text, "a = b + ", i, "\n");
      absl::StrAppend(&text, line, "\n");
      for (int i = 0; i < before; ++i) absl::StrAppend(&text, "c = d[", i, "]\n");
      const absl::StatusOr<SyntaxTree> whole = StandardParser().Parse(text);
      ASSERT_TRUE(whole.ok()) << text;
      const absl::StatusOr<SyntaxTree> refused = Refusing().Parse(text);
      EXPECT_EQ(refused.ok(), !whole->has_errors()) << text;
      if (!refused.ok()) EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(RefusedErrors, LeaveTheTreeOfRightText) {
  const absl::StatusOr<SyntaxTree> tree = Refusing().Parse("match x:\n  case 1:\n    pass\n");
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree->size(), StandardParser().Parse("match x:\n  case 1:\n    pass\n")->size());
}

}  // namespace
}  // namespace kernelmill::python
