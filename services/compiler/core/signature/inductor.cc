#include "services/compiler/core/signature/inductor.h"

#include "absl/strings/numbers.h"
#include "common/code/python.h"

namespace kernelmill::compiler {
namespace {

using Kind = Expression::Kind;

const Expression* Entry(const Expression& dictionary, absl::string_view key) {
  if (dictionary.kind != Kind::kDictionary) return nullptr;
  for (size_t i = 0; i + 1 < dictionary.parts.size(); i += 2) {
    const Expression& at = *dictionary.parts[i];
    if (at.kind == Kind::kString && code::PythonStringContent(at.text) == key) {
      return dictionary.parts[i + 1];
    }
  }
  return nullptr;
}

// The parameter that a key names: 'xnumel', 3 or (3,).
std::string ParameterOf(const Expression& key, const Function& kernel) {
  if (key.kind == Kind::kString) return std::string(code::PythonStringContent(key.text));
  const Expression& number =
      key.kind == Kind::kSequence && key.parts.size() == 1 ? *key.parts[0] : key;
  size_t place = 0;
  if (!absl::SimpleAtoi(number.text, &place) || place >= kernel.parameters.size()) return "";
  return std::string(kernel.parameters[place].name);
}

// The tuple of divisible_by_16=(0, 1) or [(0,): [['tt.divisibility', 16]]].
void ReadDivisibility(const Expression& configs, const Function& kernel, InductorMeta& meta) {
  for (const Expression* config : configs.parts) {
    if (config->kind == Kind::kCall) {
      if (const Expression* places = FindArgument(*config, "divisible_by_16", 0)) {
        for (const Expression* place : places->parts)
          meta.divisible_by_16.insert(ParameterOf(*place, kernel));
      }
    } else if (config->kind == Kind::kDictionary) {
      for (size_t i = 0; i + 1 < config->parts.size(); i += 2) {
        meta.divisible_by_16.insert(ParameterOf(*config->parts[i], kernel));
      }
    }
  }
}

}  // namespace

std::optional<InductorMeta> ReadInductorMeta(const std::vector<const Expression*>& decorators,
                                             const Function& kernel) {
  for (const Expression* decorator : decorators) {
    if (decorator->kind != Kind::kCall) continue;
    const Expression* triton_meta = FindArgument(*decorator, "triton_meta", 99);
    const Expression* signature = triton_meta ? Entry(*triton_meta, "signature") : nullptr;
    if (signature == nullptr || signature->kind != Kind::kDictionary) continue;
    InductorMeta meta;
    for (size_t i = 0; i + 1 < signature->parts.size(); i += 2) {
      const absl::string_view type = code::PythonStringContent(signature->parts[i + 1]->text);
      if (type != "constexpr")
        meta.types[ParameterOf(*signature->parts[i], kernel)] = std::string(type);
    }
    if (const Expression* constants = Entry(*triton_meta, "constants")) {
      for (size_t i = 0; i + 1 < constants->parts.size(); i += 2) {
        meta.constants[ParameterOf(*constants->parts[i], kernel)] =
            std::string(constants->parts[i + 1]->text);
      }
    }
    if (const Expression* configs = Entry(*triton_meta, "configs"))
      ReadDivisibility(*configs, kernel, meta);
    return meta;
  }
  return std::nullopt;
}

}  // namespace kernelmill::compiler
