#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_SOURCE_SCOPE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_SOURCE_SCOPE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/decorators.h"
#include "services/extractor/core/link/import_paths.h"
#include "services/extractor/core/link/live_imports.h"
#include "services/extractor/core/link/member_reads.h"

namespace kernelmill::extractor {

using Definitions = std::vector<const v1::Definition*>;
using DefinitionsByName = absl::flat_hash_map<std::string, Definitions>;

// The definitions of one text, in its order: of a file, or of a string in one.
struct TextDefinitions {
  std::string path;
  int64_t string_begin = 0;
  Definitions all;
  Definitions outer;   // those but imports in functions: they do not overlap
  Definitions future;  // imports from __future__, which hold for the whole file
  DefinitionsByName by_name;
  // What other files see: the statements of the module level, each whole.
  DefinitionsByName importable;
  bool has_all = false;    // __all__
  bool all_known = false;  // and it is made of strings alone, which are:
  absl::flat_hash_set<std::string> exported;
};

// What a name of some file's module level stands for, once re-exports are followed.
struct Origin {
  const TextDefinitions* text;  // of the file that binds it, under
  std::string name;
  // Equal if the same is meant: the place, or the dotted name of what comes from outside the
  // source.
  std::string key;
};

// The module levels of all files of a source, and what their names mean in one another.
//
// The basic idea: a name leads through import statements, also `*` and __init__.py, to the file
// that binds it. It closes if it can be had with all that it needs in turn, which then is nothing
// but other such names and modules that are at hand (LiveImports). Definitions that do not close
// are found from those that need what is not there, against the direction of use: in one pass,
// however the files import one another.
//
// Of a function that a DSL's jit makes a kernel or a helper the decorators above the jit are
// machinery of the host: it closes without those that do not, and modules have it without them.
//
// Of a name that is bound more than once other files see what it is in the end: all its bindings,
// one after another. Deterministic; not thread-safe, since it remembers what it found.
class SourceScope {
 public:
  // `paths`: all files of the source and of those that it uses, also those that nothing was
  // extracted from; outlives this.
  SourceScope(std::vector<v1::Definition> definitions, const ImportPaths& paths);
  SourceScope(const SourceScope&) = delete;
  SourceScope& operator=(const SourceScope&) = delete;

  // Of a text without definitions: one that has none.
  const TextDefinitions& TextOf(const std::string& path, int64_t string_begin) const;

  // Null where it cannot be told, or is a module. Of a member of a module that the text imports
  // under the name m: "m.member".
  const Origin* Find(const TextDefinitions& text, const std::string& name);
  // Of a name that an import statement of the text binds. Null also for what is not of the source.
  const Origin* FindImported(const TextDefinitions& text, const v1::ImportedName& imported);
  // The file that a name of the text's module level stands for, imported as a module of the
  // source; null for what is no module.
  const TextDefinitions* FindModule(const TextDefinitions& text, const std::string& name);
  // The same of a name that an import statement of the text binds.
  const TextDefinitions* ImportedModule(const TextDefinitions& text,
                                        const v1::ImportedName& imported);
  // What is read of a module by a chain of members, "f" or "sub.f.attribute": the part of it that
  // names an object of a file, and that. Nothing where that cannot be told.
  struct Member {
    std::string name;
    const Origin* origin;
  };
  std::optional<Member> FindMember(const TextDefinitions& module, absl::string_view chain);
  // The names that a definition of the text uses, with the members of modules that it reads instead
  // of the modules' names; the name itself where these cannot be told.
  std::vector<std::string> UsesOf(const TextDefinitions& text, const v1::Definition& definition);
  // What the definition's text reads.
  const MemberReads& ReadsOf(const v1::Definition& definition);
  // The dotted name outside of the source that the name of a text leads to, through the source's
  // files: "triton.language" of tl in from .utils import tl. Empty where it leads to none of those
  // that are installed, or is not the source's.
  std::string InstalledName(const TextDefinitions& text, const std::string& name);

  const ImportPaths& paths() const { return paths_; }

  // Whether an import statement of the text is of the source's own modules, or a used source's.
  bool IsOwn(const TextDefinitions& text, const v1::ImportedName& imported) const;

  // What an import statement binds `name` to; null if the definition is none, or not of that name.
  // `definition` is one of the scope's.
  const v1::ImportedName* ImportedAs(const v1::Definition& definition,
                                     const std::string& name) const;
  // The same of an import statement in the blocks of one, as in try: import x.
  const v1::ImportedName* ImportedWithin(const v1::Definition& definition,
                                         const std::string& name) const;

  // A decorator that a module may go without, and which sort it is (v1::DroppedDecorator.reason).
  struct Droppable {
    const Decorator* decorator;
    absl::string_view reason;
  };
  static constexpr absl::string_view kHostMachinery = "host_machinery";
  static constexpr absl::string_view kAutotuneConfigs = "autotune_configs";
  static constexpr absl::string_view kHeuristics = "heuristics";
  using Names = google::protobuf::RepeatedPtrField<std::string>;

  // The decorators of a function of the text that stand above the one that makes it a jit function:
  // that is a DSL's own by name, or has the name `known_jit`. None of a function that is none, and
  // of Triton's own its autotune and heuristics alone.
  std::vector<Droppable> DroppableOf(const TextDefinitions& text, const DecoratedFunction& function,
                                     absl::string_view known_jit);
  // Of these what modules have the definition without: what they need does not close.
  const std::vector<Droppable>& DroppedOf(const v1::Definition& definition) const;
  // The definition's uses and text without them.
  const Names& NamesOf(const v1::Definition& definition) const;
  const std::string& RestOf(const v1::Definition& definition) const;
  // The modules that have to be there for the definition and are not at hand; dotted.
  const std::vector<std::string>& AbsentModulesOf(const v1::Definition& definition) const;
  // Whether what the definition binds the name to is lost without them.
  bool Loses(const v1::Definition& definition, const std::string& name) const;
  // What the imports of a text make of a dotted name; empty where it leads to nothing outside of
  // the source.
  std::string ResolvedName(const TextDefinitions& text, const std::string& dotted);

  static const Definitions& BindingsOf(const Origin& origin);
  bool Closes(const Origin& origin) const;

 private:
  // Names that are bound more often, or lead through more files, are not followed.
  static constexpr size_t kMaxBindings = 16;
  static constexpr int kMaxDepth = 64;

  using Key = std::pair<const TextDefinitions*, std::string>;

  // A function with decorators that may be dropped.
  struct Function {
    DecoratedFunction parts;
    std::vector<Droppable> dropped;
    std::string text;  // without them
    Names uses;

    void SetRest(const v1::Definition& definition);
  };

  // Of a definition that imports what is not at hand.
  struct Absent {
    std::vector<std::string> modules;
    absl::flat_hash_set<std::string> lost;
  };

  void AddToText(const v1::Definition& definition);
  const Origin* FindWithin(const TextDefinitions& text, const std::string& name, int depth);
  std::string KeyOf(const TextDefinitions& text, const v1::ImportedName& imported) const;
  std::optional<Origin> Resolve(const TextDefinitions& text, const std::string& name, int depth);
  std::optional<Origin> ResolveWildcards(const TextDefinitions& text, const std::string& name,
                                         int depth);
  const TextDefinitions* FileAt(const std::string& path) const;
  const TextDefinitions* ModuleAt(const std::string& path);
  const TextDefinitions* FileOf(const TextDefinitions& text,
                                const v1::ImportedName& imported) const;
  const TextDefinitions* FindModuleWithin(const TextDefinitions& text, const std::string& name,
                                          int depth);
  const TextDefinitions* ImportedModuleWithin(const TextDefinitions& text,
                                              const v1::ImportedName& imported, int depth);
  std::vector<std::string> MembersRead(const TextDefinitions& text, const Names& uses,
                                       const MemberReads& reads);
  void FindDroppable();
  void FindOpen();
  void KeepWhatCloses();

  const std::vector<v1::Definition> definitions_;
  const ImportPaths& paths_;
  absl::flat_hash_map<std::pair<std::string, int64_t>, std::unique_ptr<TextDefinitions>> texts_;
  absl::flat_hash_map<Key, std::unique_ptr<const Origin>> origins_;
  absl::flat_hash_map<Key, const TextDefinitions*> modules_;
  absl::flat_hash_map<std::string, std::unique_ptr<const TextDefinitions>> bare_modules_;
  absl::flat_hash_map<const v1::Definition*, std::unique_ptr<const MemberReads>> reads_;
  // What import statements bind, by the name; of a statement's two the last.
  absl::flat_hash_map<std::pair<const v1::Definition*, absl::string_view>, const v1::ImportedName*>
      imported_;
  absl::flat_hash_map<const v1::Definition*, std::unique_ptr<Function>> functions_;
  absl::flat_hash_map<const v1::Definition*, std::unique_ptr<const Absent>> absent_;
  absl::flat_hash_set<const v1::Definition*> open_;  // those that do not close
};

// What an absolute import binds its name to: module.member, or the module.
std::string DottedName(const v1::ImportedName& imported);

// Whether it is a statement that was also taken apart: see v1::Definition.block_first_line.
bool IsWholeBlock(const v1::Definition& definition);

inline bool IsImport(const v1::Definition& definition) {
  return definition.kind() == v1::Definition::KIND_IMPORT;
}

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_SOURCE_SCOPE_H_
