#include "services/extractor/core/link/kernel_text.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/python/syntax/bindings.h"
#include "services/extractor/core/link/autotune_text.h"

namespace kernelmill::extractor {

using python::IsBuiltin;

namespace {

constexpr char kTriton[] = "triton";

// Whether an expression may have the word without anything that defines it.
bool IsPythonWord(absl::string_view word) {
  static constexpr absl::string_view kWords[] = {"True", "False", "None", "if", "else", "and",
                                                 "or",   "not",   "in",   "is", "for",  "lambda"};
  return IsBuiltin(word) ||
         std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace

KernelTexts::KernelTexts(SourceScope& scope, const v1::Kernel& kernel,
                         const v1::Definition* statement)
    : kernel_(kernel),
      text_(statement == nullptr ? kernel.source() : statement->text()),
      first_line_(statement == nullptr ? kernel.first_line() : statement->first_line()) {
  parts_ = TakeApart(text_);
  if (!parts_) return;
  const TextDefinitions& text = scope.TextOf(kernel.path(), kernel.string_begin());
  droppable_ = scope.DroppableOf(text, *parts_, kernel.found_by());
  FindAutotuner();
  // Another decorator can only be written where triton means Triton.
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
  KernelText written = {Edited(text_, edits), {}};
  for (const std::string& name : kernel_.free_names()) {
    if (words.contains(name)) written.names.push_back(name);
  }
  if (!replaced) return written;
  absl::flat_hash_set<std::string> known(written.names.begin(), written.names.end());
  std::vector<std::string> more;
  for (const std::string& word : NamesReadIn(autotune_text_)) {
    if (!IsPythonWord(word) && known.insert(word).second) more.push_back(word);
  }
  std::sort(more.begin(), more.end());
  written.names.insert(written.names.end(), more.begin(), more.end());
  return written;
}

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
