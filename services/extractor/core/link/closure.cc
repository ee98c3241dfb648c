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

// Of other files, in one module. It bounds the depth to which files are walked as well.
constexpr size_t kMaxOthers = 1024;

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

// Whether it needs an earlier binding of the name, as in x = x + 1, x[0] = 1 or if y: x = 1.
bool BuildsOn(const v1::Definition& definition, const std::string& name) {
  return definition.kind() == v1::Definition::KIND_CONSTANT &&
         (MayNotBind(definition) ||
          std::binary_search(definition.uses().begin(), definition.uses().end(), name));
}

// Where the text imports the name.
int LineOf(const TextDefinitions& text, const std::string& name) {
  const auto found = text.importable.find(name);
  return found == text.importable.end() ? 0 : found->second.front()->first_line();
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

}  // namespace

// What one import brings into the module, until it is known whether all of it may come.
struct Closure::Addition {
  absl::flat_hash_map<std::string, std::string> meanings;
  std::vector<std::pair<const TextDefinitions*, const v1::Definition*>> definitions;
  absl::flat_hash_set<const v1::Definition*> taken;
  std::vector<std::pair<const TextDefinitions*, Link>> links;
  std::vector<std::pair<const TextDefinitions*, std::string>> pending;
  absl::flat_hash_set<std::pair<const TextDefinitions*, std::string>> seen;
  size_t bytes = 0;
};

Closure::Closure(SourceScope& scope, const v1::Kernel& kernel, size_t max_bytes)
    : scope_(scope),
      kernel_(kernel),
      text_(scope.TextOf(kernel.path(), kernel.string_begin())),
      around_(DefinitionAround(text_.outer, kernel)),
      applied_(DefinitionApplied(text_.all, kernel)),
      max_bytes_(max_bytes) {
  FindInText();
  if (bytes_ > max_bytes_) {
    GiveUp();
  } else {
    ResolveImports();
  }
  std::sort(missing_.begin(), missing_.end());
  missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
  PutInOrder();
}

void Closure::FindInText() {
  for (const v1::Definition* future : text_.future) Choose(future);
  for (const std::string& name : kernel_.free_names()) Need(name);
  if (applied_ != nullptr) {
    taken_.insert(applied_);  // comes after the kernel
    bytes_ += applied_->text().size();
    for (const std::string& use : applied_->uses()) {
      if (use != kernel_.name()) Need(use);
    }
  }
  while (!pending_.empty() && bytes_ <= max_bytes_) {
    const std::string name = std::move(pending_.back());
    pending_.pop_back();
    if (!Find(name) && name != kernel_.name()) missing_.push_back(name);
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
  bool found = false;
  for (auto at = below; at != candidates.begin();) {
    const v1::Definition& definition = **--at;
    if (IsOwn(definition) || !IsUsable(definition)) continue;
    found = true;
    if (TakeImport(definition, name)) break;
    Choose(&definition);
    if (!BuildsOn(definition, name) || bytes_ > max_bytes_) break;
  }
  for (auto at = below; !found && at != candidates.end(); ++at) {
    if (!IsUsable(**at)) continue;
    found = true;
    if (!TakeImport(**at, name)) Choose(*at);
  }
  return found || FindByWildcard(name);
}

bool Closure::FindByWildcard(const std::string& name) {
  if (text_.string_begin > 0 || name == kernel_.name() || !Named(name).empty()) return false;
  const Origin* origin = scope_.Find(text_, name);
  if (origin == nullptr) return false;
  own_imports_.push_back({name, nullptr, origin});
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
  own_imports_.push_back({name, &definition, scope_.FindImported(text_, *imported)});
  return true;
}

void Closure::Choose(const v1::Definition* definition) {
  if (!taken_.insert(definition).second) return;
  files_[&text_].chosen.push_back(definition);
  bytes_ += definition->text().size();
  for (const std::string& use : definition->uses()) Need(use);
}

void Closure::GiveUp() {
  applied_ = nullptr;
  files_.clear();
  missing_.assign(kernel_.free_names().begin(), kernel_.free_names().end());
}

void Closure::ResolveImports() {
  std::sort(own_imports_.begin(), own_imports_.end(),
            [](const Import& a, const Import& b) { return a.name < b.name; });
  for (Import& import : own_imports_) {
    if (import.origin != nullptr && !scope_.Closes(*import.origin)) import.origin = nullptr;
  }
  ClaimOwnNames();
  for (const Import& import : own_imports_) {
    if (import.origin != nullptr && Add(import)) continue;
    missing_.push_back(import.name);
    if (import.statement != nullptr) Choose(import.statement);
  }
  // What a wildcard import brings is not known: it may be any name that nothing else defines.
  if (missing_.empty()) return;
  for (const v1::Definition* definition : Named("*")) {
    if (bytes_ > max_bytes_) break;
    if (IsUsable(*definition)) Choose(definition);
  }
}

// What the names of the kernel's own text mean in its module, and those that mean nothing there:
// no other file may bind them to something else.
void Closure::ClaimOwnNames() {
  for (const v1::Definition* definition : files_[&text_].chosen) {
    for (const std::string& name : definition->names()) meanings_[name] = KeyOf(text_, name);
  }
  for (const std::string& name : missing_) meanings_[name] = "";
  for (const Import& import : own_imports_) {
    meanings_[import.name] = import.origin == nullptr ? "" : import.origin->key;
  }
  if (applied_ != nullptr) {
    for (const std::string& name : applied_->names()) meanings_[name] = KeyOf(text_, name);
  }
  meanings_[kernel_.name()] = absl::StrCat(text_.path, ":", kernel_.name());
}

std::string Closure::KeyOf(const TextDefinitions& text, const std::string& name) {
  const Origin* origin = scope_.Find(text, name);
  return origin == nullptr ? absl::StrCat(text.path, ":", name) : origin->key;
}

bool Closure::Add(const Import& import) {
  Addition addition;
  const Origin& origin = *import.origin;
  Link link = {import.statement == nullptr ? 0 : import.statement->first_line(), origin.text, "",
               ""};
  if (import.name != origin.name) {
    link.name = import.name;
    link.value = origin.name;
  }
  addition.links.emplace_back(&text_, std::move(link));
  bool fits = AddName(*origin.text, origin.name, addition);
  while (fits && !addition.pending.empty()) {
    const auto [user, name] = std::move(addition.pending.back());
    addition.pending.pop_back();
    fits = AddName(*user, name, addition);
  }
  bytes_ += addition.bytes;
  if (fits) Commit(std::move(addition));
  return fits;
}

// Adds what the name means to the file that uses it. False: it cannot come with the rest.
bool Closure::AddName(const TextDefinitions& user, const std::string& name, Addition& addition) {
  if (!addition.seen.emplace(&user, name).second) return true;
  const Origin* origin = scope_.Find(user, name);
  if (origin == nullptr || !Claim(name, origin->key, addition) ||
      !Claim(origin->name, origin->key, addition)) {
    return false;
  }
  const bool renamed = name != origin->name;
  if (origin->text != &user) {
    addition.links.push_back(
        {&user,
         {LineOf(user, name), origin->text, renamed ? name : "", renamed ? origin->name : ""}});
  }
  const Definitions& bindings = SourceScope::BindingsOf(*origin);
  // The kernel's own text has one binding of a name alone that its kernel saw.
  if (origin->text == &text_ && bindings.size() > 1) return false;
  return std::all_of(bindings.begin(), bindings.end(), [&](const v1::Definition* definition) {
    return AddDefinition(*definition, *origin->text, addition);
  });
}

bool Closure::AddDefinition(const v1::Definition& definition, const TextDefinitions& text,
                            Addition& addition) {
  if (taken_.contains(&definition) || !addition.taken.insert(&definition).second) return true;
  if (&text == &text_ && (IsOwn(definition) || !IsUsable(definition))) return false;
  addition.bytes += definition.text().size();
  addition.definitions.emplace_back(&text, &definition);
  if (bytes_ + addition.bytes > max_bytes_ || others_ + addition.definitions.size() > kMaxOthers) {
    return false;
  }
  for (const std::string& use : definition.uses()) addition.pending.emplace_back(&text, use);
  return std::all_of(
      definition.names().begin(), definition.names().end(),
      [&](const std::string& name) { return Claim(name, KeyOf(text, name), addition); });
}

bool Closure::Claim(const std::string& name, const std::string& key, Addition& addition) const {
  const auto claimed = meanings_.find(name);
  if (claimed != meanings_.end()) return claimed->second == key;
  return addition.meanings.try_emplace(name, key).first->second == key;
}

void Closure::Commit(Addition addition) {
  others_ += addition.definitions.size();
  for (auto& [name, key] : addition.meanings) meanings_.emplace(name, std::move(key));
  for (const auto& [text, definition] : addition.definitions) {
    taken_.insert(definition);
    files_[text].chosen.push_back(definition);
  }
  for (auto& [text, link] : addition.links) {
    if (!link.name.empty() && !assigned_.insert(link.name).second) link.name.clear();
    files_[text].links.push_back(std::move(link));
  }
}

void Closure::PutInOrder() {
  Emit(text_);
  // Imports from __future__ come before all else, and hold for the whole module.
  for (const TextDefinitions* text : future_) {
    for (const v1::Definition* definition : text->future) {
      if (taken_.insert(definition).second) imports_.push_back(definition);
    }
  }
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
      if (!link->name.empty()) parts_.push_back({nullptr, link->name, link->value});
    }
  };
  for (const v1::Definition* definition : file.chosen) {
    if (IsImport(*definition)) continue;
    follow(definition->first_line());
    parts_.push_back({definition, "", ""});
  }
  follow(std::numeric_limits<int>::max());
}

}  // namespace kernelmill::extractor
