// Of SourceScope: names that stand for modules of the source, and what is read of these.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {
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
  const auto [at, inserted] = modules_.try_emplace(Key(&text, name), nullptr);
  if (!inserted) return at->second;  // null also where files import it from one another
  const TextDefinitions* module = ImportedModuleWithin(text, *imported, depth);
  modules_[Key(&text, name)] = module;
  return module;
}

// A package's own name of a member comes before a file of that name.
const TextDefinitions* SourceScope::ImportedModuleWithin(const TextDefinitions& text,
                                                         const v1::ImportedName& imported,
                                                         int depth) {
  if (!IsOwn(text, imported)) return nullptr;
  const TextDefinitions* file = FileOf(text, imported);
  const std::string& member = imported.member();
  if (member.empty()) {
    return ModuleAt(paths_.Find(text.path, imported.level(), imported.module()).path);
  }
  if (file != nullptr && file != &text) {  // a package's import from itself is of what it holds
    if (file->importable.contains(member)) return FindModuleWithin(*file, member, depth + 1);
    if (FindWithin(*file, member, 0) != nullptr) return nullptr;
  }
  const bool bare = imported.module().empty();
  const std::string dotted = bare ? member : absl::StrCat(imported.module(), ".", member);
  return ModuleAt(paths_.Find(text.path, imported.level(), dotted).path);
}

// Of a file that nothing was extracted from too: its submodules can be had.
const TextDefinitions* SourceScope::ModuleAt(const std::string& path) {
  const TextDefinitions* known = FileAt(path);
  if (known != nullptr || path.empty()) return known;
  auto& bare = bare_modules_[path];
  if (bare == nullptr)
    bare = std::make_unique<const TextDefinitions>(TextDefinitions{.path = path});
  return bare.get();
}

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

const MemberReads& SourceScope::ReadsOf(const v1::Definition& definition) {
  auto& reads = reads_[&definition];
  if (reads == nullptr) reads = std::make_unique<const MemberReads>(RestOf(definition));
  return *reads;
}

std::vector<std::string> SourceScope::UsesOf(const TextDefinitions& text,
                                             const v1::Definition& definition) {
  const Names& names = NamesOf(definition);
  const bool has_modules = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return FindModule(text, name) != nullptr;
  });
  if (!has_modules) return {names.begin(), names.end()};
  return MembersRead(text, names, ReadsOf(definition));
}

std::vector<std::string> SourceScope::MembersRead(const TextDefinitions& text, const Names& uses,
                                                  const MemberReads& reads) {
  std::vector<std::string> read;
  for (const std::string& use : uses) {
    const TextDefinitions* module = FindModule(text, use);
    const std::vector<std::string>* chains = module == nullptr ? nullptr : reads.Of(use);
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

std::string SourceScope::InstalledName(const TextDefinitions& text, const std::string& name) {
  const Origin* origin = nullptr;
  const auto bindings = text.by_name.find(name);
  if (bindings == text.by_name.end()) {
    origin = Find(text, name);  // by a wildcard
  } else if (bindings->second.size() <= kMaxBindings) {
    for (const v1::Definition* definition : bindings->second) {
      const v1::ImportedName* imported = ImportedWithin(*definition, name);
      if (imported != nullptr && IsOwn(text, *imported)) origin = FindImported(text, *imported);
      if (origin != nullptr) break;
    }
  }
  if (origin == nullptr) return "";
  for (const v1::Definition* definition : BindingsOf(*origin)) {
    const v1::ImportedName* imported = ImportedWithin(*definition, origin->name);
    if (imported == nullptr || IsOwn(*origin->text, *imported)) continue;
    std::string dotted = DottedName(*imported);
    if (python::IsInstalledModule(dotted)) return dotted;
  }
  return "";
}

}  // namespace kernelmill::extractor
