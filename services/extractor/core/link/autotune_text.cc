#include "services/extractor/core/link/autotune_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "common/python/evaluate/value.h"
#include "services/extractor/core/link/decorators.h"

namespace kernelmill::extractor {

using python::Value;

namespace {

constexpr size_t kMaxBytes = 32u << 10;
constexpr size_t kMaxName = 1024;

// What triton.Config takes beside its kwargs, in the versions that modules are compiled by.
bool IsOption(absl::string_view name) {
  static constexpr absl::string_view kOptions[] = {"num_warps", "num_stages", "num_ctas", "maxnreg",
                                                   "pre_hook"};
  return std::find(std::begin(kOptions), std::end(kOptions), name) != std::end(kOptions);
}

// Python's literal of a string; empty where it is too long.
std::string Quoted(const std::string& text) {
  return Repr(Value::String(text), kMaxName).value_or("");
}

std::optional<std::string> ConfigText(const v1::Autotune::Config& config) {
  std::string text = "triton.Config({";
  absl::string_view separator = "";
  for (const v1::NamedText& pair : config.kwargs()) {
    const std::string name = Quoted(pair.name());
    if (name.empty()) return std::nullopt;
    absl::StrAppend(&text, separator, name, ": ", pair.text());
    separator = ", ";
  }
  text += "}";
  for (const v1::NamedText& option : config.options()) {
    if (!IsOption(option.name())) return std::nullopt;
    absl::StrAppend(&text, ", ", option.name(), "=", option.text());
  }
  return text + ")";
}

std::optional<std::string> KeyText(const v1::Autotune& autotune, absl::string_view original) {
  if (!autotune.key_expression().empty()) return autotune.key_expression();
  const bool is_given = !autotune.key().empty() || !KeywordArgument(original, "key").empty();
  if (!is_given) return std::nullopt;
  std::string text = "[";
  for (const std::string& name : autotune.key()) {
    const std::string quoted = Quoted(name);
    if (quoted.empty()) return std::nullopt;
    absl::StrAppend(&text, text.size() > 1 ? ", " : "", quoted);
  }
  return text + "]";
}

}  // namespace

std::optional<std::string> AutotuneText(const v1::Autotune& autotune, absl::string_view original) {
  if (!autotune.resolved() || autotune.configs().empty()) return std::nullopt;
  const std::optional<std::string> key = KeyText(autotune, original);
  if (!key) return std::nullopt;
  std::string text = "triton.autotune(\n    configs=[\n";
  for (const v1::Autotune::Config& config : autotune.configs()) {
    const std::optional<std::string> call = ConfigText(config);
    if (!call || text.size() > kMaxBytes) return std::nullopt;
    absl::StrAppend(&text, "        ", *call, ",\n");
  }
  absl::StrAppend(&text, "    ],\n    key=", *key, ",\n");
  for (const absl::string_view keyword : {"reset_to_zero", "restore_value"}) {
    const std::string given = KeywordArgument(original, keyword);
    if (!given.empty() && NamesReadIn(given).empty()) {
      absl::StrAppend(&text, "    ", keyword, "=", given, ",\n");
    }
  }
  text += ")";
  if (text.size() > kMaxBytes) return std::nullopt;
  return text;
}

}  // namespace kernelmill::extractor
