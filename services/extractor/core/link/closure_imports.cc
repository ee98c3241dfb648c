// Of Closure: what imports from the source's other files bring.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/extractor/core/link/closure.h"

namespace kernelmill::extractor {
namespace {

// Of other files, in one module. It bounds the depth to which files are walked as well.
constexpr size_t kMaxOthers = 1024;

// The part of a name before its members: m of m.f.
std::string HeadOf(const std::string& name) { return name.substr(0, name.find('.')); }

// Where the text imports the name.
int LineOf(const TextDefinitions& text, const std::string& name) {
  const auto found = text.importable.find(name);
  return found == text.importable.end() ? 0 : found->second.front()->first_line();
}

// As Origin.key: of a module.
std::string ModuleKey(const TextDefinitions& module) {
  return absl::StrCat("module ", module.path);
}

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
  bool too_large = false;
};

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

// The statement stays as it is, so that no other file may bind the name.
void Closure::Leave(Import& import, absl::string_view reason) {
  import.taken.clear();
  missing_.push_back({import.name, reason});
  if (import.module != nullptr) meanings_[import.name] = "";
  if (import.statement != nullptr) Choose(import.statement);
}

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
      const std::vector<std::string>* chains = reads.Of(use);
      at->second.first = at->second.first && chains != nullptr;
      if (chains != nullptr) at->second.second.insert(chains->begin(), chains->end());
    }
  };
  add(text.names, MemberReads(text.text));
  for (const v1::Definition* definition : files_[&text_].chosen) {
    const SourceScope::Names& uses = scope_.NamesOf(*definition);
    const bool reads = std::any_of(uses.begin(), uses.end(),
                                   [&](const std::string& use) { return read.contains(use); });
    if (reads) add(uses, scope_.ReadsOf(*definition));
  }
  if (applied_ != nullptr) add(applied_->uses(), scope_.ReadsOf(*applied_));
  return read;
}

// What the names of the kernel's own text mean in its module, and those that mean nothing there:
// no other file may bind them to something else.
void Closure::ClaimOwnNames() {
  for (const v1::Definition* definition : files_[&text_].chosen) {
    for (const std::string& name : definition->names()) meanings_[name] = KeyOf(text_, name);
  }
  for (const Missing& missing : missing_) meanings_[missing.name] = "";
  for (const Import& import : own_imports_) {
    meanings_[import.name] = import.origin != nullptr   ? import.origin->key
                             : import.module != nullptr ? ModuleKey(*import.module)
                                                        : "";
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

bool Closure::AddPending(Addition& addition) {
  while (!addition.pending.empty()) {
    const auto [user, name] = std::move(addition.pending.back());
    addition.pending.pop_back();
    if (!AddName(*user, name, addition)) return false;
  }
  return true;
}

// Adds what the name means to the file that uses it. False: it cannot come with the rest.
bool Closure::AddName(const TextDefinitions& user, const std::string& name, Addition& addition) {
  if (!addition.seen.emplace(&user, name).second) return true;
  const Origin* origin = scope_.Find(user, name);
  if (origin == nullptr) return false;
  const std::string head = HeadOf(name);
  if (head != name && !ClaimModules(*scope_.FindModule(user, head), name, addition)) return false;
  return AddOrigin(user, name, *origin, LineOf(user, head), addition);
}

// `line` is the one on which the user imports it.
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
  const Definitions& bindings = SourceScope::BindingsOf(origin);
  // The kernel's own text has one binding of a name alone that its kernel saw.
  if (origin.text == &text_ && bindings.size() > 1) return false;
  return std::all_of(bindings.begin(), bindings.end(), [&](const v1::Definition* definition) {
    return AddDefinition(*definition, *origin.text, addition);
  });
}

// Of m.sub.f: m and m.sub are modules, and types is Python's.
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
  for (std::string& use : scope_.UsesOf(text, definition)) {
    addition.pending.emplace_back(&text, std::move(use));
  }
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

}  // namespace kernelmill::extractor
