#include "services/extractor/core/link.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/hash.h"
#include "services/extractor/core/python_names.h"
#include "services/extractor/core/text_lines.h"

namespace kernelmill::extractor {
namespace {

using Definitions = std::vector<const v1::Definition*>;

// The definitions of one text, in its order: of a file, or of a string in one.
struct TextDefinitions {
  Definitions all;
  Definitions future;  // imports from __future__, which hold for the whole file
  absl::flat_hash_map<std::string, Definitions> by_name;
};

bool IsImport(const v1::Definition& definition) {
  return definition.kind() == v1::Definition::KIND_IMPORT;
}

// A text's file and, for a string in it, where that begins.
using TextKey = std::pair<std::string, int64_t>;

template <typename Span>
TextKey TextOf(const Span& span) {
  return {span.path(), span.string_begin()};
}

absl::flat_hash_map<TextKey, TextDefinitions> ByText(const v1::KernelShard& shard) {
  absl::flat_hash_map<TextKey, TextDefinitions> texts;
  for (const v1::Definition& definition : shard.definitions()) {
    TextDefinitions& text = texts[TextOf(definition)];
    text.all.push_back(&definition);
    if (definition.modules_size() == 1 && definition.modules(0) == "__future__") {
      text.future.push_back(&definition);
    }
    for (const std::string& name : definition.names()) text.by_name[name].push_back(&definition);
  }
  return texts;
}

bool Holds(const v1::Definition& definition, const v1::Kernel& kernel) {
  return definition.first_line() <= kernel.first_line() &&
         kernel.last_line() <= definition.last_line();
}

// The first of `definitions` that begins below the kernel's first line.
Definitions::const_iterator FirstBelow(const Definitions& definitions, const v1::Kernel& kernel) {
  return std::upper_bound(definitions.begin(), definitions.end(), kernel.first_line(),
                          [](int line, const v1::Definition* d) { return line < d->first_line(); });
}

// The definition that the kernel is, or stands in; null if there is none. Those of the module do
// not overlap, so that one which begins above and ends above the kernel ends the search; imports
// within functions lie between.
const v1::Definition* DefinitionAround(const Definitions& all, const v1::Kernel& kernel) {
  for (auto at = FirstBelow(all, kernel); at != all.begin();) {
    const v1::Definition& definition = **--at;
    if (Holds(definition, kernel)) return &definition;
    if (!IsImport(definition) || IndentationOf(definition.text()) == 0) return nullptr;
  }
  return nullptr;
}

// What one kernel needs of its text, up to so many bytes of it.
class Closure {
 public:
  Closure(const TextDefinitions& text, const v1::Kernel& kernel, size_t max_bytes)
      : text_(text),
        kernel_(kernel),
        around_(DefinitionAround(text.all, kernel)),
        max_bytes_(max_bytes) {
    for (const v1::Definition* future : text.future) Choose(future);
    for (const std::string& name : kernel.free_names()) Need(name);
    while (!pending_.empty() && bytes_ <= max_bytes_) {
      const std::string name = std::move(pending_.back());
      pending_.pop_back();
      if (!Find(name) && name != kernel.name()) missing_.push_back(name);
    }
    // What a wildcard import brings is not known: it may be any name that nothing else defines.
    if (!missing_.empty()) {
      for (const v1::Definition* definition : Named("*")) Choose(definition);
    }
    if (bytes_ > max_bytes_) {
      chosen_.clear();
      missing_.assign(kernel.free_names().begin(), kernel.free_names().end());
    }
    std::sort(missing_.begin(), missing_.end());
    std::sort(chosen_.begin(), chosen_.end(), [](const auto* a, const auto* b) {
      return std::make_pair(!IsImport(*a), a->first_line()) <
             std::make_pair(!IsImport(*b), b->first_line());
    });
  }

  // Imports first, then the others, both in the order of the text.
  const Definitions& chosen() const { return chosen_; }
  const v1::Definition* around() const { return around_; }
  // Names that nothing defines; sorted, each once.
  const std::vector<std::string>& missing() const { return missing_; }
  size_t bytes() const { return bytes_; }

 private:
  void Need(const std::string& name) {
    if (seen_.insert(name).second) pending_.push_back(name);
  }

  const Definitions& Named(const std::string& name) const {
    static const auto& none = *new Definitions();
    const auto found = text_.by_name.find(name);
    return found == text_.by_name.end() ? none : found->second;
  }

  bool Find(const std::string& name) {
    const Definitions& candidates = Named(name);
    const auto below = FirstBelow(candidates, kernel_);
    bool found = false;
    for (auto at = below; at != candidates.begin();) {
      const v1::Definition& definition = **--at;
      if (IsOwn(definition)) continue;
      Choose(&definition);
      found = true;
      if (!BuildsOn(definition, name) || bytes_ > max_bytes_) break;
    }
    if (!found && below != candidates.end()) {
      Choose(*below);
      found = true;
    }
    return found;
  }

  // Whether it is the kernel's own statement. A class around it is not: a method may name its
  // class.
  bool IsOwn(const v1::Definition& definition) const {
    return &definition == around_ && definition.kind() != v1::Definition::KIND_CLASS;
  }

  // Whether it needs an earlier binding of the name, as in x = x + 1 or x[0] = 1.
  static bool BuildsOn(const v1::Definition& definition, const std::string& name) {
    return definition.kind() == v1::Definition::KIND_CONSTANT &&
           std::binary_search(definition.uses().begin(), definition.uses().end(), name);
  }

  void Choose(const v1::Definition* definition) {
    if (!taken_.insert(definition).second) return;
    chosen_.push_back(definition);
    bytes_ += definition->text().size();
    for (const std::string& use : definition->uses()) Need(use);
  }

  const TextDefinitions& text_;
  const v1::Kernel& kernel_;
  const v1::Definition* around_;
  const size_t max_bytes_;
  size_t bytes_ = 0;
  Definitions chosen_;
  std::vector<std::string> missing_;
  std::vector<std::string> pending_;
  absl::flat_hash_set<std::string> seen_;
  absl::flat_hash_set<const v1::Definition*> taken_;
};

// `text` as it may stand at module level, with a line end.
std::string AtModuleLevel(absl::string_view text) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  const size_t column = IndentationOf(text);
  std::string out(text);
  if (column > 0) {
    std::optional<std::string> dedented = Dedent(text, column);
    out = dedented ? *std::move(dedented) : absl::StrCat("if True:\n", text);
  }
  if (!absl::EndsWith(out, "\n") && !absl::EndsWith(out, "\r")) out += '\n';
  return out;
}

// The kernel's text for its module: with the '@' lines that stand before its span in odd layouts.
absl::string_view KernelText(const v1::Kernel& kernel, const v1::Definition* around) {
  const bool same = around != nullptr && around->kind() == v1::Definition::KIND_FUNCTION &&
                    around->last_line() == kernel.last_line() &&
                    around->first_line() >= kernel.first_line() - 2;
  return same ? around->text() : kernel.source();
}

bool ModulesAllowed(const v1::Definition& definition) {
  return std::all_of(definition.modules().begin(), definition.modules().end(), [](const auto& m) {
    const std::string root = m.substr(0, m.find('.'));
    return root == "triton" || root == "torch" || IsStandardModule(root);
  });
}

std::string ModuleText(const Definitions& chosen, absl::string_view kernel_text) {
  std::string module;
  bool in_imports = true;
  for (const v1::Definition* definition : chosen) {
    const bool is_import = IsImport(*definition);
    if (!module.empty() && !(in_imports && is_import)) module += '\n';
    in_imports = is_import;
    module += AtModuleLevel(definition->text());
  }
  if (!module.empty()) module += '\n';
  return absl::StrCat(module, AtModuleLevel(kernel_text));
}

void FillIn(const Closure& closure, v1::Kernel& kernel) {
  kernel.set_module(ModuleText(closure.chosen(), KernelText(kernel, closure.around())));
  bool allowed = closure.around() == nullptr || ModulesAllowed(*closure.around());
  kernel.clear_imports();
  for (const v1::Definition* definition : closure.chosen()) {
    allowed = allowed && ModulesAllowed(*definition);
    if (IsImport(*definition)) kernel.add_imports(AtModuleLevel(definition->text()));
  }
  kernel.set_self_contained(allowed && closure.missing().empty());
  kernel.clear_free_names();
  for (const std::string& name : closure.missing()) kernel.add_free_names(name);
}

}  // namespace

std::string KernelId(absl::string_view repository, absl::string_view commit,
                     const v1::Kernel& kernel) {
  const absl::string_view nul("\0", 1);
  return Sha256Hex(absl::StrCat(repository, nul, commit, nul, kernel.path(), nul,
                                kernel.first_line(), nul, kernel.sha256()))
      .substr(0, 32);
}

void LinkShard(absl::string_view repository, absl::string_view commit, v1::KernelShard& shard,
               const LinkOptions& options) {
  const absl::flat_hash_map<TextKey, TextDefinitions> texts = ByText(shard);
  static const auto& empty = *new TextDefinitions();
  size_t left = options.max_shard_bytes;
  for (v1::Kernel& kernel : *shard.mutable_kernels()) {
    kernel.set_id(KernelId(repository, commit, kernel));
    if (kernel.has_cuda()) {
      kernel.set_module(kernel.source());
      continue;
    }
    const auto text = texts.find(TextOf(kernel));
    const Closure closure(text == texts.end() ? empty : text->second, kernel,
                          std::min(options.max_module_bytes, left));
    left -= std::min(left, closure.bytes() + kernel.source().size());
    FillIn(closure, kernel);
  }
  shard.clear_definitions();
}

}  // namespace kernelmill::extractor
