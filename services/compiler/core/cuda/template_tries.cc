#include "services/compiler/core/cuda/template_tries.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "services/compiler/core/cuda/cpp_text.h"
#include "services/compiler/core/cuda/host_arguments.h"

namespace kernelmill::compiler::cuda {

// The basic idea: a template is compiled only with arguments, and most launches write names of
// their host function's own parameters. So each parameter gets a list of arguments, what is known
// first, and a try takes one of each list: parameters of one kind move together through their
// lists, since T and U are float more often than one of each.

namespace {

using absl::string_view;

enum class Kind { kType, kNumber, kFlag, kValue, kOther };

struct Parameter {
  Kind kind = Kind::kOther;
  std::string name;
  std::string type;     // a value's: "ModelType"
  std::string initial;  // its default; empty: none
  bool has_default = false;
  bool pack = false;
};

struct Argument {
  std::string value;
  string_view rule;
};

// Returns the place of the '=' before a default, or npos.
size_t FindDefault(string_view entry) {
  int depth = 0;
  for (size_t i = 0; i < entry.size(); ++i) {
    const char c = entry[i];
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == '=' && depth == 0) return i;
  }
  return string_view::npos;
}

constexpr string_view kNumberTypes[] = {
    "int",       "unsigned",      "unsigned int",  "size_t",       "std::size_t",  "long",
    "long long", "short",         "char",          "uint",         "auto",         "int8_t",
    "int16_t",   "int32_t",       "int64_t",       "uint8_t",      "uint16_t",     "uint32_t",
    "uint64_t",  "unsigned long", "std::uint32_t", "std::int32_t", "std::int64_t", "std::uint64_t"};

Parameter ReadParameter(string_view entry) {
  Parameter parameter;
  if (const size_t at = FindDefault(entry); at != string_view::npos) {
    parameter.has_default = true;
    parameter.initial = std::string(absl::StripAsciiWhitespace(entry.substr(at + 1)));
    entry = absl::StripAsciiWhitespace(entry.substr(0, at));
  }
  parameter.pack = absl::StrContains(entry, "...");
  if (parameter.pack || absl::StartsWith(entry, "template") || absl::StrContains(entry, "(")) {
    return parameter;
  }
  string_view type = entry;
  parameter.name = TakeLastWord(type);
  absl::ConsumePrefix(&type, "const ");
  if (parameter.name == "typename" || parameter.name == "class" || type == "typename" ||
      type == "class") {
    if (type.empty()) parameter.name.clear();
    parameter.kind = Kind::kType;
    return parameter;
  }
  if (type.empty()) type = std::exchange(parameter.name, "") == "bool" ? "bool" : entry;
  parameter.type = std::string(type);
  if (type == "bool") {
    parameter.kind = Kind::kFlag;
  } else if (std::find(std::begin(kNumberTypes), std::end(kNumberTypes), type) !=
             std::end(kNumberTypes)) {
    parameter.kind = Kind::kNumber;
  } else if (!absl::StrContains(type, "typename") && !absl::StrContains(type, "enable_if")) {
    parameter.kind = Kind::kValue;
  }
  return parameter;
}

template <size_t N>
bool HasAny(string_view text, const string_view (&fragments)[N]) {
  return std::any_of(std::begin(fragments), std::end(fragments),
                     [&](string_view fragment) { return absl::StrContains(text, fragment); });
}

// A type that a kernel may be launched for, and the header that declares it.
struct KnownType {
  string_view name, header;
};
constexpr KnownType kTypes[] = {
    {"float", ""},  {"__half", "cuda_fp16.h"}, {"__nv_bfloat16", "cuda_bf16.h"}, {"int", ""},
    {"double", ""}, {"unsigned char", ""},     {"__nv_fp8_e4m3", "cuda_fp8.h"},  {"long long", ""},
    {"float4", ""}};

// Types of few bits, the first ones for names such as QuantT, and for outputs of kernels such as
// cast_transpose.
constexpr string_view kQuantizedNames[] = {"quant", "fp8", "int8"};
constexpr string_view kOutputNames[] = {"otype", "out", "dst"};
constexpr string_view kQuantizingNames[] = {"quant", "cast", "fp8"};
constexpr KnownType kQuantizedTypes[] = {{"__nv_fp8_e4m3", "cuda_fp8.h"}, {"signed char", ""}};

// Fragments of lower-case names.
constexpr string_view kIndexNames[] = {"index",   "indice",   "offset", "idx",
                                       "permute", "position", "length"};
constexpr string_view kIndexTypes[] = {"idtype", "id_t", "int_t", "i_t", "itype_t", "inttype"};
constexpr string_view kFloatNames[] = {"acc", "compute", "float", "ctype", "opmath", "scale"};
constexpr string_view kStructNames[] = {"param",  "trait", "arg", "config",
                                        "policy", "func",  "op_t"};

// Returns the members that a text takes from a type: a and b of T::a and T::b.
std::vector<std::string> FindMembers(string_view text, string_view type) {
  std::vector<std::string> members;
  for (size_t at = FindWord(text, type); at != string_view::npos;
       at = FindWord(text, type, at + 1)) {
    string_view rest = text.substr(at + type.size());
    if (!absl::ConsumePrefix(&rest, "::")) continue;
    absl::ConsumePrefix(&rest, "template ");
    size_t end = 0;
    while (end < rest.size() && IsWord(rest[end])) ++end;
    if (end > 0) members.emplace_back(rest.substr(0, end));
  }
  return members;
}

// Returns the names of the structs that a module defines and that are no templates, the first ones;
// those before that have all of the members, if there are such.
std::vector<std::string> FindStructs(string_view module, const std::vector<std::string>& members) {
  constexpr size_t kMost = 6;
  constexpr size_t kMostRead = 256;
  std::vector<std::string> whole;
  std::vector<std::string> names;
  size_t read = 0;
  for (size_t at = module.find("struct "); at != string_view::npos && ++read < kMostRead;
       at = module.find("struct ", at + 1)) {
    if (at > 0 && module[at - 1] != '\n') continue;  // in another one, or a use
    const size_t above = at < 2 ? string_view::npos : module.rfind('\n', at - 2);
    const string_view before =
        at < 2 ? "" : module.substr(above == string_view::npos ? 0 : above + 1);
    if (absl::StartsWith(before, "template")) continue;
    const size_t end = module.find_first_of("{;:", at + 7);
    if (end == string_view::npos || module[end] == ';') continue;
    const std::string words = OneLine(module.substr(at + 7, end - at - 7));
    string_view last = absl::StripSuffix(words, " final");
    std::string name = TakeLastWord(last);
    if (name.empty() || absl::StrContains(words, "<")) continue;
    const size_t open = module.find('{', end);
    const size_t close = open == string_view::npos ? open : FindClose(module, open);
    const string_view body =
        close == string_view::npos ? string_view() : module.substr(open, close - open);
    const bool all = !members.empty() &&
                     std::all_of(members.begin(), members.end(),
                                 [&](const std::string& member) { return HasWord(body, member); });
    std::vector<std::string>& list = all ? whole : names;
    if (list.size() < kMost) list.push_back(std::move(name));
  }
  return whole.empty() ? names : whole;
}

std::vector<Argument> TypeArguments(const Parameter& parameter, const v1::Kernel& kernel) {
  std::vector<Argument> arguments;
  const std::string name = absl::AsciiStrToLower(parameter.name);
  if (absl::StrContains(kernel.source(), absl::StrCat(parameter.name, "::")) ||
      HasAny(name, kStructNames)) {
    const std::vector<std::string> members = FindMembers(kernel.source(), parameter.name);
    for (std::string& each : FindStructs(kernel.module(), members))
      arguments.push_back({std::move(each), "guess:struct"});
    return arguments;
  }
  const bool index =
      HasAny(name, kIndexNames) ||
      std::find(std::begin(kIndexTypes), std::end(kIndexTypes), name) != std::end(kIndexTypes);
  // int64_t is long on the host, and long long for NVRTC.
  if (index) return {{"int", "guess:type"}, {"long long", "guess:type"}, {"long", "guess:type"}};
  const auto add = [&](const KnownType& type) {
    if (absl::StrContains(kernel.module(), type.header))
      arguments.push_back({std::string(type.name), "guess:type"});
  };
  const std::string kernel_name = absl::AsciiStrToLower(kernel.name());
  const bool few_bits = HasAny(name, kQuantizedNames) ||
                        (HasAny(name, kOutputNames) && HasAny(kernel_name, kQuantizingNames));
  if (few_bits) std::for_each(std::begin(kQuantizedTypes), std::end(kQuantizedTypes), add);
  std::for_each(std::begin(kTypes), std::end(kTypes), add);
  // The only good one for these is the first one.
  if (HasAny(name, kFloatNames)) arguments.resize(1);
  return arguments;
}

// The numbers that a name asks for: the first row with a fragment of it.
struct NumberHint {
  std::vector<string_view> fragments;
  std::vector<int> numbers;
};
const std::vector<NumberHint>& NumberHints() {
  static const auto* const hints = new std::vector<NumberHint>{
      {{"log2"}, {7, 5, 8}},
      {{"head_dim", "headdim", "_dim", "hidden", "head_size"}, {128, 64, 256}},
      {{"warp"}, {4, 8, 1}},
      {{"vec", "unroll", "pack", "elt", "elem", "per_thread", "perthread", "ilp"}, {4, 8, 2, 1}},
      {{"load_size", "store_size", "bytes"}, {8, 4, 16}},
      {{"stage", "pipe"}, {2, 3}},
      {{"bits"}, {8, 4}},
      {{"rank", "world", "gpu", "peer"}, {8, 2, 4}},
      {{"topk", "top_k"}, {2, 8, 4}},
      {{"bdy", "bdz"}, {4, 1}},
      {{"bdx"}, {32, 16}},
      {{"thread", "block", "tile", "tb", "chunk", "cta", "dim", "size", "width", "len"},
       {128, 256, 64, 32, 16}},
      {{""}, {4, 1, 2, 8, 16, 32, 64, 128}}};
  return *hints;
}

std::vector<Argument> NumberArguments(const Parameter& parameter) {
  const std::string name = absl::AsciiStrToLower(parameter.name);
  const auto found =
      std::find_if(NumberHints().begin(), NumberHints().end(), [&](const NumberHint& hint) {
        return std::any_of(hint.fragments.begin(), hint.fragments.end(),
                           [&](string_view part) { return absl::StrContains(name, part); });
      });
  std::vector<Argument> arguments;
  for (const int number : found->numbers)
    arguments.push_back({absl::StrCat(number), "guess:number"});
  return arguments;
}

// Returns the values with which a text compares a parameter, in its order: 16 of `N == 16`, half of
// `std::is_same<T, half>`.
std::vector<std::string> FindCompared(string_view text, const Parameter& parameter) {
  constexpr size_t kMost = 8;
  std::vector<std::string> values;
  for (size_t at = FindWord(text, parameter.name); at != string_view::npos && values.size() < kMost;
       at = FindWord(text, parameter.name, at + 1)) {
    const string_view before = absl::StripTrailingAsciiWhitespace(text.substr(0, at));
    string_view after = absl::StripLeadingAsciiWhitespace(text.substr(at + parameter.name.size()));
    if (before.empty()) continue;
    if (parameter.kind == Kind::kType) {
      const bool same = absl::EndsWith(before, "is_same<") || absl::EndsWith(before, "is_same_v<");
      if (!same || !absl::ConsumePrefix(&after, ",")) continue;
    } else if (!absl::StrContains("(&|!,", before.back()) || !absl::ConsumePrefix(&after, "==")) {
      continue;
    }
    after = absl::StripLeadingAsciiWhitespace(after);
    size_t end = 0;
    while (end < after.size() && (IsWord(after[end]) || after[end] == ':')) ++end;
    const string_view value = after.substr(0, end);
    const bool digits =
        !value.empty() && value.find_first_not_of("0123456789uUlL") == string_view::npos;
    if (value.empty() || digits != (parameter.kind == Kind::kNumber)) continue;
    if (parameter.kind == Kind::kValue && !absl::StrContains(value, "::")) continue;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.emplace_back(value);
  }
  return values;
}

std::vector<Argument> GuessByKind(const Parameter& parameter, const v1::Kernel& kernel) {
  switch (parameter.kind) {
    case Kind::kType:
      return TypeArguments(parameter, kernel);
    case Kind::kNumber:
      return NumberArguments(parameter);
    case Kind::kFlag:
      return {{"false", "guess:flag"}, {"true", "guess:flag"}};
    case Kind::kValue: {
      std::vector<Argument> values;
      for (const int i : {0, 1, 2})
        values.push_back(
            {absl::StrCat("static_cast<", parameter.type, ">(", i, ")"), "guess:value"});
      return values;
    }
    case Kind::kOther:
      return {};
  }
  return {};
}

// Returns the values that static_assert compares the parameter with, the first guess by kind, the
// values of other comparisons, and the other guesses.
std::vector<Argument> GuessArguments(const Parameter& parameter, const v1::Kernel& kernel) {
  std::vector<Argument> guesses = GuessByKind(parameter, kernel);
  const bool compares = parameter.kind == Kind::kType || parameter.kind == Kind::kNumber ||
                        parameter.kind == Kind::kValue;
  if (parameter.name.empty() || !compares) return guesses;
  std::string asserted;
  const string_view source = kernel.source();
  for (size_t at = FindWord(source, "static_assert"); at != string_view::npos;
       at = FindWord(source, "static_assert", at + 1)) {
    absl::StrAppend(&asserted, source.substr(at, source.find(';', at) - at), ";");
  }
  size_t place = 0;
  const auto add = [&](std::string value) {
    const bool known = std::any_of(guesses.begin(), guesses.end(), [&](const Argument& other) {
      return other.value == value && other.rule == "guess:compared";
    });
    if (known) return;
    guesses.insert(guesses.begin() + static_cast<std::ptrdiff_t>(std::min(place, guesses.size())),
                   {std::move(value), "guess:compared"});
    ++place;
  };
  for (std::string& value : FindCompared(asserted, parameter)) add(std::move(value));
  ++place;
  for (std::string& value : FindCompared(source, parameter)) add(std::move(value));
  return guesses;
}

// A parameter that gets an argument, with those that it may get.
struct Choice {
  Parameter parameter;
  std::vector<Argument> arguments;
};

bool NamesAnother(const std::string& text, const std::vector<Parameter>& parameters) {
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& other) {
    return !other.name.empty() && HasWord(text, other.name);
  });
}

// Returns the choices of a kernel's template parameters. Sets `missing` if one has no argument.
std::vector<Choice> FindChoices(const v1::Kernel& kernel, std::string& missing) {
  std::vector<Parameter> parameters;
  const int headers = kernel.cuda().template_parameters_size();
  if (headers == 0) return {};
  for (const std::string& entry : SplitList(kernel.cuda().template_parameters(headers - 1)))
    parameters.push_back(ReadParameter(entry));
  const auto written = FindHostArguments(kernel, parameters.size());
  // If several parameters have several values, a try may mix those of two launches.
  const auto several = std::count_if(written.begin(), written.end(),
                                     [](const auto& arguments) { return arguments.size() > 1; });
  std::vector<Choice> choices;
  for (size_t i = 0; i < parameters.size() && !parameters[i].pack; ++i) {
    Choice choice = {parameters[i], {}};
    for (const HostArgument& argument : written[i]) {
      const bool known = argument.written && several <= 1;
      choice.arguments.push_back({argument.value, known ? "launch" : "host"});
    }
    if (choice.arguments.empty() && choice.parameter.has_default) {
      if (choice.parameter.name.empty() || NamesAnother(choice.parameter.initial, parameters))
        break;
      choice.arguments.push_back({choice.parameter.initial, "default"});
    }
    for (Argument& guess : GuessArguments(choice.parameter, kernel)) {
      const bool known =
          std::any_of(choice.arguments.begin(), choice.arguments.end(),
                      [&](const Argument& other) { return other.value == guess.value; });
      if (!known && !choice.parameter.has_default) choice.arguments.push_back(std::move(guess));
    }
    if (choice.arguments.empty()) {
      missing = absl::StrCat("template:", choice.parameter.name);
      return {};
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

// For each try the place in the lists of types, of numbers, and of other arguments.
constexpr size_t kOrder[][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                {0, 0, 1}, {1, 0, 1}, {2, 1, 1}, {3, 2, 0}, {1, 2, 1}};

constexpr string_view kWordsOf20[] = {"concept", "requires", "consteval", "constinit"};
constexpr string_view kHeadersOf20[] = {"<bit>", "<concepts>", "<span>", "<ranges>", "<numbers>"};

string_view FindStandard(string_view module) {
  const bool words = std::any_of(std::begin(kWordsOf20), std::end(kWordsOf20),
                                 [&](string_view word) { return HasWord(module, word); });
  return words || HasAny(module, kHeadersOf20) ? "c++20" : "c++17";
}

// Fragments of macros that are about another compiler or vendor, or that switch something off.
constexpr string_view kOtherMacros[] = {"HIP", "ROCM", "AMD",  "MSC",   "WIN",  "DEBUG", "NO_",
                                        "NOT", "CPU",  "HOST", "CLANG", "MUSA", "CUDA",  "DISABLE"};

// Returns the macros of the module's conditions that it does not define itself, by place.
std::string FindMacros(string_view module) {
  std::vector<std::string> macros;
  for (size_t at = module.find("#if"); at != string_view::npos; at = module.find("#if", at + 1)) {
    string_view line = module.substr(at + 3, module.substr(at + 3).find('\n'));
    line = line.substr(0, line.find("//"));
    if (absl::StartsWith(line, "ndef")) continue;
    absl::ConsumePrefix(&line, "def");
    for (size_t i = 0; i < line.size(); ++i) {
      if (!IsWord(line[i])) continue;
      size_t end = i;
      while (end < line.size() && IsWord(line[end])) ++end;
      const std::string word(line.substr(i, end - i));
      i = end;
      const bool name = absl::ascii_isupper(static_cast<unsigned char>(word[0]));
      if (!name || HasAny(word, kOtherMacros) ||
          std::find(macros.begin(), macros.end(), word) != macros.end() ||
          absl::StrContains(module, absl::StrCat("define ", word))) {
        continue;
      }
      macros.push_back(word);
    }
  }
  return absl::StrJoin(macros, " ");
}

void AddOption(string_view name, string_view value, string_view rule,
               v1::KernelSignature& signature) {
  v1::CompileOption& option = *signature.add_options();
  option.set_name(std::string(name));
  option.set_value(std::string(value));
  option.set_rule(std::string(rule));
}

// Returns the tries of the choices, each once.
std::vector<std::vector<Argument>> Combine(const std::vector<Choice>& choices) {
  std::vector<std::vector<Argument>> tries;
  std::vector<std::string> seen;
  for (const auto& place : kOrder) {
    std::vector<Argument> arguments;
    std::string key;
    for (const Choice& choice : choices) {
      const Kind kind = choice.parameter.kind;
      const size_t at = place[kind == Kind::kType ? 0 : kind == Kind::kNumber ? 1 : 2];
      arguments.push_back(choice.arguments[at % choice.arguments.size()]);
      absl::StrAppend(&key, arguments.back().value, "\n");
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(std::move(key));
    tries.push_back(std::move(arguments));
  }
  return tries;
}

}  // namespace

bool IsRead(string_view rule) { return rule == "launch" || rule == "default"; }

TemplateTries MakeTemplateTries(const v1::Kernel& kernel) {
  constexpr size_t kTriesWithMacros = 3;
  TemplateTries made;
  const std::vector<Choice> choices = FindChoices(kernel, made.missing);
  if (!made.missing.empty()) return made;
  const std::vector<std::vector<Argument>> combined = Combine(choices);
  const std::string macros = FindMacros(kernel.module());
  const auto add = [&](const std::vector<Argument>& arguments, string_view defined) {
    v1::KernelSignature& signature = made.tries.emplace_back();
    for (size_t i = 0; i < arguments.size(); ++i) {
      v1::ConstexprValue& value = *signature.add_constexprs();
      value.set_name(choices[i].parameter.name);
      value.set_value(arguments[i].value);
      value.set_rule(std::string(arguments[i].rule));
    }
    if (!defined.empty()) AddOption("define", defined, "guess:macro", signature);
    AddOption("std", FindStandard(kernel.module()), "module", signature);
    signature.set_attempt(static_cast<int>(made.tries.size()));
  };
  for (const std::vector<Argument>& arguments : combined) add(arguments, "");
  if (macros.empty()) return made;
  for (size_t i = 0; i < std::min(combined.size(), kTriesWithMacros); ++i) add(combined[i], macros);
  return made;
}

}  // namespace kernelmill::compiler::cuda
