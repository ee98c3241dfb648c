#include "services/extractor/core/link/kernel_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/python/evaluate/value.h"
#include "common/python/syntax/bindings.h"
#include "services/extractor/core/link/decorators.h"

namespace kernelmill::extractor {

using python::IsBuiltin;
using python::Value;

namespace {

constexpr size_t kMaxBytes = 32u << 10;  // length of an autotuner's replacement
constexpr size_t kMaxName = 1024;

// Returns whether triton.Config takes the option beside its kwargs, in the versions that compile
// modules.
bool IsOption(absl::string_view name) {
  static constexpr absl::string_view kOptions[] = {"num_warps", "num_stages", "num_ctas", "maxnreg",
                                                   "pre_hook"};
  return std::find(std::begin(kOptions), std::end(kOptions), name) != std::end(kOptions);
}

// Returns the Python literal of a string; empty if it is too long.
std::string Quoted(const std::string& text) {
  return Repr(Value::String(text), kMaxName).value_or("");
}

// Returns a call of triton.Config; nullopt if it has an option that Triton does not take.
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

// Returns the value of the autotuner's `key`; nullopt if it is not known.
std::optional<std::string> KeyText(const v1::Autotune& autotune, absl::string_view original) {
  if (!autotune.key_expression().empty()) return autotune.key_expression();
  const bool is_given = !autotune.key().empty() || !FindKeywordArgument(original, "key").empty();
  if (!is_given) return std::nullopt;
  std::string text = "[";
  for (const std::string& name : autotune.key()) {
    const std::string quoted = Quoted(name);
    if (quoted.empty()) return std::nullopt;
    absl::StrAppend(&text, text.size() > 1 ? ", " : "", quoted);
  }
  return text + "]";
}

// Returns the text that replaces an autotuner which the module cannot have:
// triton.autotune(configs=
// [...], key=[...]) with the known configurations as literals. Without them the kernel's
// meta-parameters would have no value at all, so this is nearer to what the repository runs than a
// kernel without an autotuner. `original` is the decorator's text. Its reset_to_zero and
// restore_value, which decide what the kernel computes while it is tuned, are kept if they are
// literals. All other arguments are dropped, since they are about measuring, pruning and caching.
// Returns nullopt if the configurations or the key are not known, if triton.Config does not take
// one of their options, or if the text is long.
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
    const std::string given = FindKeywordArgument(original, keyword);
    if (!given.empty() && ReadNames(given).empty()) {
      absl::StrAppend(&text, "    ", keyword, "=", given, ",\n");
    }
  }
  text += ")";
  if (text.size() > kMaxBytes) return std::nullopt;
  return text;
}

// Decorators to decide on. Each takes a closure of the whole text, so that 100,000 stacked ones
// would take hours; kernels that people write have ten at most.
constexpr size_t kMaxDroppable = 64;

constexpr char kTriton[] = "triton";

// Returns whether an expression may contain the word without a definition of it.
bool IsPythonWord(absl::string_view word) {
  static constexpr absl::string_view kWords[] = {"True", "False", "None", "if", "else", "and",
                                                 "or",   "not",   "in",   "is", "for",  "lambda"};
  return IsBuiltin(word) ||
         std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace

// The ways to write a kernel's decorators above its jit: each can be kept, dropped or, for an
// autotuner with known configurations, replaced.
KernelTexts::KernelTexts(SourceScope& scope, const v1::Kernel& kernel,
                         const v1::Definition* statement)
    : kernel_(kernel),
      text_(statement == nullptr ? kernel.source() : statement->text()),
      first_line_(statement == nullptr ? kernel.first_line() : statement->first_line()) {
  parts_ = ReadDecoratedFunction(text_);
  if (!parts_) return;
  const TextDefinitions& text = scope.GetDefinitions(kernel.path(), kernel.string_begin());
  droppable_ = scope.GetDroppable(text, *parts_, kernel.found_by());
  if (droppable_.size() > kMaxDroppable) droppable_.clear();  // the kernel stays as it is written
  FindAutotuner();
  // The replacement says `triton`, so that name must mean Triton here.
  if (autotuner_ < droppable_.size() && scope.ResolvedName(text, kTriton) != kTriton) {
    autotuner_ = static_cast<size_t>(-1);
  }
}

void KernelTexts::FindAutotuner() {
  for (size_t i = 0; i < droppable_.size(); ++i) {
    const Decorator& decorator = *droppable_[i].decorator;
    if (decorator.callee != kernel_.autotune().decorator() || decorator.callee.empty()) continue;
    std::optional<std::string> text = AutotuneText(kernel_.autotune(), decorator.text);
    if (!text) return;
    autotune_text_ = *std::move(text);
    autotuner_ = i;
    return;
  }
}

// Applies the ways as edits of the kernel's text. The free names are those that the remaining text
// may read, plus the words of a replacement.
KernelText KernelTexts::Write(const std::vector<Way>& ways) const {
  const bool as_written =
      std::all_of(ways.begin(), ways.end(), [](Way way) { return way == Way::kKept; });
  if (as_written || !parts_) {
    return {text_, {kernel_.free_names().begin(), kernel_.free_names().end()}};
  }
  std::vector<TextEdit> edits;
  bool replaced = false;
  absl::flat_hash_set<std::string> words = parts_->words;
  for (const Decorator& decorator : parts_->decorators) {
    const auto at = std::find_if(droppable_.begin(), droppable_.end(),
                                 [&](const auto& each) { return each.decorator == &decorator; });
    const Way way = at == droppable_.end() ? Way::kKept : ways[at - droppable_.begin()];
    if (way == Way::kKept) words.insert(decorator.words.begin(), decorator.words.end());
    if (way == Way::kDropped) edits.push_back({decorator.line_begin, decorator.line_end, ""});
    if (way != Way::kReplaced) continue;
    edits.push_back({decorator.begin, decorator.end(), autotune_text_});
    replaced = true;
  }
  KernelText written = {ApplyEdits(text_, edits), {}};
  for (const std::string& name : kernel_.free_names()) {
    if (words.contains(name)) written.names.push_back(name);
  }
  if (!replaced) return written;
  absl::flat_hash_set<std::string> known(written.names.begin(), written.names.end());
  std::vector<std::string> more;
  for (const std::string& word : ReadNames(autotune_text_)) {
    if (!IsPythonWord(word) && known.insert(word).second) more.push_back(word);
  }
  std::sort(more.begin(), more.end());
  written.names.insert(written.names.end(), more.begin(), more.end());
  return written;
}

// Notes in the record what was dropped and replaced, with lines of the original file.
void KernelTexts::Report(const std::vector<Way>& ways, v1::Kernel& kernel) const {
  for (size_t i = 0; i < ways.size(); ++i) {
    const Decorator& decorator = *droppable_[i].decorator;
    if (ways[i] == Way::kDropped) {
      *kernel.add_dropped_decorators() = ToDropped(droppable_[i], parts_->name, first_line_);
    } else if (ways[i] == Way::kReplaced) {
      v1::ReplacedText& replaced = *kernel.add_replaced_texts();
      replaced.set_original(decorator.text);
      replaced.set_replacement(autotune_text_);
      replaced.set_first_line(first_line_ + decorator.first_line);
      replaced.set_last_line(first_line_ + decorator.last_line);
      replaced.set_reason(std::string(SourceScope::kAutotuneConfigs));
    }
  }
}

v1::DroppedDecorator ToDropped(const SourceScope::Droppable& droppable, const std::string& function,
                               int first_line) {
  const Decorator& decorator = *droppable.decorator;
  v1::DroppedDecorator dropped;
  dropped.set_text(decorator.text);
  dropped.set_function(function);
  dropped.set_first_line(first_line + decorator.first_line);
  dropped.set_last_line(first_line + decorator.last_line);
  dropped.set_reason(std::string(droppable.reason));
  return dropped;
}

}  // namespace kernelmill::extractor
