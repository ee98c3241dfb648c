#include "services/extractor/core/link/closure.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/dsl/usual_imports.h"

namespace kernelmill::extractor {
namespace {

// Returns whether the definition's lines include the kernel's.
bool Holds(const v1::Definition& definition, const v1::Kernel& kernel) {
  return definition.first_line() <= kernel.first_line() &&
         kernel.last_line() <= definition.last_line();
}

// Returns the first of `definitions` that begins below the kernel's first line.
Definitions::const_iterator FirstBelow(const Definitions& definitions, const v1::Kernel& kernel) {
  return std::upper_bound(definitions.begin(), definitions.end(), kernel.first_line(),
                          [](int line, const v1::Definition* d) { return line < d->first_line(); });
}

// Returns the definition that is the kernel or holds it; null without one. `outer` do not overlap.
const v1::Definition* DefinitionAround(const Definitions& outer, const v1::Kernel& kernel) {
  const auto below = FirstBelow(outer, kernel);
  if (below == outer.begin()) return nullptr;
  const v1::Definition* last = *std::prev(below);
  return Holds(*last, kernel) ? last : nullptr;
}

// Returns the statement that makes the function a kernel; null without one.
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

// Returns whether a statement may leave the names that it binds as they were.
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

// Returns whether the statement changes the object of the name without binding the name: name.a =
// 1, name[0] = 1, name.append(1), setattr(name, "a", 1).
bool Changes(const v1::Definition& definition, const std::string& name) {
  absl::string_view text = absl::StripLeadingAsciiWhitespace(definition.text());
  if (definition.kind() != v1::Definition::KIND_CONSTANT) return false;
  const bool sets = absl::ConsumePrefix(&text, "setattr(");
  if (!absl::ConsumePrefix(&text, name) || text.empty()) return false;
  return text[0] == '.' || text[0] == '[' || (sets && text[0] == ',');
}

// Returns whether the statement needs an earlier binding of the name: x = x + 1, x[0] = 1, if y: x
// = 1.
bool BuildsOn(const v1::Definition& definition, const std::string& name) {
  return definition.kind() == v1::Definition::KIND_CONSTANT &&
         (MayNotBind(definition) || UsesName(definition, name));
}

// The effect of a module's import statements so far. Drops statements that repeat earlier ones.
class ImportsDone {
 public:
  // Returns false if the statement changes nothing after those before it.
  bool Add(const v1::Definition& statement) {
    bool changes = statement.imported().empty();
    for (const std::string& module : statement.modules()) {
      if (modules_.insert(module).second) changes = true;
    }
    for (const v1::ImportedName& imported : statement.imported()) {
      std::string& meaning = meanings_[imported.name()];
      std::string next = DottedName(imported);
      // A relative import means another module in every folder, and the names of a wildcard are not
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

// Returns an import statement that is in no file.
v1::Definition GenerateImport(const dsl::UsualImport& import) {
  v1::Definition statement;
  statement.set_kind(v1::Definition::KIND_IMPORT);
  statement.set_text(import.GetStatement());
  statement.add_names(std::string(import.name));
  statement.add_modules(std::string(import.module));
  v1::ImportedName& imported = *statement.add_imported();
  imported.set_name(std::string(import.name));
  imported.set_module(std::string(import.module));
  imported.set_member(std::string(import.member));
  return statement;
}

// Returns the import that modules made by types.ModuleType need.
const v1::Definition& ImportOfTypes() {
  static const auto& statement = *new v1::Definition(GenerateImport({"types", "types"}));
  return statement;
}

// Returns the usual import of a name; null if it has none. Such imports are before the first line,
// in their own order.
const v1::Definition* FindUsualDefinition(const std::string& name) {
  static const auto& statements = *new auto([] {
    absl::flat_hash_map<std::string, v1::Definition> all;
    int line = -static_cast<int>(dsl::UsualImports().size());
    for (const dsl::UsualImport& import : dsl::UsualImports()) {
      v1::Definition& statement = all[import.name];
      statement = GenerateImport(import);
      statement.set_first_line(line);
      statement.set_last_line(line++);
    }
    return all;
  }());
  const auto found = statements.find(name);
  return found == statements.end() ? nullptr : &found->second;
}

}  // namespace

// The basic idea, in two steps. First the kernel's own file: FindInText follows the names that the
// kernel reads, and the names that those definitions read, until none is pending; imports from the
// source's own files are put aside. Second the other files: ResolveImports brings each such import
// with everything that it needs, or leaves the import statement and reports the name.
//
// A module is one file, so a name can mean only one thing in it. meanings_ has what each name means
// so far (Claim); an import that would need a second meaning is left. Each definition is taken
// once, so the time is linear in what is taken, and max_bytes bounds that.
//
// The result is ordered as Python would run it: a file's statements in their order, an imported
// file before the statement below its import (Emit).
Closure::Closure(SourceScope& scope, const v1::Kernel& kernel, const KernelText& text,
                 size_t max_bytes, const absl::flat_hash_set<std::string>& left_out)
    : scope_(scope),
      kernel_(kernel),
      text_(scope.GetDefinitions(kernel.path(), kernel.string_begin())),
      around_(DefinitionAround(text_.outer, kernel)),
      owner_(text.owner),
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

// Returns for each free name of the kernel what the module took for it, and its bindings in the
// kernel's file from the top down. For the prompt context.
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

// Returns the wildcard imports of the kernel's file if a missing name may come from one of them.
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

// Follows names until none is pending. Bytes over the limit end the search: the constructor then
// gives up on all of it.
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
    if (Find(name) || IsOwnName(name)) continue;
    if (!has_wildcard && TakeUsualImport(name)) continue;
    missing_.push_back({name, has_wildcard ? kWildcardImport : kUndefined});
  }
  // Free names that were not followed still get their bindings, for the prompt context.
  for (const std::string& name : kernel_.free_names()) {
    if (seen_.insert(name).second) FindUnfollowed(name);
  }
}

// Returns the nearest binding above the kernel without following the names that it uses; null
// without one.
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

// An import statement stays even if its name is left out.
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

// Chooses the bindings that the kernel sees, as the class comment says: upwards from the kernel, as
// long as each builds on the one before it; else the first one below. Returns false if
// the text does not define the name.
bool Closure::Find(const std::string& name) {
  const Definitions& candidates = Named(name);
  const auto below = FirstBelow(candidates, kernel_);
  auto changes = below;  // the first statement that may change the object later
  bool found = false;
  for (auto at = below; at != candidates.begin();) {
    const v1::Definition& definition = **--at;
    if (IsOwn(definition) || !IsUsable(definition)) continue;
    found = true;
    found_[name].push_back(&definition);
    if (TakeImport(definition, name)) break;
    Choose(&definition);
    if (scope_.Loses(definition, name)) missing_.push_back({name, FindLoss(definition, name)});
    if (!BuildsOn(definition, name) || bytes_ > max_bytes_) break;
  }
  for (auto at = below; !found && at != candidates.end(); ++at) {
    if (!IsUsable(**at) || Changes(**at, name)) continue;
    found = true;
    changes = std::next(at);
    found_[name].push_back(*at);
    if (TakeImport(**at, name)) break;
    Choose(*at);
    if (scope_.Loses(**at, name)) missing_.push_back({name, FindLoss(**at, name)});
  }
  if (found) AddChangesBelow(name, changes);
  return found || FindByWildcard(name);
}

// Chooses the statements that change the object, from `at` below the kernel up to the next binding.
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

// Returns the reason why a statement with an import in its blocks loses the name.
absl::string_view Closure::FindLoss(const v1::Definition& definition,
                                    const std::string& name) const {
  const v1::ImportedName* imported = scope_.ImportedWithin(definition, name);
  const bool own = imported != nullptr && scope_.IsOwn(text_, *imported);
  return own ? kRepositoryImport : kPackageImport;
}

// Finds a name that the text does not bind, in the files of its wildcard imports.
bool Closure::FindByWildcard(const std::string& name) {
  if (text_.string_begin > 0 || IsOwnName(name) || !Named(name).empty()) return false;
  const Origin* origin = scope_.Find(text_, name);
  if (origin == nullptr) return false;
  own_imports_.push_back({name, nullptr, origin, nullptr, kWildcardImport, {}});
  return true;
}

// Takes the usual import of a name that code in prose does not bind anywhere.
bool Closure::TakeUsualImport(const std::string& name) {
  if (!kernel_.has_context() || !Named(name).empty()) return false;
  const v1::Definition* statement = FindUsualDefinition(name);
  if (statement == nullptr) return false;
  Choose(statement);
  return true;
}

// A statement whose blocks hold kernels is there twice: in parts for the kernels in it, and as a
// whole for all others.
bool Closure::IsUsable(const v1::Definition& definition) const {
  if (definition.block_first_line() == 0) return true;
  const bool in_block = definition.block_first_line() <= kernel_.first_line() &&
                        kernel_.last_line() <= definition.block_last_line();
  return in_block != IsWholeBlock(definition);
}

// Returns whether the definition is the kernel's own statement. A class around the kernel does not
// count unless it is the kernel's text, because a method may name its class.
bool Closure::IsOwn(const v1::Definition& definition) const {
  if (&definition != around_) return false;
  return definition.kind() != v1::Definition::KIND_CLASS || &definition == owner_;
}

// Returns whether the kernel's text binds the name.
bool Closure::IsOwnName(const std::string& name) const {
  return name == (owner_ == nullptr ? kernel_.name() : owner_->names(0));
}

// Puts an import from the source's own files aside for the second step.
bool Closure::TakeImport(const v1::Definition& definition, const std::string& name) {
  const v1::ImportedName* imported = scope_.ImportedAs(definition, name);
  if (imported == nullptr || !scope_.IsOwn(text_, *imported)) return false;
  const Origin* origin = scope_.FindImported(text_, *imported);
  const TextDefinitions* module =
      origin == nullptr ? scope_.ImportedModule(text_, *imported) : nullptr;
  own_imports_.push_back({name, &definition, origin, module, kRepositoryImport, {}});
  return true;
}

// Takes a definition of the kernel's own file, and needs what it uses.
void Closure::Choose(const v1::Definition* definition) {
  if (!taken_.insert(definition).second) return;
  files_[&text_].chosen.push_back(definition);
  bytes_ += definition->text().size();
  for (const std::string& use : scope_.GetNames(*definition)) Need(use);
}

// Leaves the module with the kernel only, and all its free names missing.
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

// Orders the parts, and puts imports first: those from __future__, then the rest, without
// repetitions.
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

// Emits what was chosen of a file in the file's order, and before each statement the files that are
// imported on lines up to it. Files that import one another end the recursion at the first one.
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

// Makes the modules of a dotted name before their member is assigned.
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

namespace {

// Definitions of other files in one module. Also bounds the depth of the recursion over files.
constexpr size_t kMaxOthers = 1024;

// Returns the part of a name before its members: m of m.f.
std::string Head(const std::string& name) { return name.substr(0, name.find('.')); }

// Returns the line on which the text imports the name.
int ImportLine(const TextDefinitions& text, const std::string& name) {
  const auto found = text.importable.find(name);
  return found == text.importable.end() ? 0 : found->second.front()->first_line();
}

// Returns the key of a module, to compare with Origin.key.
std::string ModuleKey(const TextDefinitions& module) {
  return absl::StrCat("module ", module.path);
}

}  // namespace

// All that one import would bring into the module. It is collected here first, and committed only
// if every part of it can come: half of an import is of no use.
struct Closure::Addition {
  absl::flat_hash_map<std::string, std::string> meanings;
  std::vector<std::pair<const TextDefinitions*, const v1::Definition*>> definitions;
  absl::flat_hash_set<const v1::Definition*> taken;
  std::vector<std::pair<const TextDefinitions*, Link>> links;
  std::vector<std::pair<const TextDefinitions*, std::string>> pending;
  absl::flat_hash_set<std::pair<const TextDefinitions*, std::string>> seen;
  size_t bytes = 0;
  bool too_large = false;
};

// Resolves imports in the order of their names, so that the result does not depend on hash maps. An
// import that fits is committed at once, and later ones must agree with it.
void Closure::ResolveImports(const KernelText& text) {
  std::sort(own_imports_.begin(), own_imports_.end(),
            [](const Import& a, const Import& b) { return a.name < b.name; });
  for (Import& import : own_imports_) {
    if (import.origin != nullptr && !scope_.Closes(*import.origin)) import.origin = nullptr;
  }
  const MembersRead read = ReadMembers(text);
  ClaimOwnNames();
  for (Import& import : own_imports_) {
    Addition addition;
    const bool fits =
        import.module == nullptr ? Add(import, addition) : AddModule(import, read, addition);
    bytes_ += addition.bytes;
    if (fits) {
      Commit(std::move(addition));
    } else {
      Leave(import, addition.too_large ? kTooLarge : import.reason);
    }
  }
  for (const v1::Definition* definition : Wildcards()) {
    if (bytes_ > max_bytes_) break;
    Choose(definition);
  }
}

// Keeps the import statement as it is, so that no other file may bind the name.
void Closure::Leave(Import& import, absl::string_view reason) {
  import.taken.clear();
  missing_.push_back({import.name, reason});
  if (import.module != nullptr) meanings_[import.name] = "";
  if (import.statement != nullptr) Choose(import.statement);
}

// Returns, for each imported module, the members that the kernel's file reads of it, and whether it
// is read only by members.
Closure::MembersRead Closure::ReadMembers(const KernelText& text) {
  MembersRead read;
  for (const Import& import : own_imports_) {
    if (import.module != nullptr) read.try_emplace(import.name, true, Names());
  }
  if (read.empty()) return read;
  const auto add = [&](const auto& uses, const MemberReads& reads) {
    for (const std::string& use : uses) {
      const auto at = read.find(use);
      if (at == read.end()) continue;
      const std::vector<std::string>* chains = reads.Find(use);
      at->second.first = at->second.first && chains != nullptr;
      if (chains != nullptr) at->second.second.insert(chains->begin(), chains->end());
    }
  };
  add(text.names, MemberReads(text.text));
  for (const v1::Definition* definition : files_[&text_].chosen) {
    const SourceScope::Names& uses = scope_.GetNames(*definition);
    const bool reads = std::any_of(uses.begin(), uses.end(),
                                   [&](const std::string& use) { return read.contains(use); });
    if (reads) add(uses, scope_.GetReads(*definition));
  }
  if (applied_ != nullptr) add(applied_->uses(), scope_.GetReads(*applied_));
  return read;
}

// Claims the names of the kernel's own text, and those that mean nothing in the module: no other
// file may bind them to anything else.
void Closure::ClaimOwnNames() {
  for (const v1::Definition* definition : files_[&text_].chosen) {
    for (const std::string& name : definition->names()) meanings_[name] = MakeKey(text_, name);
  }
  for (const Missing& missing : missing_) meanings_[missing.name] = "";
  for (const Import& import : own_imports_) {
    meanings_[import.name] = import.origin != nullptr   ? import.origin->key
                             : import.module != nullptr ? ModuleKey(*import.module)
                                                        : "";
  }
  if (applied_ != nullptr) {
    for (const std::string& name : applied_->names()) meanings_[name] = MakeKey(text_, name);
  }
  const std::string& own = owner_ == nullptr ? kernel_.name() : owner_->names(0);
  meanings_[own] = absl::StrCat(text_.path, ":", own);
}

std::string Closure::MakeKey(const TextDefinitions& text, const std::string& name) {
  const Origin* origin = scope_.Find(text, name);
  return origin == nullptr ? absl::StrCat(text.path, ":", name) : origin->key;
}

// Adds a plain import. If the module calls the object by another name than its own file, an
// assignment is generated.
bool Closure::Add(Import& import, Addition& addition) {
  if (import.origin == nullptr) return false;
  const Origin& origin = *import.origin;
  Link link = {import.statement == nullptr ? 0 : import.statement->first_line(), origin.text, "",
               ""};
  if (import.name != origin.name) {
    link.name = import.name;
    link.value = origin.name;
  }
  addition.links.emplace_back(&text_, std::move(link));
  import.taken.emplace_back(import.name, &origin);
  return AddName(*origin.text, origin.name, addition) && AddPending(addition);
}

// Adds the members of an imported module that the texts read. The kernel must read only members: a
// module by itself could be asked for any of them.
bool Closure::AddModule(Import& import, const MembersRead& read, Addition& addition) {
  const auto& [by_members, chains] = read.at(import.name);
  if (!by_members || chains.empty()) return false;
  for (const std::string& chain : std::set<std::string>(chains.begin(), chains.end())) {
    const std::optional<SourceScope::Member> member = scope_.FindMember(*import.module, chain);
    if (!member || !scope_.Closes(*member->origin)) return false;
    const std::string name = absl::StrCat(import.name, ".", member->name);
    if (!addition.seen.emplace(&text_, name).second) continue;
    if (!ClaimModules(*import.module, name, addition) ||
        !AddOrigin(text_, name, *member->origin, import.statement->first_line(), addition)) {
      return false;
    }
    import.taken.emplace_back(name, member->origin);
  }
  return AddPending(addition);
}

// Adds what the added definitions use, until nothing is pending. Returns false if one of them
// cannot come along.
bool Closure::AddPending(Addition& addition) {
  while (!addition.pending.empty()) {
    const auto [user, name] = std::move(addition.pending.back());
    addition.pending.pop_back();
    if (!AddName(*user, name, addition)) return false;
  }
  return true;
}

// Adds the meaning that the name has in the file that uses it. Returns false if it cannot come
// along.
bool Closure::AddName(const TextDefinitions& user, const std::string& name, Addition& addition) {
  if (!addition.seen.emplace(&user, name).second) return true;
  const Origin* origin = scope_.Find(user, name);
  if (origin == nullptr) return false;
  const std::string head = Head(name);
  if (head != name && !ClaimModules(*scope_.FindModule(user, head), name, addition)) return false;
  return AddOrigin(user, name, *origin, ImportLine(user, head), addition);
}

// Adds an origin under the name that the user gives it. `line` is the user's import. If the names
// differ, an assignment is generated at that line.
bool Closure::AddOrigin(const TextDefinitions& user, const std::string& name, const Origin& origin,
                        int line, Addition& addition) {
  if (!Claim(name, origin.key, addition) || !Claim(origin.name, origin.key, addition)) return false;
  const bool renamed = name != origin.name;
  if (origin.text != &user) {
    addition.links.push_back(
        {&user, {line, origin.text, renamed ? name : "", renamed ? origin.name : ""}});
  } else if (renamed) {
    return false;  // a module that reads its own members by its name
  }
  const Definitions& bindings = SourceScope::GetBindings(origin);
  // Other files see all bindings of a name in the kernel's text, but the module has only those that
  // the kernel sees. They are the same only if there is just one.
  if (origin.text == &text_ && bindings.size() > 1) return false;
  return std::all_of(bindings.begin(), bindings.end(), [&](const v1::Definition* definition) {
    return AddDefinition(*definition, *origin.text, addition);
  });
}

// Claims the names that the assignment of a member needs: for m.sub.f the modules m and m.sub, and
// Python's types.
bool Closure::ClaimModules(const TextDefinitions& module, absl::string_view name,
                           Addition& addition) {
  if (!Claim("types", "=types", addition)) return false;
  const std::string key = ModuleKey(module);
  const size_t head = name.find('.');
  for (size_t dot = head; dot != absl::string_view::npos; dot = name.find('.', dot + 1)) {
    const std::string part(name.substr(0, dot));
    if (!Claim(part, absl::StrCat(key, name.substr(head, dot - head)), addition)) return false;
  }
  return true;
}

// Adds a definition and all names that it binds. Returns false if a name has another meaning
// already, or the addition is too large.
bool Closure::AddDefinition(const v1::Definition& definition, const TextDefinitions& text,
                            Addition& addition) {
  if (taken_.contains(&definition) || !addition.taken.insert(&definition).second) return true;
  if (&text == &text_ && (IsOwn(definition) || !IsUsable(definition))) return false;
  addition.bytes += definition.text().size();
  addition.definitions.emplace_back(&text, &definition);
  if (bytes_ + addition.bytes > max_bytes_ || others_ + addition.definitions.size() > kMaxOthers) {
    addition.too_large = true;
    return false;
  }
  for (std::string& use : scope_.GetUses(text, definition)) {
    addition.pending.emplace_back(&text, std::move(use));
  }
  return std::all_of(
      definition.names().begin(), definition.names().end(),
      [&](const std::string& name) { return Claim(name, MakeKey(text, name), addition); });
}

// Notes that a name means `key` in the module. Returns false if it means something else already:
// one module cannot have both.
bool Closure::Claim(const std::string& name, const std::string& key, Addition& addition) const {
  const auto claimed = meanings_.find(name);
  if (claimed != meanings_.end()) return claimed->second == key;
  return addition.meanings.try_emplace(name, key).first->second == key;
}

// Takes an addition over into the module.
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

}  // namespace kernelmill::extractor
