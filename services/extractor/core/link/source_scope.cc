#include "services/extractor/core/link/source_scope.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {

using python::IndentationOf;

namespace {

bool BelowOther(const v1::Definition* a, const v1::Definition* b) {
  return a->first_line() < b->first_line();
}

// What other files see of a statement that was taken apart is the whole of it.
bool IsImportable(const v1::Definition& definition) {
  if (definition.string_begin() > 0 || definition.in_function()) return false;
  return definition.block_first_line() == 0 || IsWholeBlock(definition);
}

void AddExported(const v1::Definition& definition, TextDefinitions& text) {
  const bool known = std::all_of(definition.uses().begin(), definition.uses().end(),
                                 [](const std::string& use) { return use == "__all__"; });
  text.all_known = known && (text.all_known || !text.has_all);
  text.has_all = true;
  text.exported.insert(definition.exported().begin(), definition.exported().end());
}

// Whether one import alone in the blocks of a statement binds the name.
bool IsOneImport(const v1::Definition& definition, const std::string& name) {
  return std::count_if(definition.imported().begin(), definition.imported().end(),
                       [&](const v1::ImportedName& each) { return each.name() == name; }) == 1;
}

// Whether a wildcard import of the file brings the name, if the file has it.
bool Exports(const TextDefinitions& text, const std::string& name) {
  if (text.has_all) return text.all_known && text.exported.contains(name);
  return !absl::StartsWith(name, "_");
}

}  // namespace

std::string DottedName(const v1::ImportedName& imported) {
  if (imported.member().empty()) return imported.module();
  return absl::StrCat(imported.module(), ".", imported.member());
}

bool IsWholeBlock(const v1::Definition& definition) {
  return definition.block_first_line() > 0 &&
         definition.block_first_line() == definition.first_line() &&
         definition.block_last_line() == definition.last_line();
}

SourceScope::SourceScope(std::vector<v1::Definition> definitions, const ImportPaths& paths)
    : definitions_(std::move(definitions)), paths_(paths) {
  for (const v1::Definition& definition : definitions_) AddToText(definition);
  for (auto& [key, text] : texts_) {
    for (Definitions* all : {&text->all, &text->outer}) {
      std::stable_sort(all->begin(), all->end(), BelowOther);
    }
    for (DefinitionsByName* names : {&text->by_name, &text->importable}) {
      for (auto& [name, bindings] : *names) {
        std::stable_sort(bindings.begin(), bindings.end(), BelowOther);
      }
    }
  }
  FindDroppable();
  FindOpen();
  KeepWhatCloses();
}

void SourceScope::AddToText(const v1::Definition& definition) {
  auto& entry = texts_[std::make_pair(definition.path(), definition.string_begin())];
  if (entry == nullptr) entry = std::make_unique<TextDefinitions>();
  TextDefinitions& text = *entry;
  text.path = definition.path();
  for (const v1::ImportedName& imported : definition.imported()) {
    imported_[std::make_pair(&definition, absl::string_view(imported.name()))] = &imported;
  }
  text.string_begin = definition.string_begin();
  LiveImports live = LiveImportsOf(definition);
  std::erase_if(live.needed, [](const std::string& module) { return IsAtHand(module); });
  if (!live.needed.empty() || !live.lost.empty()) {
    absent_[&definition] =
        std::make_unique<const Absent>(Absent{std::move(live.needed), std::move(live.lost)});
  }
  if (!IsWholeBlock(definition)) {
    text.all.push_back(&definition);
    const bool inner = IsImport(definition) && IndentationOf(definition.text()) > 0;
    if (!inner) text.outer.push_back(&definition);
  }
  if (definition.modules_size() == 1 && definition.modules(0) == "__future__") {
    text.future.push_back(&definition);
  }
  for (const std::string& name : definition.names()) {
    text.by_name[name].push_back(&definition);
    if (IsImportable(definition)) text.importable[name].push_back(&definition);
    if (name == "__all__") AddExported(definition, text);
  }
}

const std::vector<std::string>& SourceScope::AbsentModulesOf(
    const v1::Definition& definition) const {
  static const auto& none = *new std::vector<std::string>();
  const auto found = absent_.find(&definition);
  return found == absent_.end() ? none : found->second->modules;
}

bool SourceScope::Loses(const v1::Definition& definition, const std::string& name) const {
  const auto found = absent_.find(&definition);
  return found != absent_.end() && found->second->lost.contains(name);
}

const v1::ImportedName* SourceScope::ImportedAs(const v1::Definition& definition,
                                                const std::string& name) const {
  return IsImport(definition) ? ImportedWithin(definition, name) : nullptr;
}

const v1::ImportedName* SourceScope::ImportedWithin(const v1::Definition& definition,
                                                    const std::string& name) const {
  const auto found = imported_.find(std::make_pair(&definition, absl::string_view(name)));
  return found == imported_.end() ? nullptr : found->second;
}

const TextDefinitions& SourceScope::TextOf(const std::string& path, int64_t string_begin) const {
  static const auto& none = *new TextDefinitions();
  const auto found = texts_.find(std::make_pair(path, string_begin));
  return found == texts_.end() ? none : *found->second;
}

const Origin* SourceScope::Find(const TextDefinitions& text, const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return FindWithin(text, name, 0);
  const TextDefinitions* module = FindModule(text, name.substr(0, dot));
  if (module == nullptr) return nullptr;
  const std::optional<Member> member = FindMember(*module, absl::string_view(name).substr(dot + 1));
  return member ? member->origin : nullptr;
}

const Origin* SourceScope::FindImported(const TextDefinitions& text,
                                        const v1::ImportedName& imported) {
  const TextDefinitions* file = FileOf(text, imported);
  return file == nullptr || imported.member().empty() ? nullptr : Find(*file, imported.member());
}

bool SourceScope::IsOwn(const TextDefinitions& text, const v1::ImportedName& imported) const {
  return text.string_begin == 0 &&
         paths_.Find(text.path, imported.level(), imported.module()).in_source;
}

const Definitions& SourceScope::BindingsOf(const Origin& origin) {
  static const auto& none = *new Definitions();
  const auto found = origin.text->importable.find(origin.name);
  return found == origin.text->importable.end() ? none : found->second;
}

bool SourceScope::Closes(const Origin& origin) const {
  const Definitions& bindings = BindingsOf(origin);
  return std::none_of(bindings.begin(), bindings.end(), [&](const v1::Definition* d) {
    return open_.contains(d) || Loses(*d, origin.name);
  });
}

// The file that an import statement of the text loads, if anything is known of it.
const TextDefinitions* SourceScope::FileOf(const TextDefinitions& text,
                                           const v1::ImportedName& imported) const {
  return FileAt(paths_.Find(text.path, imported.level(), imported.module()).path);
}

const TextDefinitions* SourceScope::FileAt(const std::string& path) const {
  const auto found = texts_.find(std::make_pair(path, int64_t{0}));
  return path.empty() || found == texts_.end() ? nullptr : found->second.get();
}

const Origin* SourceScope::FindWithin(const TextDefinitions& text, const std::string& name,
                                      int depth) {
  if (depth > kMaxDepth) return nullptr;
  const auto [at, inserted] = origins_.try_emplace(Key(&text, name), nullptr);
  if (!inserted) return at->second.get();  // null also where files import it from one another
  std::optional<Origin> origin = Resolve(text, name, depth);
  if (!origin) return nullptr;
  auto& entry = origins_[Key(&text, name)];
  entry = std::make_unique<const Origin>(*std::move(origin));
  return entry.get();
}

// Equal where import statements load the same.
std::string SourceScope::KeyOf(const TextDefinitions& text,
                               const v1::ImportedName& imported) const {
  if (!IsOwn(text, imported)) return DottedName(imported);
  const std::string path = paths_.Find(text.path, imported.level(), imported.module()).path;
  if (path.empty() && imported.level() == 0) return DottedName(imported);
  if (path.empty()) return absl::StrCat(text.path, ":", imported.name());
  return absl::StrCat(path, ":", imported.member());
}

std::optional<Origin> SourceScope::Resolve(const TextDefinitions& text, const std::string& name,
                                           int depth) {
  const auto found = text.importable.find(name);
  if (found == text.importable.end()) return ResolveWildcards(text, name, depth);
  const Definitions& bindings = found->second;
  if (bindings.size() > kMaxBindings) return std::nullopt;
  Origin origin = {&text, name, absl::StrCat(text.path, ":", name)};
  for (const v1::Definition* definition : bindings) {
    const v1::ImportedName* imported = ImportedWithin(*definition, name);
    if (imported == nullptr) continue;
    if (!IsImport(*definition) || !IsOwn(text, *imported)) {
      const bool one = bindings.size() == 1 && IsOneImport(*definition, name);
      if (one) origin.key = absl::StrCat("=", KeyOf(text, *imported));
      continue;
    }
    const TextDefinitions* file = FileOf(text, *imported);
    if (bindings.size() > 1 || file == nullptr || imported->member().empty()) return std::nullopt;
    const Origin* there = FindWithin(*file, imported->member(), depth + 1);
    if (there == nullptr) return std::nullopt;
    return *there;
  }
  return origin;
}

// The last wildcard import counts that brings the name. Of a module that is not known any may.
std::optional<Origin> SourceScope::ResolveWildcards(const TextDefinitions& text,
                                                    const std::string& name, int depth) {
  const auto found = text.importable.find("*");
  if (found == text.importable.end() || name == "*") return std::nullopt;
  for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
    const v1::ImportedName* imported = ImportedAs(**at, "*");
    const TextDefinitions* file = imported == nullptr ? nullptr : FileOf(text, *imported);
    if (file == nullptr) return std::nullopt;
    if (!Exports(*file, name)) continue;
    const Origin* there = FindWithin(*file, name, depth + 1);
    if (there != nullptr) return *there;
  }
  return std::nullopt;
}

void SourceScope::FindOpen() {
  absl::flat_hash_map<const v1::Definition*, Definitions> users;
  Definitions pending;
  const auto open = [&](const v1::Definition* definition) {
    if (open_.insert(definition).second) pending.push_back(definition);
  };
  for (const v1::Definition& definition : definitions_) {
    if (!IsImportable(definition)) continue;
    if (!AbsentModulesOf(definition).empty()) open(&definition);
    const TextDefinitions& text = TextOf(definition.path(), 0);
    for (const std::string& use : UsesOf(text, definition)) {
      const Origin* origin = Find(text, use);
      if (origin == nullptr) {
        open(&definition);
        break;
      }
      for (const v1::Definition* needed : BindingsOf(*origin)) {
        users[needed].push_back(&definition);
        if (Loses(*needed, origin->name)) open(&definition);
      }
    }
  }
  while (!pending.empty()) {
    const v1::Definition* definition = pending.back();
    pending.pop_back();
    const auto found = users.find(definition);
    if (found == users.end()) continue;
    for (const v1::Definition* user : found->second) open(user);
  }
}

}  // namespace kernelmill::extractor
