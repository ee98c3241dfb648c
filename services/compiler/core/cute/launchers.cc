#include "services/compiler/core/cute/launchers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/code/bytes.h"

namespace kernelmill::compiler::cute {

using absl::string_view;
using python::Expression;
using python::Function;
using python::LastName;
using python::Statement;

namespace {

using Kind = Expression::Kind;

constexpr int kMaxBases = 4;  // how many classes may derive from one another

bool IsNamed(const Expression& expression, string_view name) {
  return expression.kind == Kind::kName && expression.name == name;
}

// Finds a call of the kernel: k(x), self.kernel(x), self.kernel(x).launch(...).
const Expression* FindLaunch(const Expression& expression, string_view kernel) {
  return python::FindPart(expression, [kernel](const Expression& part) {
    return part.kind == Kind::kCall && LastName(part) == kernel;
  });
}

// A name such as mA_mkl says its modes.
int RankByName(string_view name) {
  const size_t at = name.rfind('_');
  if (at == string_view::npos) return 0;
  const string_view modes = name.substr(at + 1);
  const bool known =
      std::all_of(modes.begin(), modes.end(), [](char c) { return absl::StrContains("mnkl", c); });
  return known && modes.size() > 1 ? static_cast<int>(modes.size()) : 0;
}

bool IsJit(const Function& function) {
  return std::any_of(
      function.decorators.begin(), function.decorators.end(),
      [](const Expression* decorator) { return absl::StrContains(decorator->text, "jit"); });
}

bool Launches(const Function& function, string_view kernel) {
  return std::any_of(
      function.statements.begin(), function.statements.end(), [kernel](const Statement& statement) {
        return statement.value != nullptr && FindLaunch(*statement.value, kernel) != nullptr;
      });
}

// Returns the text of a class of the module's outermost level; empty if it has none.
string_view FindClass(string_view module, string_view name) {
  const std::string head = absl::StrCat("class ", name);
  size_t at = module.find(head);
  while (at != string_view::npos &&
         ((at > 0 && module[at - 1] != '\n') || code::IsNameByte(module[at + head.size()]))) {
    at = module.find(head, at + 1);
  }
  if (at == string_view::npos) return "";
  size_t end = at;
  do {
    end = module.find('\n', end + 1);
  } while (end != string_view::npos && end + 1 < module.size() &&
           absl::StrContains(" \t\n)#", module.substr(end + 1, 1)));
  return module.substr(at, end == string_view::npos ? end : end - at + 1);
}

// Returns the first name in the brackets of a class; empty if it derives from none.
string_view FindBase(string_view text) {
  const string_view line = text.substr(0, text.find(':'));
  const size_t open = line.find('(');
  if (open == string_view::npos) return "";
  const string_view base = line.substr(open + 1, line.find_first_of(",)") - open - 1);
  return base.substr(base.rfind('.') + 1);
}

}  // namespace

// The kernel's own class comes first: of several classes with methods of the same names, the
// record has the first one's launcher.
absl::StatusOr<Launcher> FindLauncher(const v1::Kernel& kernel) {
  Launcher found;
  const string_view qualname = kernel.qualname();
  const size_t dot = qualname.rfind('.');
  if (dot == string_view::npos) {
    const string_view path = kernel.launcher().qualname();
    ASSIGN_OR_RETURN(ReadText text, ReadText::ReadFunction(kernel.launcher().text()));
    const Function* const launcher = text.functions().Find(path.substr(path.rfind('.') + 1));
    found.texts.push_back(std::move(text));
    if (absl::StrContains(path, '.') || launcher == nullptr || !IsJit(*launcher)) return found;
    found.launcher = launcher;
    found.path = std::string(path);
    return found;
  }
  const string_view owner = qualname.substr(0, dot);
  string_view name = owner;
  for (int i = 0; i < kMaxBases && !name.empty(); ++i) {
    const string_view text = FindClass(kernel.module(), name);
    ASSIGN_OR_RETURN(ReadText methods, ReadText::ReadFunction(text));
    if (found.constructor == nullptr) found.constructor = methods.functions().Find(kInit);
    for (const Function& method : methods.functions().all()) {
      if (found.launcher != nullptr || !IsJit(method) || !Launches(method, kernel.name())) continue;
      found.launcher = &method;
      found.path = absl::StrCat(owner, ".", method.name);
    }
    found.texts.push_back(std::move(methods));
    if (found.launcher != nullptr && found.constructor != nullptr) break;
    name = FindBase(text);
  }
  return found;
}

string_view FindGiven(const Function& launcher, const Function& kernel, string_view parameter) {
  const bool method = !kernel.parameters.empty() && kernel.parameters[0].name == "self";
  for (const Statement& statement : launcher.statements) {
    if (statement.value == nullptr) continue;
    const Expression* const call = FindLaunch(*statement.value, kernel.name);
    if (call == nullptr) continue;
    for (size_t i = method ? 1 : 0; i < kernel.parameters.size(); ++i) {
      const string_view inner = kernel.parameters[i].name;
      const Expression* const given = python::FindArgument(*call, inner, method ? i - 1 : i);
      if (given != nullptr && IsNamed(*given, parameter)) return inner;
    }
  }
  return "";
}

TensorUse FindUse(const Function* launcher, const Function& kernel, string_view parameter) {
  TensorUse use = compiler::FindUse(launcher == nullptr ? kernel : *launcher, parameter);
  string_view inner = parameter;
  if (launcher != nullptr) {
    inner = FindGiven(*launcher, kernel, parameter);
    // The launcher may make something with other modes of it.
    if (!inner.empty() && launcher->values.contains(parameter)) inner = "";
  }
  if (!inner.empty() && launcher != nullptr) {
    const TensorUse of_kernel = compiler::FindUse(kernel, inner);
    use.is_tensor |= of_kernel.is_tensor;
    if (use.exact == 0) use.exact = of_kernel.exact;
    use.at_least = std::max(use.at_least, of_kernel.at_least);
  }
  if (use.exact == 0) use.exact = RankByName(inner.empty() ? parameter : inner);
  return use;
}

}  // namespace kernelmill::compiler::cute
