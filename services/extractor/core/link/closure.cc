#include "services/extractor/core/link/closure.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::extractor {
namespace {

bool Holds(const v1::Definition& definition, const v1::Kernel& kernel) {
  return definition.first_line() <= kernel.first_line() &&
         kernel.last_line() <= definition.last_line();
}

// The first of `definitions` that begins below the kernel's first line.
Definitions::const_iterator FirstBelow(const Definitions& definitions, const v1::Kernel& kernel) {
  return std::upper_bound(definitions.begin(), definitions.end(), kernel.first_line(),
                          [](int line, const v1::Definition* d) { return line < d->first_line(); });
}

// The definition that the kernel is, or stands in; null if there is none. `outer` do not overlap.
const v1::Definition* DefinitionAround(const Definitions& outer, const v1::Kernel& kernel) {
  const auto below = FirstBelow(outer, kernel);
  if (below == outer.begin()) return nullptr;
  const v1::Definition* last = *std::prev(below);
  return Holds(*last, kernel) ? last : nullptr;
}

// The statement that makes it a kernel; null if there is none.
const v1::Definition* DefinitionApplied(const Definitions& all, const v1::Kernel& kernel) {
  const auto begins_below = [](int line, const v1::Definition* d) {
    return line < d->first_line();
  };
  const auto below = std::upper_bound(all.begin(), all.end(), kernel.applied_line(), begins_below);
  if (kernel.applied_line() <= kernel.last_line() || below == all.begin()) return nullptr;
  const v1::Definition* statement = *std::prev(below);
  const bool holds = statement->kind() == v1::Definition::KIND_CONSTANT &&
                     kernel.applied_line() <= statement->last_line();
  return holds ? statement : nullptr;
}

// Whether a statement may leave the names that it binds as they were.
bool MayNotBind(const v1::Definition& definition) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(definition.text());
  for (const absl::string_view word : {"if", "for", "while"}) {
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, word) || rest.empty()) continue;
    if (!absl::ascii_isalnum(rest[0]) && rest[0] != '_') return true;
  }
  return false;
}

bool UsesName(const v1::Definition& definition, const std::string& name) {
  return std::binary_search(definition.uses().begin(), definition.uses().end(), name);
}

// Whether it leaves the name bound to what it was, and changes that: name.a = 1, name[0] = 1,
// name.append(1), setattr(name, "a", 1).
bool Changes(const v1::Definition& definition, const std::string& name) {
  absl::string_view text = absl::StripLeadingAsciiWhitespace(definition.text());
  if (definition.kind() != v1::Definition::KIND_CONSTANT) return false;
  const bool sets = absl::ConsumePrefix(&text, "setattr(");
  if (!absl::ConsumePrefix(&text, name) || text.empty()) return false;
  return text[0] == '.' || text[0] == '[' || (sets && text[0] == ',');
}

// Whether it needs an earlier binding of the name, as in x = x + 1, x[0] = 1 or if y: x = 1.
bool BuildsOn(const v1::Definition& definition, const std::string& name) {
  return definition.kind() == v1::Definition::KIND_CONSTANT &&
         (MayNotBind(definition) || UsesName(definition, name));
}

// What the import statements of a module have done so far, one after another.
class ImportsDone {
 public:
  // False: the statement would change nothing after those before it.
  bool Add(const v1::Definition& statement) {
    bool changes = statement.imported().empty();
    for (const std::string& module : statement.modules()) {
      if (modules_.insert(module).second) changes = true;
    }
    for (const v1::ImportedName& imported : statement.imported()) {
      std::string& meaning = meanings_[imported.name()];
      std::string next = DottedName(imported);
      // A relative one means another thing in every folder, and what a wildcard brings is not
      // known.
      if (meaning != next || imported.level() > 0 || imported.name() == "*") changes = true;
      meaning = std::move(next);
    }
    return changes;
  }

 private:
  absl::flat_hash_set<std::string> modules_;
  absl::flat_hash_map<std::string, std::string> meanings_;  // by name: dotted
};

// What makes a module that assignments give its members.
const v1::Definition& ImportOfTypes() {
  static const auto& statement = *new auto([] {
    v1::Definition import;
    import.set_kind(v1::Definition::KIND_IMPORT);
    import.set_text("import types\n");
    import.add_names("types");
    import.add_modules("types");
    v1::ImportedName& imported = *import.add_imported();
    imported.set_name("types");
    imported.set_module("types");
    return import;
  }());
  return statement;
}

}  // namespace

Closure::Closure(SourceScope& scope, const v1::Kernel& kernel, const KernelText& text,
                 size_t max_bytes, const absl::flat_hash_set<std::string>& left_out)
    : scope_(scope),
      kernel_(kernel),
      text_(scope.TextOf(kernel.path(), kernel.string_begin())),
      around_(DefinitionAround(text_.outer, kernel)),
      applied_(DefinitionApplied(text_.all, kernel)),
      max_bytes_(max_bytes) {
  FindInText(text, left_out);
  if (bytes_ > max_bytes_) {
    GiveUp();
  } else {
    ResolveImports(text);
  }
  SortMissing();
  PutInOrder();
}

bool Closure::IsMissing(absl::string_view name) const {
  const auto at = std::lower_bound(
      missing_.begin(), missing_.end(), name,
      [](const Missing& missing, absl::string_view wanted) { return missing.name < wanted; });
  return at != missing_.end() && at->name == name;
}

std::vector<Closure::Meaning> Closure::MeaningsOfFreeNames() const {
  std::vector<Meaning> meanings;
  for (const std::string& name : kernel_.free_names()) {
    Meaning meaning = {name, {}, {}};
    const auto import =
        std::lower_bound(own_imports_.begin(), own_imports_.end(), name,
                         [](const Import& a, const std::string& b) { return a.name < b; });
    const bool imported = import != own_imports_.end() && import->name == name;
    if (imported) meaning.taken = import->taken;
    const auto found = found_.find(name);
    if (found != found_.end()) {
      meaning.bindings = found->second;
      std::reverse(meaning.bindings.begin(), meaning.bindings.end());
    }
    meanings.push_back(std::move(meaning));
  }
  return meanings;
}

Definitions Closure::Wildcards() const {
  const bool needed = std::any_of(missing_.begin(), missing_.end(), [](const Missing& missing) {
    return missing.reason == kWildcardImport;
  });
  Definitions wildcards;
  if (!needed) return wildcards;
  for (const v1::Definition* definition : Named("*")) {
    if (IsUsable(*definition)) wildcards.push_back(definition);
  }
  return wildcards;
}

void Closure::FindInText(const KernelText& text, const absl::flat_hash_set<std::string>& left_out) {
  const Definitions& wildcards = Named("*");
  const bool has_wildcard =
      std::any_of(wildcards.begin(), wildcards.end(),
                  [this](const v1::Definition* definition) { return IsUsable(*definition); });
  for (const v1::Definition* future : text_.future) Choose(future);
  for (const std::string& name : text.names) {
    if (left_out.contains(name)) {
      LeaveOut(name);
    } else {
      Need(name);
    }
  }
  if (applied_ != nullptr) {
    taken_.insert(applied_);  // comes after the kernel
    bytes_ += applied_->text().size();
    for (const std::string& use : applied_->uses()) {
      if (use == kernel_.name() || seen_.contains(use)) continue;
      if (left_out.contains(use)) {
        LeaveOut(use);
      } else {
        Need(use);
      }
    }
  }
  while (!pending_.empty() && bytes_ <= max_bytes_) {
    const std::string name = std::move(pending_.back());
    pending_.pop_back();
    if (!Find(name) && name != kernel_.name()) {
      missing_.push_back({name, has_wildcard ? kWildcardImport : kUndefined});
    }
  }
  // What the module goes without is still said of the names that the source has.
  for (const std::string& name : kernel_.free_names()) {
    if (seen_.insert(name).second) FindUnfollowed(name);
  }
}

// The nearest binding above the kernel; null if there is none.
const v1::Definition* Closure::FindUnfollowed(const std::string& name) {
  const Definitions& candidates = Named(name);
  for (auto at = FirstBelow(candidates, kernel_); at != candidates.begin();) {
    const v1::Definition* definition = *--at;
    if (IsOwn(*definition) || !IsUsable(*definition)) continue;
    found_[name].push_back(definition);
    return definition;
  }
  return nullptr;
}

// Of an import its statement stays.
void Closure::LeaveOut(const std::string& name) {
  seen_.insert(name);
  const v1::Definition* definition = FindUnfollowed(name);
  if (definition != nullptr && IsImport(*definition)) {
    own_imports_.push_back({name, definition, nullptr, nullptr, kTooLarge, {}});
  } else {
    missing_.push_back({name, kTooLarge});
  }
}

void Closure::Need(const std::string& name) {
  if (seen_.insert(name).second) pending_.push_back(name);
}

const Definitions& Closure::Named(const std::string& name) const {
  static const auto& none = *new Definitions();
  const auto found = text_.by_name.find(name);
  return found == text_.by_name.end() ? none : found->second;
}

bool Closure::Find(const std::string& name) {
  const Definitions& candidates = Named(name);
  const auto below = FirstBelow(candidates, kernel_);
  auto changes = below;  // that may follow what is found
  bool found = false;
  for (auto at = below; at != candidates.begin();) {
    const v1::Definition& definition = **--at;
    if (IsOwn(definition) || !IsUsable(definition)) continue;
    found = true;
    found_[name].push_back(&definition);
    if (TakeImport(definition, name)) break;
    Choose(&definition);
    if (scope_.Loses(definition, name)) missing_.push_back({name, LossOf(definition, name)});
    if (!BuildsOn(definition, name) || bytes_ > max_bytes_) break;
  }
  for (auto at = below; !found && at != candidates.end(); ++at) {
    if (!IsUsable(**at) || Changes(**at, name)) continue;
    found = true;
    changes = std::next(at);
    found_[name].push_back(*at);
    if (TakeImport(**at, name)) break;
    Choose(*at);
    if (scope_.Loses(**at, name)) missing_.push_back({name, LossOf(**at, name)});
  }
  if (found) AddChangesBelow(name, changes);
  return found || FindByWildcard(name);
}

// From `at` on, which is below the kernel, up to the next binding.
void Closure::AddChangesBelow(const std::string& name, Definitions::const_iterator at) {
  Definitions& found = found_[name];
  for (; at != Named(name).end() && bytes_ <= max_bytes_; ++at) {
    if (!IsUsable(**at)) continue;
    if (!Changes(**at, name)) return;
    if (UsesName(**at, kernel_.name())) continue;
    found.insert(found.begin(), *at);
    Choose(*at);
  }
}

// Why a name is lost with an import in the blocks of a statement.
absl::string_view Closure::LossOf(const v1::Definition& definition, const std::string& name) const {
  const v1::ImportedName* imported = scope_.ImportedWithin(definition, name);
  const bool own = imported != nullptr && scope_.IsOwn(text_, *imported);
  return own ? kRepositoryImport : kPackageImport;
}

bool Closure::FindByWildcard(const std::string& name) {
  if (text_.string_begin > 0 || name == kernel_.name() || !Named(name).empty()) return false;
  const Origin* origin = scope_.Find(text_, name);
  if (origin == nullptr) return false;
  own_imports_.push_back({name, nullptr, origin, nullptr, kWildcardImport, {}});
  return true;
}

// A statement that holds kernels is taken apart for these alone.
bool Closure::IsUsable(const v1::Definition& definition) const {
  if (definition.block_first_line() == 0) return true;
  const bool in_block = definition.block_first_line() <= kernel_.first_line() &&
                        kernel_.last_line() <= definition.block_last_line();
  return in_block != IsWholeBlock(definition);
}

// Whether it is the kernel's own statement. A class around it is not: a method may name its class.
bool Closure::IsOwn(const v1::Definition& definition) const {
  return &definition == around_ && definition.kind() != v1::Definition::KIND_CLASS;
}

// Leaves an import from the source's own files for later.
bool Closure::TakeImport(const v1::Definition& definition, const std::string& name) {
  const v1::ImportedName* imported = scope_.ImportedAs(definition, name);
  if (imported == nullptr || !scope_.IsOwn(text_, *imported)) return false;
  const Origin* origin = scope_.FindImported(text_, *imported);
  const TextDefinitions* module =
      origin == nullptr ? scope_.ImportedModule(text_, *imported) : nullptr;
  own_imports_.push_back({name, &definition, origin, module, kRepositoryImport, {}});
  return true;
}

void Closure::Choose(const v1::Definition* definition) {
  if (!taken_.insert(definition).second) return;
  files_[&text_].chosen.push_back(definition);
  bytes_ += definition->text().size();
  for (const std::string& use : scope_.NamesOf(*definition)) Need(use);
}

void Closure::GiveUp() {
  applied_ = nullptr;
  files_.clear();
  own_imports_.clear();
  missing_.clear();
  for (auto& [name, bindings] : found_) {
    std::erase_if(bindings, [](const v1::Definition* d) { return !IsImport(*d); });
  }
  for (const std::string& name : kernel_.free_names()) missing_.push_back({name, kTooLarge});
}

void Closure::SortMissing() {
  const auto by_name = [](const Missing& a, const Missing& b) { return a.name < b.name; };
  const auto same_name = [](const Missing& a, const Missing& b) { return a.name == b.name; };
  std::stable_sort(missing_.begin(), missing_.end(), by_name);
  missing_.erase(std::unique(missing_.begin(), missing_.end(), same_name), missing_.end());
}

void Closure::PutInOrder() {
  Emit(text_);
  // Imports from __future__ come before all else, and hold for the whole module.
  for (const TextDefinitions* text : future_) {
    for (const v1::Definition* definition : text->future) {
      if (taken_.insert(definition).second) imports_.push_back(definition);
    }
  }
  if (!modules_made_.empty()) imports_.push_back(&ImportOfTypes());
  const auto is_future = [](const v1::Definition* definition) {
    return definition->modules_size() == 1 && definition->modules(0) == "__future__";
  };
  std::stable_partition(imports_.begin(), imports_.end(), is_future);
  ImportsDone done;
  const auto repeated =
      std::remove_if(imports_.begin(), imports_.end(),
                     [&done](const v1::Definition* definition) { return !done.Add(*definition); });
  imports_.erase(repeated, imports_.end());
}

// What was chosen of a file in its order, each other file's where this one first imports from it.
void Closure::Emit(const TextDefinitions& text) {
  const auto found = files_.find(&text);
  if (found == files_.end() || !emitted_.insert(&text).second) return;
  if (&text != &text_) future_.push_back(&text);
  File& file = found->second;
  const auto by_line = [](const auto* a, const auto* b) {
    return a->first_line() < b->first_line();
  };
  std::sort(file.chosen.begin(), file.chosen.end(), by_line);
  std::sort(file.links.begin(), file.links.end(), [](const Link& a, const Link& b) {
    return std::tie(a.line, a.target->path, a.name) < std::tie(b.line, b.target->path, b.name);
  });
  for (const v1::Definition* definition : file.chosen) {
    if (IsImport(*definition)) imports_.push_back(definition);
  }
  auto link = file.links.begin();
  const auto follow = [&](int line) {
    for (; link != file.links.end() && link->line <= line; ++link) {
      Emit(*link->target);
      EmitAssignment(*link);
    }
  };
  for (const v1::Definition* definition : file.chosen) {
    if (IsImport(*definition)) continue;
    follow(definition->first_line());
    parts_.push_back({definition, "", ""});
  }
  follow(std::numeric_limits<int>::max());
}

// Modules are made before their members are assigned.
void Closure::EmitAssignment(const Link& link) {
  if (link.name.empty()) return;
  for (size_t dot = link.name.find('.'); dot != std::string::npos;
       dot = link.name.find('.', dot + 1)) {
    std::string module = link.name.substr(0, dot);
    if (!modules_made_.insert(module).second) continue;
    std::string made = absl::StrCat("types.ModuleType(\"", module, "\")");
    parts_.push_back({nullptr, std::move(module), std::move(made)});
  }
  parts_.push_back({nullptr, link.name, link.value});
}

}  // namespace kernelmill::extractor
