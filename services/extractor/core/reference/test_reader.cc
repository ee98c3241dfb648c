#include "services/extractor/core/reference/test_reader.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/python/syntax/imports.h"
#include "services/extractor/core/reference/fixtures.h"
#include "services/extractor/core/tags/phrases.h"
#include "services/extractor/core/tags/tag_table.h"

namespace kernelmill::extractor {

using python::Argument;
using python::Arguments;
using python::Call;
using python::Field;
using python::Kind;

namespace {

constexpr size_t kMaxTests = 4096;           // in a file
constexpr size_t kMaxUnits = 12;             // functions that one test calls
constexpr size_t kMaxComparisons = 16;       // in a record
constexpr size_t kMaxComparisonText = 4096;  // bytes of a comparison's text
constexpr int kMaxFixtures = 4;              // that make one another's values

// Returns the method of that name of a class of the same file; kNoNode without one.
NodeId FindMethod(const SyntaxTree& tree, NodeId of, absl::string_view name) {
  for (const NodeId node : tree.Of(Kind::kFunctionDefinition, of)) {
    const NodeId named = tree.Child(node, Field::kName);
    if (named != kNoNode && tree.GetText(named) == name && ClassAround(tree, node) == of) {
      return node;
    }
  }
  return kNoNode;
}

// Returns whether a decorator makes the function a benchmark: @triton.testing.perf_report(...).
bool IsBenchmark(const TestFile& file, NodeId function) {
  const SyntaxTree& tree = file.tree();
  const NodeId decorated = tree[function].parent;
  if (decorated == kNoNode || tree.GetKind(decorated) != Kind::kDecoratedDefinition) return false;
  for (const Call& call : file.view().calls.In(decorated)) {
    if (call.node >= function) return false;
    if (absl::EndsWith(call.name, "perf_report")) return true;
  }
  return false;
}

// Returns whether a side is named by one of the words.
bool IsNamed(const SyntaxTree& tree, NodeId side, absl::Span<const absl::string_view> words) {
  if (side == kNoNode) return false;
  const std::vector<std::string> own = NameWords(BaseName(tree, tree.StripParentheses(side)));
  return std::any_of(own.begin(), own.end(), [words](absl::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  });
}

// Returns whether the test says that it expects the side, and that the other one is what it tests:
// ref_out beside test_out. If no kernel makes that one, the kernel is the reference of something
// else.
bool IsExpected(const TestUnit& unit, NodeId side, NodeId other) {
  static constexpr absl::string_view kExpected[] = {"expected", "ref",    "reference",
                                                    "golden",   "oracle", "truth"};
  static constexpr absl::string_view kTested[] = {"actual", "test", "tested", "got", "computed"};
  const SyntaxTree& tree = unit.file().tree();
  return IsNamed(tree, side, kExpected) && IsNamed(tree, other, kTested);
}

// Returns whether each value of an axis is written as a number.
bool HasNumbersOnly(const CaseAxis& axis) {
  return std::all_of(axis.rows.begin(), axis.rows.end(), [](const auto& row) {
    return std::all_of(row.begin(), row.end(), [](const CaseAxis::Value& value) {
      double number = 0;
      return value.literal && absl::SimpleAtod(value.text, &number);
    });
  });
}

std::string Shortened(absl::string_view text) {
  return std::string(text.substr(0, kMaxComparisonText));
}

}  // namespace

// Functions whose name begins with test. A file without any may be a script that compares in other
// functions.
std::vector<NodeId> TestReader::FindTests(TestFile& file) const {
  const SyntaxTree& tree = file.tree();
  std::vector<NodeId> tests, others;
  for (const NodeId node : tree.Of(Kind::kFunctionDefinition)) {
    const NodeId name = tree.Child(node, Field::kName);
    if (name == kNoNode) continue;
    const bool top = IsTopLevel(tree, node);
    if (!top && ClassAround(tree, node) == kNoNode) continue;
    if (absl::StartsWith(tree.GetText(name), "test") || IsBenchmark(file, node)) {
      tests.push_back(node);
    } else if (top) {
      others.push_back(node);
    }
  }
  return tests.empty() ? others : tests;
}

void TestReader::Read(TestFile& file, Sink sink) {
  std::vector<NodeId> tests = FindTests(file);
  if (tests.size() > kMaxTests) tests.resize(kMaxTests);
  for (const NodeId test : tests) ReadTest(file, test, sink);
}

void TestReader::ReadTest(TestFile& file, NodeId function, Sink sink) {
  const FunctionBody body(file.view(), function, file.search_steps());
  const std::vector<CaseAxis> axes = cases_.ReadAxes(file, body);
  numbers_.clear();
  for (const CaseAxis& axis : axes) {
    if (HasNumbersOnly(axis)) numbers_.insert(axis.names.begin(), axis.names.end());
  }
  std::vector<Unit> units = FindUnits(file, function, axes);
  const auto kernels = FindKernels(units);
  if (kernels.empty()) return;
  for (Unit& unit : units) Compare(unit);
  const bool benchmark = IsBenchmark(file, function);
  const bool named_test =
      benchmark ||
      absl::StartsWith(file.tree().GetText(file.tree().Child(function, Field::kName)), "test");
  const bool compares = std::any_of(units.begin(), units.end(),
                                    [](const Unit& unit) { return !unit.compared.empty(); });
  if (!named_test && !compares) return;
  const bool gradients = std::any_of(units.begin(), units.end(), [](const Unit& unit) {
    const auto& statements = unit.unit->body().statements();
    return std::any_of(statements.begin(), statements.end(), [](const auto& statement) {
      return statement.takes_gradient || statement.backward != kNoNode;
    });
  });
  const bool by_gradcheck = std::any_of(units.begin(), units.end(), [](const Unit& unit) {
    return std::any_of(unit.compared.begin(), unit.compared.end(),
                       [](const Compared& each) { return each.comparison.form == "gradcheck"; });
  });
  const SyntaxTree& tree = file.tree();
  const NodeId parent = tree[function].parent;
  const bool decorated = tree.GetKind(parent) == Kind::kDecoratedDefinition;
  TestFinding finding;
  finding.path = file.path();
  finding.qualname = units[0].unit->qualname();
  finding.first_line = file.view().lines.LineAt(tree[decorated ? parent : function].start);
  finding.last_line = file.view().lines.LineAt(tree[tree.LastToken(function)].end - 1);
  for (const auto& [kernel, unit_and_use] : kernels) {
    const KernelUse& use = unit_and_use.second;
    if (use.gradient && !gradients && !by_gradcheck) continue;
    const auto judged = Judge(units, kernel, use);
    const Reach::Way* way = reach_.FindWay(use.node, kernel);
    finding.kernel = kernel;
    const bool found = judged.first == kReferenceFound;
    const absl::string_view status = benchmark && !found ? kBenchmark : judged.first;
    finding.status = status;
    finding.length = way == nullptr ? 0 : way->length;
    sink(finding,
         [&, kernel = kernel] { return Write(units, axes, kernel, use, status, judged.second); });
  }
}

// Functions and strings that a parametrize gives.
void TestReader::SetParameters(const std::vector<CaseAxis>& axes, TestUnit& unit) {
  for (const CaseAxis& axis : axes) {
    for (const std::vector<CaseAxis::Value>& row : axis.rows) {
      for (size_t i = 0; i < axis.names.size(); ++i) {
        const CaseAxis::Value& value = row[i];
        std::vector<std::string>& strings = unit.parameter_strings[axis.names[i]];
        if (value.string &&
            std::find(strings.begin(), strings.end(), *value.string) == strings.end()) {
          strings.push_back(*value.string);
        }
        if (value.dotted.empty() || value.literal) continue;
        std::vector<const Origin*>& origins = unit.parameter_origins[axis.names[i]];
        for (const Origin* origin :
             FindOrigins(scope_, scope_.GetDefinitions(value.path, 0), value.dotted)) {
          if (std::find(origins.begin(), origins.end(), origin) == origins.end()) {
            origins.push_back(origin);
          }
        }
      }
    }
  }
}

std::vector<TestReader::Unit> TestReader::FindUnits(TestFile& file, NodeId function,
                                                    const std::vector<CaseAxis>& axes) {
  std::vector<Unit> units;
  units.push_back({std::make_unique<TestUnit>(scope_, reach_, file, function), {}});
  SetParameters(axes, *units[0].unit);
  for (size_t i = 0; i < units.size() && units.size() < kMaxUnits; ++i) AddCalled(i, units);
  return units;
}

// Adds the functions of tests that a unit calls or hands on: of its own file, or of a file of
// tests; and methods of its own class.
void TestReader::AddCalled(size_t from, std::vector<Unit>& units) {
  TestUnit& unit = *units[from].unit;
  TestFile& file = unit.file();
  const SyntaxTree& tree = file.tree();
  const auto add = [&](TestFile& there, NodeId function, const Call* call, bool method) {
    for (const Unit& known : units) {
      if (&known.unit->file() == &there && known.unit->body().function() == function) return;
    }
    if (units.size() >= kMaxUnits) return;
    auto added = std::make_unique<TestUnit>(scope_, reach_, there, function);
    const FunctionBody::Names& parameters = added->body().parameters();
    const Arguments arguments = call == nullptr ? Arguments() : GetArguments(tree, call->node);
    for (size_t i = method ? 1 : 0; i < parameters.size(); ++i) {
      const NodeId given = FindArgument(arguments, parameters[i], i - (method ? 1 : 0));
      if (given == kNoNode) continue;
      const std::string name(parameters[i]);
      const std::string dotted = DottedExpression(tree, given);
      std::vector<const Origin*>& origins = added->parameter_origins[name];
      if (!dotted.empty()) origins = unit.ResolveName(dotted);
      // An object that the caller has made: layer = Layer(...).
      const int at = unit.body().FindStatement(call->node);
      if (origins.empty() && at >= 0) origins = FindReferenceCallee(unit, given, at).origins;
      const auto strings = unit.parameter_strings.find(dotted);
      if (strings != unit.parameter_strings.end()) added->parameter_strings[name] = strings->second;
    }
    units.push_back({std::move(added), {}});
  };
  for (const Call& call : file.view().calls.In(unit.body().function())) {
    absl::string_view name = call.name;
    if (absl::ConsumePrefix(&name, "self.")) {
      const NodeId around = ClassAround(tree, unit.body().function());
      const NodeId method = around == kNoNode ? kNoNode : FindMethod(tree, around, name);
      if (method != kNoNode) add(file, method, &call, true);
      continue;
    }
    std::vector<std::pair<std::string, const Call*>> named;
    if (!name.empty()) named.emplace_back(std::string(name), &call);
    for (const Argument& argument : GetArguments(tree, call.node)) {
      const std::string dotted = DottedExpression(tree, argument.value);
      if (!dotted.empty()) named.emplace_back(dotted, nullptr);
    }
    for (const auto& [dotted, called] : named) {
      for (const Origin* origin : unit.ResolveName(dotted)) {
        const std::string& path = origin->text->path;
        if (path != file.path() && !IsTestPath(path)) continue;
        TestFile* there = files_.Get(path);
        const NodeId function = there == nullptr ? kNoNode : there->FindDefinition(origin->name);
        if (function == kNoNode || there->tree().GetKind(function) != Kind::kFunctionDefinition) {
          continue;
        }
        add(*there, function, called, false);
      }
    }
  }
}

void TestReader::Compare(Unit& unit) {
  for (const TestComparison& comparison : comparisons_.Find(*unit.unit)) {
    for (const auto& [a, b] : comparison.pairs) {
      Compared& compared = unit.compared.emplace_back(Compared{comparison, {a, b}, {}});
      for (int side = 0; side < 2; ++side) {
        if (compared.sides[side] == kNoNode) continue;
        compared.traces[side] = unit.unit->Follow(compared.sides[side], comparison.statement);
      }
    }
  }
}

// Returns the kernels that the units use, each with the shortest way.
std::map<int32_t, std::pair<size_t, KernelUse>> TestReader::FindKernels(
    std::vector<Unit>& units) const {
  std::map<int32_t, std::pair<size_t, KernelUse>> kernels;
  const auto rank = [this](int32_t kernel, const KernelUse& use) {
    const Reach::Way* way = reach_.FindWay(use.node, kernel);
    return std::pair(use.gradient, way == nullptr ? 0 : way->length);
  };
  for (size_t i = 0; i < units.size(); ++i) {
    const auto count = static_cast<int>(units[i].unit->body().statements().size());
    for (int statement = 0; statement < count; ++statement) {
      for (const auto& [kernel, use] : units[i].unit->GetUses(statement)) {
        const auto [at, added] = kernels.try_emplace(kernel, i, use);
        if (!added && rank(kernel, use) < rank(kernel, at->second.second)) at->second = {i, use};
      }
    }
  }
  return kernels;
}

// Returns whether what the test calls, or the first function of the library that it leads to, is
// named for a pass backwards.
bool TestReader::SaysBackward(const Reach& reach, const KernelUse& use) {
  for (const std::string& name : {use.named, reach.GetName(use.node)}) {
    for (const std::string& word : NameWords(name)) {
      const TagRule::List words = BackwardWords();
      if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    }
  }
  return false;
}

// Finds the comparisons of a kernel's results, or the reason why it has none. A kernel of the pass
// backwards is compared where gradients are, or where the test calls that pass by its name.
//
// A kernel makes the result only if it is in the nearest statement that any kernel is in: what
// another operation takes is its input.
std::pair<absl::string_view, std::vector<TestReader::Relevant>> TestReader::Judge(
    const std::vector<Unit>& units, int32_t kernel, const KernelUse& use) {
  std::vector<Relevant> relevant;
  bool any = false, same = false;
  for (size_t i = 0; i < units.size(); ++i) {
    for (const Compared& compared : units[i].compared) {
      any = true;
      int depths[2] = {-1, -1};
      bool input = false;
      for (int side = 0; side < 2; ++side) {
        const auto& hits = compared.traces[side].hits;
        const auto hit = hits.find(kernel);
        if (hit == hits.end()) continue;
        depths[side] = hit->second.depth;
        input |= std::any_of(hits.begin(), hits.end(), [&](const auto& other) {
          return other.second.depth < hit->second.depth;
        });
      }
      if (input || (depths[0] < 0 && depths[1] < 0)) continue;
      if (depths[0] == depths[1]) {
        same = true;
        continue;
      }
      const bool first = depths[1] < 0 || (depths[0] >= 0 && depths[0] < depths[1]);
      const int actual = first ? 0 : 1;
      // If both come from the kernel, the expected side must take what the other one has made.
      if (depths[1 - actual] >= 0) {
        const int made = compared.traces[1 - actual].hits.at(kernel).statement;
        if (!compared.traces[actual].statements.contains(made)) {
          same = true;
          continue;
        }
      }
      if (compared.traces[1 - actual].hits.empty() &&
          IsExpected(*units[i].unit, compared.sides[actual], compared.sides[1 - actual])) {
        continue;
      }
      const bool gradcheck = compared.comparison.form == "gradcheck";
      if (use.gradient && !compared.traces[actual].gradient && !gradcheck) continue;
      const bool gradients =
          gradcheck || compared.traces[0].gradient || compared.traces[1].gradient;
      const bool backward = use.gradient || traits_[kernel].backward || SaysBackward(reach_, use);
      if (traits_[kernel].backward && !gradients && !SaysBackward(reach_, use)) continue;
      if (!backward && compared.traces[actual].gradient) continue;
      relevant.push_back({i, &compared, actual});
    }
  }
  if (relevant.empty()) return {same ? kSamePath : any ? kOtherComparison : kNoComparison, {}};
  // A kernel of the forward pass is compared by its results, before gradients.
  std::stable_sort(relevant.begin(), relevant.end(), [](const Relevant& a, const Relevant& b) {
    return a.compared->traces[a.actual].gradient < b.compared->traces[b.actual].gradient;
  });
  return {kReferenceFound, std::move(relevant)};
}

v1::TestReference TestReader::Write(std::vector<Unit>& units, const std::vector<CaseAxis>& axes,
                                    int32_t kernel, const KernelUse& use, absl::string_view status,
                                    const std::vector<Relevant>& relevant) {
  v1::TestReference test;
  AddChain(kernel, use, test);
  for (size_t i = 0; i < std::min(relevant.size(), kMaxComparisons); ++i) {
    AddComparison(units[relevant[i].unit], relevant[i], axes, test);
  }
  test.set_status(std::string(status));
  if (status == kReferenceFound && !AddReference(units, kernel, relevant, test)) {
    test.set_status(kNoReference);
  }
  CaseReader::AddCases(axes, test);
  for (const absl::string_view name : units[0].unit->body().parameters()) {
    const bool known = std::any_of(axes.begin(), axes.end(), [&](const CaseAxis& axis) {
      return std::find(axis.names.begin(), axis.names.end(), name) != axis.names.end();
    });
    if (!known && name != "self") test.add_open_parameters(std::string(name));
  }
  return test;
}

// The entry is the first definition of the way that is in no file of tests.
void TestReader::AddChain(int32_t kernel, const KernelUse& use, v1::TestReference& test) const {
  const std::string last = use.named.substr(use.named.rfind('.') + 1);
  if (last != reach_.GetName(use.node)) test.add_chain(use.named);
  for (Reach::Node node = use.node; node != Reach::kNone;) {
    test.add_chain(reach_.GetName(node));
    if (test.entry().empty() && !IsTestPath(reach_.GetPath(node))) {
      test.set_entry(reach_.GetName(node));
      test.set_entry_path(reach_.GetPath(node));
    }
    const Reach::Way* way = reach_.FindWay(node, kernel);
    node = way == nullptr ? Reach::kNone : way->next;
  }
}

void TestReader::AddComparison(const Unit& unit, const Relevant& relevant,
                               const std::vector<CaseAxis>& axes, v1::TestReference& test) {
  const TestFile& file = unit.unit->file();
  const Compared& compared = *relevant.compared;
  v1::Comparison& added = *test.add_comparisons();
  added.set_form(std::string(compared.comparison.form));
  added.set_text(Shortened(file.GetText(compared.comparison.node)));
  added.set_line(file.view().lines.LineAt(file.tree()[compared.comparison.node].start));
  const NodeId actual = compared.sides[relevant.actual];
  const NodeId expected = compared.sides[1 - relevant.actual];
  added.set_actual(Shortened(file.GetText(actual)));
  if (expected != kNoNode) added.set_expected(Shortened(file.GetText(expected)));
  for (const TestComparison::Tolerance& tolerance : compared.comparison.tolerances) {
    AddTolerance(*unit.unit, compared.comparison.statement, tolerance, axes, added);
  }
}

// A tolerance is a literal, or a parameter with a value in each row of cases. If the row has an
// element type as well, the value is that type's.
void TestReader::AddTolerance(const TestUnit& unit, int statement,
                              const TestComparison::Tolerance& tolerance,
                              const std::vector<CaseAxis>& axes, v1::Comparison& comparison) {
  v1::Tolerance& added = *comparison.add_tolerances();
  added.set_name(tolerance.name);
  added.set_text(Shortened(tolerance.file->GetText(tolerance.node)));
  const auto add = [&added](const std::string& dtype, const std::string& value) {
    for (const v1::Tolerance::Value& known : added.values()) {
      if (known.dtype() == dtype && known.value() == value) return;
    }
    v1::Tolerance::Value& each = *added.add_values();
    each.set_dtype(dtype);
    each.set_value(value);
  };
  const CaseAxis::Value value = cases_.ReadValue(*tolerance.file, tolerance.node);
  if (value.literal) return add("", value.text);
  if (tolerance.file == &unit.file()) {
    for (const int source : unit.body().FindSources(added.text(), statement)) {
      const NodeId given = unit.body().FindValue(source, added.text());
      if (given == kNoNode) continue;
      const CaseAxis::Value read = cases_.ReadValue(unit.file(), given);
      if (read.literal) add("", read.text);
    }
  }
  for (const CaseAxis& axis : axes) {
    const auto at = std::find(axis.names.begin(), axis.names.end(), added.text());
    if (at == axis.names.end()) continue;
    const auto place = static_cast<size_t>(at - axis.names.begin());
    for (const std::vector<CaseAxis::Value>& row : axis.rows) {
      std::string dtype;
      for (const CaseAxis::Value& each : row) {
        if (absl::StartsWith(each.dotted, "torch.")) dtype = each.dotted;
      }
      if (row[place].literal) add(dtype, row[place].text);
    }
  }
}

// Returns whether another function of the source makes what the callee is given, and is no input of
// the kernel: expected = to_blocks(plain(x)). The callee alone is then only the last step.
bool TestReader::CallsOthers(TestUnit& unit, const ReferenceCallee& callee, const Trace& expected,
                             const Trace& actual) const {
  if (callee.origins.empty()) return false;
  for (const auto& [statement, depth] : expected.statements) {
    const FunctionBody::Statement& each = unit.body().statements()[statement];
    if (each.head || actual.statements.contains(statement)) continue;
    for (const Call& call : unit.file().view().calls.In(each.node)) {
      if (call.name.empty()) continue;
      for (const Origin* origin : unit.ResolveName(std::string(call.name))) {
        const v1::Definition* definition = HostModules::FindDefinition(*origin);
        const bool same =
            std::find(callee.origins.begin(), callee.origins.end(), origin) != callee.origins.end();
        if (!same && definition != nullptr && definition->kind() == v1::Definition::KIND_FUNCTION) {
          return true;
        }
      }
    }
  }
  return false;
}

// The first comparison with a reference counts.
bool TestReader::AddReference(std::vector<Unit>& units, int32_t kernel,
                              const std::vector<Relevant>& relevant, v1::TestReference& test) {
  for (const Relevant& each : relevant) {
    const NodeId expected = each.compared->sides[1 - each.actual];
    if (expected == kNoNode) continue;
    Unit& unit = units[each.unit];
    const int at = each.compared->comparison.statement;
    const ReferenceCallee callee = FindReferenceCallee(*unit.unit, expected, at);
    const Trace& actual_trace = each.compared->traces[each.actual];
    const Trace& expected_trace = each.compared->traces[1 - each.actual];
    // The gradients of a function are made by the statements that ask for them, and what makes an
    // input of the kernel makes no expected value.
    const bool input = callee.statement >= 0 && callee.statement != at &&
                       actual_trace.statements.contains(callee.statement);
    const auto add_function = [&] {
      return std::any_of(callee.origins.begin(), callee.origins.end(), [&](const Origin* origin) {
        const Reach::Node node = reach_.Find(*origin);
        const bool reaches = node != Reach::kNone && reach_.FindWay(node, kernel) != nullptr;
        return !reaches && AddFunction(*origin, test);
      });
    };
    const bool functions = !expected_trace.gradient && !input;
    const bool others = CallsOthers(*unit.unit, callee, expected_trace, actual_trace);
    if (functions && !others && add_function()) return true;
    if (callee.unknown) continue;
    // Only tests have fixtures, and not the functions that they call.
    if (each.unit == 0 && !callee.parameter.empty() &&
        AddFixtureReference(*unit.unit, kernel, callee,
                            FindInputs(*unit.unit, kernel, actual_trace), test)) {
      return true;
    }
    std::vector<Relevant> together;
    for (const Relevant& other : relevant) {
      const auto& statements = unit.unit->body().statements();
      const bool alike =
          other.unit == each.unit && other.compared->sides[1 - other.actual] != kNoNode &&
          statements[other.compared->comparison.statement].around == statements[at].around &&
          other.compared->traces[other.actual].gradient ==
              each.compared->traces[each.actual].gradient;
      if (alike) together.push_back(other);
    }
    absl::string_view local;
    if (callee.local >= 0) {
      const auto& names = unit.unit->body().statements()[callee.local].binds;
      if (!names.empty()) local = names[0];
    }
    if (each.unit == 0 && AddMadeByFixture(*unit.unit, kernel, each, test)) return true;
    if (AddChainReference(unit, kernel, together, local, test)) return true;
    if (AddChainReference(unit, kernel, {each}, local, test)) return true;
    if (functions && others && add_function()) return true;
  }
  return false;
}

bool TestReader::AddFunction(const Origin& origin, v1::TestReference& test) {
  const v1::Definition* definition = HostModules::FindDefinition(origin);
  const v1::HostModule* made = modules_.FindFor(origin);
  if (definition == nullptr || made == nullptr) return false;
  const Reach::Node node = reach_.Find(origin);
  const bool runs_kernels = node != Reach::kNone && !reach_.WaysFrom(node).empty();
  v1::Reference& reference = *test.mutable_reference();
  reference.set_kind(runs_kernels ? "library_path" : "function");
  reference.set_name(origin.name);
  reference.set_path(definition->path());
  reference.set_first_line(definition->first_line());
  reference.set_last_line(definition->last_line());
  reference.set_text(definition->text());
  reference.set_module(made->module());
  reference.set_self_contained(made->self_contained());
  *reference.mutable_unresolved_names() = made->unresolved_names();
  return true;
}

// The reference has the statements that only the expected values come from. Statements that the
// kernel's result also comes from make inputs of both.
bool TestReader::AddChainReference(Unit& unit, int32_t kernel,
                                   const std::vector<Relevant>& relevant, absl::string_view local,
                                   v1::TestReference& test) {
  std::set<int> statements, shared;
  std::vector<NodeId> expected;
  int last = 0;
  for (const Relevant& each : relevant) {
    const NodeId side = each.compared->sides[1 - each.actual];
    const int at = each.compared->comparison.statement;
    for (const auto& [statement, depth] : unit.unit->Follow(side, at, kernel).statements) {
      statements.insert(statement);
    }
    for (const auto& [statement, depth] : each.compared->traces[each.actual].statements) {
      shared.insert(statement);
    }
    expected.push_back(side);
    last = std::max(last, at);
  }
  const SyntaxTree& tree = unit.unit->file().tree();
  for (const int statement : shared) {
    // An import is no input.
    const NodeId node = unit.unit->body().statements()[statement].node;
    if (!python::IsImport(tree.GetKind(node))) statements.erase(statement);
  }
  FunctionBody::Names inputs;
  for (const Relevant& each : relevant) {
    const auto add = [&inputs](const FunctionBody::Statement& statement) {
      inputs.insert(inputs.end(), statement.reads.begin(), statement.reads.end());
    };
    add(unit.unit->body().Read(each.compared->sides[each.actual]));
    for (const auto& [statement, depth] : each.compared->traces[each.actual].statements) {
      add(unit.unit->body().statements()[statement]);
    }
  }
  if (!AllowsEffect(*unit.unit, kernel, statements, expected, last, inputs)) return false;
  return AddStatements(*unit.unit, statements, expected, last, local, test);
}

// Returns whether expected values are numbers that the test's parameters make without any call:
// count == tokens * choices.
bool TestReader::IsCount(const TestUnit& unit, const std::set<int>& statements,
                         const std::vector<NodeId>& expected, int at) const {
  const auto calls = [&](NodeId node) { return !unit.file().view().calls.In(node).empty(); };
  if (std::any_of(expected.begin(), expected.end(), calls)) return false;
  for (const int statement : statements) {
    if (calls(unit.body().statements()[statement].node)) return false;
  }
  const FunctionBody::Names parameters = FindParameters(unit, statements, expected, at);
  return std::all_of(parameters.begin(), parameters.end(),
                     [this](absl::string_view name) { return numbers_.contains(name); });
}

// Statements that only convert or rearrange must take what the kernel takes; else the expected
// values were made elsewhere. Even so, they are a reference of kernels that do no more: a test that
// quantizes and dequantizes compares with its input. Constants hold for one case.
bool TestReader::AllowsEffect(const TestUnit& unit, int32_t kernel, const std::set<int>& statements,
                              const std::vector<NodeId>& expected, int at,
                              const FunctionBody::Names& inputs) const {
  const Effect effect = IsCount(unit, statements, expected, at)
                            ? Effect::kConstant
                            : FindEffect(unit, statements, expected);
  if (effect == Effect::kComputes) return true;
  if (effect == Effect::kConstant) return traits_[kernel].fills;
  if (!traits_[kernel].rearranges) return false;
  const FunctionBody::Names parameters = FindParameters(unit, statements, expected, at);
  return !parameters.empty() &&
         std::all_of(parameters.begin(), parameters.end(), [&](absl::string_view name) {
           return std::find(inputs.begin(), inputs.end(), name) != inputs.end();
         });
}

// Expected values may come from a fixture by way of statements of the test, such as a maximum that
// both sides are divided by. The fixture that takes most of the kernel's inputs then makes them.
bool TestReader::AddMadeByFixture(TestUnit& unit, int32_t kernel, const Relevant& relevant,
                                  v1::TestReference& test) {
  const Compared& compared = *relevant.compared;
  const auto inputs = FindInputs(unit, kernel, compared.traces[relevant.actual]);
  absl::string_view best;
  size_t most = 0;
  for (const absl::string_view name : unit.body().parameters()) {
    const Trace& expected = compared.traces[1 - relevant.actual];
    if (inputs.contains(name) || !expected.inputs.contains(name)) continue;
    const Fixture fixture = FindFixture(files_, unit.file(), unit.body().function(), name);
    if (fixture.function == kNoNode) continue;
    const FunctionBody body(fixture.file->view(), fixture.function, fixture.file->search_steps());
    const auto taken = std::count_if(body.parameters().begin(), body.parameters().end(),
                                     [&](absl::string_view each) { return inputs.contains(each); });
    if (static_cast<size_t>(taken) > most) {
      most = static_cast<size_t>(taken);
      best = name;
    }
  }
  if (best.empty()) return false;
  ReferenceCallee callee;
  callee.parameter = best;
  return AddFixtureReference(unit, kernel, callee, inputs, test);
}

// Returns the names without a source that what uses the kernel comes from; those of the whole
// result if no statement of its own does. A test may scale the result by the expected values.
absl::flat_hash_set<absl::string_view> TestReader::FindInputs(TestUnit& unit, int32_t kernel,
                                                              const Trace& actual) {
  absl::flat_hash_set<absl::string_view> inputs;
  bool any = false;
  for (const auto& [statement, depth] : actual.statements) {
    if (!unit.GetUses(statement).contains(kernel)) continue;
    any = true;
    const NodeId node = unit.body().statements()[statement].node;
    for (const absl::string_view name : unit.Follow(node, statement).inputs) inputs.insert(name);
  }
  return any ? inputs : actual.inputs;
}

// Takes the fixture that makes the expected values as a test is taken. A fixture that makes inputs
// as well is taken apart: what they are made of is no part of the reference.
bool TestReader::AddFixtureReference(TestUnit& unit, int32_t kernel, const ReferenceCallee& callee,
                                     const absl::flat_hash_set<absl::string_view>& inputs_of_kernel,
                                     v1::TestReference& test, int depth) {
  const Fixture fixture =
      FindFixture(files_, unit.file(), unit.body().function(), callee.parameter);
  if (fixture.function == kNoNode || depth > kMaxFixtures) return false;
  TestUnit made(scope_, reach_, *fixture.file, fixture.function);
  const auto [result, at] = FindResult(*fixture.file, made.body());
  if (result == kNoNode) return false;
  std::vector<NodeId> others;
  NodeId element = result;
  for (auto key = callee.elements.rbegin(); key != callee.elements.rend(); ++key) {
    const NodeId within = FindElement(*fixture.file, made.body(), {element, at}, *key, others);
    if (within == kNoNode) break;
    element = within;
  }
  const bool mixed = inputs_of_kernel.contains(callee.parameter);
  if (mixed && element == result) return false;
  const ReferenceCallee maker = FindReferenceCallee(made, element, at);
  for (const Origin* origin : maker.origins) {
    const Reach::Node node = reach_.Find(*origin);
    if (node != Reach::kNone && reach_.FindWay(node, kernel) != nullptr) continue;
    if (AddFunction(*origin, test)) return true;
  }
  const std::vector<NodeId> expected = {mixed ? element : result};
  const Trace trace = made.Follow(expected[0], at);
  if (trace.hits.contains(kernel)) return false;
  std::set<int> statements;
  for (const auto& [statement, steps] : trace.statements) statements.insert(statement);
  FunctionBody::Names inputs = made.body().parameters();
  for (const NodeId other : others) {
    if (!mixed) break;
    const FunctionBody::Names reads = made.body().Read(other).reads;
    inputs.insert(inputs.end(), reads.begin(), reads.end());
    for (const auto& [statement, steps] : made.Follow(other, at).statements) {
      statements.erase(statement);
    }
  }
  // A fixture may only hand on what another one makes.
  if (!maker.parameter.empty() && FindEffect(made, statements, expected) != Effect::kComputes) {
    return AddFixtureReference(made, kernel, maker, inputs_of_kernel, test, depth + 1);
  }
  if (!AllowsEffect(made, kernel, statements, expected, at, inputs)) return false;
  return AddStatements(made, statements, expected, at, "", test);
}

// Writes the statements as the reference.
bool TestReader::AddStatements(const TestUnit& unit, const std::set<int>& statements,
                               const std::vector<NodeId>& expected, int at, absl::string_view local,
                               v1::TestReference& test) {
  std::optional<HostText> text = WriteReference(unit, files_, statements, expected, at);
  if (!text) return false;
  v1::HostModule made = modules_.Make(*text);
  v1::Reference& reference = *test.mutable_reference();
  reference.set_kind(local.empty() ? "torch_chain" : "function");
  reference.set_name(std::string(local));
  reference.set_path(unit.file().path());
  const auto& all = unit.body().statements();
  reference.set_first_line(statements.empty() ? all[at].first_line
                                              : all[*statements.begin()].first_line);
  reference.set_last_line(all[at].last_line);
  reference.set_text(std::move(text->text));
  reference.set_module(std::move(*made.mutable_module()));
  reference.set_self_contained(made.self_contained());
  *reference.mutable_unresolved_names() = std::move(*made.mutable_unresolved_names());
  return true;
}

}  // namespace kernelmill::extractor
