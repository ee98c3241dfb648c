#include "services/extractor/core/link/source_scope.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {

using python::CountIndentation;

namespace {

bool BelowOther(const v1::Definition* a, const v1::Definition* b) {
  return a->first_line() < b->first_line();
}

// Returns whether other files can see the definition. If a statement is there in parts and as a
// whole, they see the whole.
bool IsImportable(const v1::Definition& definition) {
  if (definition.string_begin() > 0 || definition.in_function()) return false;
  return definition.block_first_line() == 0 || IsWholeBlock(definition);
}

// Notes what __all__ lists. A file may assign or extend it several times; all_known is false if one
// of them uses other names.
void AddExported(const v1::Definition& definition, TextDefinitions& text) {
  const bool known = std::all_of(definition.uses().begin(), definition.uses().end(),
                                 [](const std::string& use) { return use == "__all__"; });
  text.all_known = known && (text.all_known || !text.has_all);
  text.has_all = true;
  text.exported.insert(definition.exported().begin(), definition.exported().end());
}

// Returns whether exactly one import in the blocks of a statement binds the name.
bool IsOneImport(const v1::Definition& definition, const std::string& name) {
  return std::count_if(definition.imported().begin(), definition.imported().end(),
                       [&](const v1::ImportedName& each) { return each.name() == name; }) == 1;
}

// Returns whether a wildcard import of the file brings the name, provided that the file has it.
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

// The order matters: decorators that may be dropped must be known before definitions are checked,
// since these are checked without them; and only when it is known what closes can such decorators
// be taken back.
SourceScope::SourceScope(std::vector<v1::Definition> definitions, const ImportPaths& paths,
                         const dsl::LanguageSet& wanted)
    : index_(std::make_shared<Index>()), paths_(paths) {
  index_->definitions = std::move(definitions);
  index_->wanted = wanted;
  for (const v1::Definition& definition : index_->definitions) AddToText(definition);
  for (auto& [key, text] : index_->texts) {
    for (Definitions* all : {&text->all, &text->outer}) {
      std::stable_sort(all->begin(), all->end(), BelowOther);
    }
    for (DefinitionsByName* names : {&text->by_name, &text->importable}) {
      for (auto& [name, bindings] : *names) {
        std::stable_sort(bindings.begin(), bindings.end(), BelowOther);
      }
    }
  }
  FindDroppableDecorators();
  FindOpen();
  KeepWhatCloses();
}

// Puts a definition into the indexes of its text. A whole statement that is also there in parts is
// importable, but its parts are what kernels of the file see.
void SourceScope::AddToText(const v1::Definition& definition) {
  auto& entry = index_->texts[std::make_pair(definition.path(), definition.string_begin())];
  if (entry == nullptr) entry = std::make_unique<TextDefinitions>();
  TextDefinitions& text = *entry;
  text.path = definition.path();
  for (const v1::ImportedName& imported : definition.imported()) {
    index_->imported[std::make_pair(&definition, absl::string_view(imported.name()))] = &imported;
  }
  text.string_begin = definition.string_begin();
  LiveImports live = FindLiveImports(definition);
  std::erase_if(live.needed, [this](const std::string& module) {
    return IsAtHand(module) || index_->wanted.ComesWithOne(module);
  });
  if (!live.needed.empty() || !live.lost.empty()) {
    index_->absent[&definition] =
        std::make_unique<const Absent>(Absent{std::move(live.needed), std::move(live.lost)});
  }
  if (!IsWholeBlock(definition)) {
    text.all.push_back(&definition);
    const bool inner = IsImport(definition) && CountIndentation(definition.text()) > 0;
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

const std::vector<std::string>& SourceScope::GetAbsentModules(
    const v1::Definition& definition) const {
  static const auto& none = *new std::vector<std::string>();
  const auto found = index_->absent.find(&definition);
  return found == index_->absent.end() ? none : found->second->modules;
}

bool SourceScope::Loses(const v1::Definition& definition, const std::string& name) const {
  const auto found = index_->absent.find(&definition);
  return found != index_->absent.end() && found->second->lost.contains(name);
}

const v1::ImportedName* SourceScope::ImportedAs(const v1::Definition& definition,
                                                const std::string& name) const {
  return IsImport(definition) ? ImportedWithin(definition, name) : nullptr;
}

const v1::ImportedName* SourceScope::ImportedWithin(const v1::Definition& definition,
                                                    const std::string& name) const {
  const auto found = index_->imported.find(std::make_pair(&definition, absl::string_view(name)));
  return found == index_->imported.end() ? nullptr : found->second;
}

const TextDefinitions& SourceScope::GetDefinitions(const std::string& path,
                                                   int64_t string_begin) const {
  static const auto& none = *new TextDefinitions();
  const auto found = index_->texts.find(std::make_pair(path, string_begin));
  return found == index_->texts.end() ? none : *found->second;
}

// Returns the definition that a name of the text's module level means, after imports were followed
// through the source; null if it is not known. A dotted name is a member of an imported module.
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
  const TextDefinitions* file = FindFile(text, imported);
  return file == nullptr || imported.member().empty() ? nullptr : Find(*file, imported.member());
}

bool SourceScope::IsOwn(const TextDefinitions& text, const v1::ImportedName& imported) const {
  if (imported.level() == 0 && index_->wanted.ComesWithOne(imported.module())) return false;
  return text.string_begin == 0 &&
         paths_.Find(text.path, imported.level(), imported.module()).in_source;
}

const Definitions& SourceScope::GetBindings(const Origin& origin) {
  static const auto& none = *new Definitions();
  const auto found = origin.text->importable.find(origin.name);
  return found == origin.text->importable.end() ? none : found->second;
}

// Returns whether the object and all that it needs can be brought into a module: no binding of it
// is open.
bool SourceScope::Closes(const Origin& origin) const {
  const Definitions& bindings = GetBindings(origin);
  return std::none_of(bindings.begin(), bindings.end(), [&](const v1::Definition* d) {
    return index_->open.contains(d) || Loses(*d, origin.name);
  });
}

// Returns the file that an import statement of the text loads; null if it has no definitions.
const TextDefinitions* SourceScope::FindFile(const TextDefinitions& text,
                                             const v1::ImportedName& imported) const {
  return FileAt(paths_.Find(text.path, imported.level(), imported.module()).path);
}

const TextDefinitions* SourceScope::FileAt(const std::string& path) const {
  const auto found = index_->texts.find(std::make_pair(path, int64_t{0}));
  return path.empty() || found == index_->texts.end() ? nullptr : found->second.get();
}

void SourceScope::ForgetMissing() {
  absl::erase_if(cache_.origins, [](const auto& entry) { return entry.second == nullptr; });
}

// Finds a name's origin, with a cache. The entry is null during the search, so a circle of imports
// ends with null. After a circle, the cache depends on the name that was asked for first: so views
// do not share their caches.
const Origin* SourceScope::FindWithin(const TextDefinitions& text, const std::string& name,
                                      int depth) {
  if (depth > kMaxDepth) return nullptr;
  const Key key(&text, name);
  if (shared_ != nullptr) {
    const auto known = shared_->origins.find(key);
    if (known != shared_->origins.end()) return known->second.get();
  }
  const auto [at, inserted] = cache_.origins.try_emplace(key, nullptr);
  if (!inserted) return at->second.get();  // null also for files that import it in a circle
  std::optional<Origin> origin = Resolve(text, name, depth);
  if (!origin) return nullptr;
  auto& entry = cache_.origins[key];
  entry = std::make_unique<const Origin>(*std::move(origin));
  return entry.get();
}

// Returns a key that is equal for import statements that bind the same object.
std::string SourceScope::MakeKey(const TextDefinitions& text,
                                 const v1::ImportedName& imported) const {
  if (!IsOwn(text, imported)) return DottedName(imported);
  const std::string path = paths_.Find(text.path, imported.level(), imported.module()).path;
  if (path.empty() && imported.level() == 0) return DottedName(imported);
  if (path.empty()) return absl::StrCat(text.path, ":", imported.name());
  return absl::StrCat(path, ":", imported.member());
}

// Resolves a name of the module level. A name that is imported from the source leads on to the
// other file. A name that is imported from elsewhere, and only once, has its dotted name as the
// key, so that two files that import it alike mean the same.
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
      if (one) origin.key = absl::StrCat("=", MakeKey(text, *imported));
      continue;
    }
    const TextDefinitions* file = FindFile(text, *imported);
    if (bindings.size() > 1 || file == nullptr || imported->member().empty()) return std::nullopt;
    const Origin* there = FindWithin(*file, imported->member(), depth + 1);
    if (there == nullptr) return std::nullopt;
    return *there;
  }
  return origin;
}

// Resolves a name by the last wildcard import that brings it. Gives up at a module that is not
// known, because it may bring any name.
std::optional<Origin> SourceScope::ResolveWildcards(const TextDefinitions& text,
                                                    const std::string& name, int depth) {
  const auto found = text.importable.find("*");
  if (found == text.importable.end() || name == "*") return std::nullopt;
  for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
    const v1::ImportedName* imported = ImportedAs(**at, "*");
    const TextDefinitions* file = imported == nullptr ? nullptr : FindFile(text, *imported);
    if (file == nullptr) return std::nullopt;
    if (!Exports(*file, name)) continue;
    const Origin* there = FindWithin(*file, name, depth + 1);
    if (there != nullptr) return *there;
  }
  return std::nullopt;
}

// Marks definitions that lack something themselves as open, and notes the users of each. Then walks
// from each open definition to its users until no more become open. Each definition is visited
// once.
void SourceScope::FindOpen() {
  absl::flat_hash_map<const v1::Definition*, Definitions> users;
  Definitions pending;
  const auto open = [&](const v1::Definition* definition) {
    if (index_->open.insert(definition).second) pending.push_back(definition);
  };
  for (const v1::Definition& definition : index_->definitions) {
    if (!IsImportable(definition)) continue;
    if (!GetAbsentModules(definition).empty()) open(&definition);
    const TextDefinitions& text = GetDefinitions(definition.path(), 0);
    for (const std::string& use : GetUses(text, definition)) {
      const Origin* origin = Find(text, use);
      if (origin == nullptr) {
        open(&definition);
        break;
      }
      for (const v1::Definition* needed : GetBindings(*origin)) {
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

namespace {

bool IsPackage(const TextDefinitions& text) {
  return text.path == "__init__.py" || absl::EndsWith(text.path, "/__init__.py");
}

}  // namespace

const TextDefinitions* SourceScope::FindModule(const TextDefinitions& text,
                                               const std::string& name) {
  return FindModuleWithin(text, name, 0);
}

const TextDefinitions* SourceScope::ImportedModule(const TextDefinitions& text,
                                                   const v1::ImportedName& imported) {
  return ImportedModuleWithin(text, imported, 0);
}

const TextDefinitions* SourceScope::FindModuleWithin(const TextDefinitions& text,
                                                     const std::string& name, int depth) {
  const auto bindings = text.importable.find(name);
  if (bindings == text.importable.end() || bindings->second.size() != 1) return nullptr;
  const v1::ImportedName* imported = ImportedAs(*bindings->second.front(), name);
  if (imported == nullptr || depth > kMaxDepth) return nullptr;
  const Key key(&text, name);
  if (shared_ != nullptr) {
    const auto known = shared_->modules.find(key);
    if (known != shared_->modules.end()) return known->second;
  }
  const auto [at, inserted] = cache_.modules.try_emplace(key, nullptr);
  if (!inserted) return at->second;  // null also for files that import it in a circle
  const TextDefinitions* module = ImportedModuleWithin(text, *imported, depth);
  cache_.modules[key] = module;
  return module;
}

// A name in a package's __init__.py takes precedence over a file of that name in the package.
const TextDefinitions* SourceScope::ImportedModuleWithin(const TextDefinitions& text,
                                                         const v1::ImportedName& imported,
                                                         int depth) {
  if (!IsOwn(text, imported)) return nullptr;
  const TextDefinitions* file = FindFile(text, imported);
  const std::string& member = imported.member();
  if (member.empty()) {
    return ModuleAt(paths_.Find(text.path, imported.level(), imported.module()).path);
  }
  if (file != nullptr && file != &text) {  // a package that imports from itself means its own files
    if (file->importable.contains(member)) return FindModuleWithin(*file, member, depth + 1);
    if (FindWithin(*file, member, 0) != nullptr) return nullptr;
  }
  const bool bare = imported.module().empty();
  const std::string dotted = bare ? member : absl::StrCat(imported.module(), ".", member);
  return ModuleAt(paths_.Find(text.path, imported.level(), dotted).path);
}

// Returns an empty module for a file without definitions, since its submodules can be had.
const TextDefinitions* SourceScope::ModuleAt(const std::string& path) {
  const TextDefinitions* known = FileAt(path);
  if (known != nullptr || path.empty()) return known;
  if (shared_ != nullptr) {
    const auto found = shared_->bare_modules.find(path);
    if (found != shared_->bare_modules.end()) return found->second.get();
  }
  auto& bare = cache_.bare_modules[path];
  if (bare == nullptr)
    bare = std::make_unique<const TextDefinitions>(TextDefinitions{.path = path});
  return bare.get();
}

// Walks along the chain from module to module, until a part names an object.
std::optional<SourceScope::Member> SourceScope::FindMember(const TextDefinitions& module,
                                                           absl::string_view chain) {
  const TextDefinitions* at = &module;
  size_t begin = 0;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const size_t end = std::min(chain.find('.', begin), chain.size());
    const std::string part(chain.substr(begin, end - begin));
    const Origin* origin = FindWithin(*at, part, 0);
    if (origin != nullptr) return Member{std::string(chain.substr(0, end)), origin};
    const TextDefinitions* next = FindModule(*at, part);
    if (next == nullptr && IsPackage(*at) && !at->importable.contains(part)) {
      next = ModuleAt(paths_.Find(at->path, 1, part).path);
    }
    if (next == nullptr || end == chain.size()) return std::nullopt;
    at = next;
    begin = end + 1;
  }
  return std::nullopt;
}

const MemberReads& SourceScope::GetReads(const v1::Definition& definition) {
  if (shared_ != nullptr) {
    const auto known = shared_->reads.find(&definition);
    if (known != shared_->reads.end()) return *known->second;
  }
  auto& reads = cache_.reads[&definition];
  if (reads == nullptr) reads = std::make_unique<const MemberReads>(GetText(definition));
  return *reads;
}

// Returns the names that a definition uses, with members in place of modules where only members are
// read: "m.f" in place of "m".
std::vector<std::string> SourceScope::GetUses(const TextDefinitions& text,
                                              const v1::Definition& definition) {
  const Names& names = GetNames(definition);
  const bool has_modules = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return FindModule(text, name) != nullptr;
  });
  if (!has_modules) return {names.begin(), names.end()};
  return MembersRead(text, names, GetReads(definition));
}

// A module counts by its members only if each read of it is one of a known member; otherwise the
// module itself is needed.
std::vector<std::string> SourceScope::MembersRead(const TextDefinitions& text, const Names& uses,
                                                  const MemberReads& reads) {
  std::vector<std::string> read;
  for (const std::string& use : uses) {
    const TextDefinitions* module = FindModule(text, use);
    const std::vector<std::string>* chains = module == nullptr ? nullptr : reads.Find(use);
    std::vector<std::string> members;
    for (size_t i = 0; chains != nullptr && i < chains->size(); ++i) {
      const std::optional<Member> member = FindMember(*module, (*chains)[i]);
      if (!member) break;
      members.push_back(absl::StrCat(use, ".", member->name));
    }
    if (chains == nullptr || members.size() != chains->size()) {
      read.push_back(use);
    } else {
      std::move(members.begin(), members.end(), std::back_inserter(read));
    }
  }
  return read;
}

// Returns the module of Triton that an imported name says it is, if no file of the source is the
// module that it comes from; else empty.
std::string SourceScope::NameAtItsWord(const TextDefinitions& text,
                                       const v1::ImportedName& imported) const {
  if (imported.member().empty() || FindFile(text, imported) != nullptr) return "";
  const std::string dotted =
      absl::StrCat(std::string(static_cast<size_t>(imported.level()), '.'), DottedName(imported));
  const std::optional<dsl::SaidName> said = dsl::FindSaidName(dotted);
  return said && said->word_bytes == dotted.size() ? said->resolved : "";
}

// Follows the name through the files of the source to the import of an installed module.
std::string SourceScope::InstalledName(const TextDefinitions& text, const std::string& name) {
  const Origin* origin = nullptr;
  std::string said;
  const auto bindings = text.by_name.find(name);
  if (bindings == text.by_name.end()) {
    origin = Find(text, name);  // a wildcard may bring it
  } else if (bindings->second.size() <= kMaxBindings) {
    for (const v1::Definition* definition : bindings->second) {
      const v1::ImportedName* imported = ImportedWithin(*definition, name);
      if (imported == nullptr) continue;
      if (IsOwn(text, *imported)) origin = FindImported(text, *imported);
      if (origin != nullptr) break;
      if (said.empty()) said = NameAtItsWord(text, *imported);
    }
  }
  if (origin == nullptr) return said;
  for (const v1::Definition* definition : GetBindings(*origin)) {
    const v1::ImportedName* imported = ImportedWithin(*definition, origin->name);
    if (imported == nullptr || IsOwn(*origin->text, *imported)) continue;
    said = NameAtItsWord(*origin->text, *imported);
    if (!said.empty()) return said;
    std::string dotted = DottedName(*imported);
    if (python::IsInstalledModule(dotted)) return dotted;
  }
  return "";
}

// Returns the dotted name outside the source that the text's dotted name means, "triton.jit" for
// "tr.jit"; empty if it means something in the source or is not known.
std::string SourceScope::ResolvedName(const TextDefinitions& text, const std::string& dotted) {
  const std::string head = dotted.substr(0, dotted.find('.'));
  const auto bindings = text.by_name.find(head);
  if (bindings != text.by_name.end() && bindings->second.size() <= kMaxBindings) {
    for (const v1::Definition* definition : bindings->second) {
      const v1::ImportedName* imported = ImportedWithin(*definition, head);
      if (imported == nullptr || IsOwn(text, *imported)) continue;
      const std::string said = NameAtItsWord(text, *imported);
      if (!said.empty()) return said + dotted.substr(head.size());
      // `import a.b` binds a, and code says a.b.
      const bool bare =
          imported->member().empty() && absl::StartsWith(imported->module(), head + ".");
      return bare ? dotted : DottedName(*imported) + dotted.substr(head.size());
    }
  }
  const std::string installed = InstalledName(text, head);
  return installed.empty() ? "" : installed + dotted.substr(head.size());
}

// Returns the decorators above the jit, which the compiler never sees. Those of Triton, except
// autotune and heuristics, always stay.
std::vector<SourceScope::Droppable> SourceScope::GetDroppable(const TextDefinitions& text,
                                                              const DecoratedFunction& function,
                                                              absl::string_view known_jit) {
  std::vector<Droppable> droppable;
  for (const Decorator& decorator : function.decorators) {
    const std::string resolved = ResolvedName(text, decorator.callee);
    const absl::string_view last = LastPart(resolved);
    const bool is_known = !known_jit.empty() && !decorator.callee.empty() &&
                          LastPart(decorator.callee) == LastPart(known_jit);
    // Decorators below the jit change the function that the jit gets, so they always stay.
    if (is_known || !dsl::FindMakerDsl(resolved).empty()) return droppable;
    if (!absl::StartsWith(resolved, "triton.")) {
      droppable.push_back({&decorator, kHostMachinery});
    } else if (last == "autotune") {
      droppable.push_back({&decorator, kAutotuneConfigs});
    } else if (last == "heuristics") {
      droppable.push_back({&decorator, kHeuristics});
    }
  }
  droppable.clear();  // no decorator is a jit
  return droppable;
}

// A function with one decorator has nothing above its jit.
void SourceScope::FindDroppableDecorators() {
  for (const v1::Definition& definition : index_->definitions) {
    if (definition.kind() != v1::Definition::KIND_FUNCTION || definition.string_begin() > 0)
      continue;
    std::optional<DecoratedFunction> parts = ReadDecoratedFunction(definition.text());
    if (!parts || parts->decorators.size() < 2) continue;
    auto function = std::make_unique<Function>();
    function->parts = *std::move(parts);
    function->dropped = GetDroppable(GetDefinitions(definition.path(), 0), function->parts, "");
    if (function->dropped.empty()) continue;
    function->SetRest(definition);
    index_->functions[&definition] = std::move(function);
  }
}

// Keeps droppable decorators that turn out to close. They were left out at first, so that they did
// not make their functions open.
void SourceScope::KeepWhatCloses() {
  std::vector<std::pair<const v1::Definition*, std::vector<Droppable>>> decided;
  for (const v1::Definition& definition : index_->definitions) {
    const auto found = index_->functions.find(&definition);
    if (found == index_->functions.end()) continue;
    const TextDefinitions& text = GetDefinitions(definition.path(), 0);
    std::vector<Droppable> dropped;
    for (const Droppable& each : found->second->dropped) {
      Names uses;
      for (const std::string& use : definition.uses()) {
        if (each.decorator->words.contains(use)) uses.Add(std::string(use));
      }
      const std::vector<std::string> members =
          MembersRead(text, uses, MemberReads(each.decorator->text));
      const bool closes = std::all_of(members.begin(), members.end(), [&](const std::string& use) {
        const Origin* origin = Find(text, use);
        return origin != nullptr && Closes(*origin);
      });
      if (!closes) dropped.push_back(each);
    }
    decided.emplace_back(&definition, std::move(dropped));
  }
  for (auto& [definition, dropped] : decided) {
    Function& function = *index_->functions[definition];
    function.dropped = std::move(dropped);
    function.SetRest(*definition);
    cache_.reads.erase(definition);
  }
}

// Computes the text and the uses that remain without the dropped decorators. A use remains if the
// body or a decorator that is kept may read it.
void SourceScope::Function::SetRest(const v1::Definition& definition) {
  std::vector<TextEdit> edits;
  absl::flat_hash_set<const Decorator*> left_out;
  for (const Droppable& each : dropped) {
    left_out.insert(each.decorator);
    edits.push_back({each.decorator->line_begin, each.decorator->line_end, ""});
  }
  text = ApplyEdits(definition.text(), edits);
  uses.Clear();
  for (const std::string& use : definition.uses()) {
    bool read = parts.words.contains(use);
    for (const Decorator& decorator : parts.decorators) {
      read = read || (!left_out.contains(&decorator) && decorator.words.contains(use));
    }
    if (read) uses.Add(std::string(use));
  }
}

const std::vector<SourceScope::Droppable>& SourceScope::GetDropped(
    const v1::Definition& definition) const {
  static const auto& none = *new std::vector<Droppable>();
  const auto found = index_->functions.find(&definition);
  return found == index_->functions.end() ? none : found->second->dropped;
}

const SourceScope::Names& SourceScope::GetNames(const v1::Definition& definition) const {
  const auto found = index_->functions.find(&definition);
  return found == index_->functions.end() ? definition.uses() : found->second->uses;
}

const std::string& SourceScope::GetText(const v1::Definition& definition) const {
  const auto found = index_->functions.find(&definition);
  return found == index_->functions.end() ? definition.text() : found->second->text;
}

}  // namespace kernelmill::extractor
