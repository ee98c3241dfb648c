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
#include "common/dsl/languages.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/decorators.h"
#include "services/extractor/core/link/import_paths.h"
#include "services/extractor/core/link/live_imports.h"
#include "services/extractor/core/link/statements.h"

namespace kernelmill::extractor {

using Definitions = std::vector<const v1::Definition*>;
using DefinitionsByName = absl::flat_hash_map<std::string, Definitions>;

// The definitions of one text, which is a file or a string in a file; in the text's order.
struct TextDefinitions {
  std::string path;
  int64_t string_begin = 0;
  Definitions all;
  Definitions outer;   // all except imports in functions; these do not overlap
  Definitions future;  // imports from __future__, which apply to the whole file
  DefinitionsByName by_name;
  // The statements of the module level, each as a whole: what other files see.
  DefinitionsByName importable;
  bool has_all = false;    // has __all__
  bool all_known = false;  // __all__ consists of the strings in `exported`
  absl::flat_hash_set<std::string> exported;
};

// The definition that a name of a file's module level leads to, through all re-exports.
struct Origin {
  const TextDefinitions* text;  // the file that binds it
  std::string name;             // its name there
  // Equal for names that mean the same: the place, or the dotted name for all that comes from
  // outside the source.
  std::string key;
};

// The module levels of all files of a source, and the meanings of their names in one another.
//
// The basic idea: a name leads through import statements, including `*` and __init__.py, to the
// file that binds it (Find). A definition closes if a module can have it together with all that it
// needs: other definitions that close, and modules that are at hand (LiveImports). This depends on
// other definitions, and files may import one another in circles, so it is computed from the other
// end, once for the whole source: a definition is open if it needs something that is not there;
// then each user of an open definition is open, its users are, and so on. All others close.
//
// If a DSL's jit makes a function a kernel or a helper, the decorators above the jit are machinery
// of the host. Such a function counts as closed without the decorators that do not close, and
// modules have it without them.
//
// If a file binds a name more than once, other files see the final value: all its bindings, one
// after another.
//
// A scope caches what it finds, so that it is not thread-safe. A view of a scope has a cache of its
// own behind that of the scope, which then no longer changes: so several threads can each have a
// view. A view's answers do not depend on other views.
//
// Deterministic.
class SourceScope {
 public:
  // `paths` has all files of the source and of its used sources, also files without definitions. It
  // must outlive this object.
  // Modules that come with the wanted languages are at hand, too.
  SourceScope(std::vector<v1::Definition> definitions, const ImportPaths& paths,
              const dsl::LanguageSet& wanted = {});
  SourceScope(const SourceScope&) = delete;
  SourceScope& operator=(const SourceScope&) = delete;

  // Returns a view of this scope, which must outlive it. Only const functions of this scope may be
  // called while it has views.
  SourceScope MakeView() const { return SourceScope(index_, paths_, &cache_); }

  // Forgets the names that were not found. In a circle of imports, what is not found depends on the
  // name that was asked for first; views shall ask anew.
  void ForgetMissing();

  // Returns the definitions of a text; an empty object if it has none.
  const TextDefinitions& GetDefinitions(const std::string& path, int64_t string_begin) const;

  // Finds the origin of a name of the text's module level. "m.member" is a member of the module
  // that the text imports as m. Null if the origin is not known, or is a module.
  const Origin* Find(const TextDefinitions& text, const std::string& name);
  // Finds the origin of a name that an import statement of the text binds. Null also if it is not
  // in the source.
  const Origin* FindImported(const TextDefinitions& text, const v1::ImportedName& imported);
  // Finds the file of the source that a name of the text's module level is, imported as a module;
  // null if it is no module.
  const TextDefinitions* FindModule(const TextDefinitions& text, const std::string& name);
  // Finds the same for a name that an import statement of the text binds.
  const TextDefinitions* ImportedModule(const TextDefinitions& text,
                                        const v1::ImportedName& imported);
  // The object that a chain of members of a module leads to: "sub.f" of "sub.f.attribute" if sub is
  // a module and f one of its objects.
  struct Member {
    std::string name;
    const Origin* origin;
  };
  // Returns nullopt if the object is not known.
  std::optional<Member> FindMember(const TextDefinitions& module, absl::string_view chain);
  // Returns the names that a definition of the text uses. A module's name is replaced by the
  // members that the definition reads, if these are known.
  std::vector<std::string> GetUses(const TextDefinitions& text, const v1::Definition& definition);
  // Returns the members that the definition's text reads.
  const MemberReads& GetReads(const v1::Definition& definition);
  // Returns the dotted name of an installed module that a name of the text leads to through files
  // of the source: "triton.language" for the tl of `from .utils import tl`. A name that leads to a
  // module outside the source is taken at its word (dsl::FindSaidName). Empty if it leads nowhere.
  std::string InstalledName(const TextDefinitions& text, const std::string& name);

  const ImportPaths& paths() const { return paths_; }

  // Returns whether an import statement of the text imports from the source, or from a used source.
  // A module that comes with a wanted language is imported from its package, also in the repository
  // that holds the package.
  bool IsOwn(const TextDefinitions& text, const v1::ImportedName& imported) const;

  // Returns what an import statement of the scope binds `name` to; null if the definition is no
  // import or does not bind the name.
  const v1::ImportedName* ImportedAs(const v1::Definition& definition,
                                     const std::string& name) const;
  // Returns the same also for an import in the blocks of a statement, as in try: import x.
  const v1::ImportedName* ImportedWithin(const v1::Definition& definition,
                                         const std::string& name) const;

  // A decorator that a module may lack, and its kind (v1::DroppedDecorator.reason).
  struct Droppable {
    const Decorator* decorator;
    absl::string_view reason;
  };
  static constexpr absl::string_view kHostMachinery = "host_machinery";
  static constexpr absl::string_view kAutotuneConfigs = "autotune_configs";
  static constexpr absl::string_view kHeuristics = "heuristics";
  using Names = google::protobuf::RepeatedPtrField<std::string>;

  // Returns the decorators above the jit of a function of the text: the jit is a DSL's own, or has
  // the name `known_jit`. Empty if the function has no jit. Triton's own decorators are left out,
  // except autotune and heuristics.
  std::vector<Droppable> GetDroppable(const TextDefinitions& text,
                                      const DecoratedFunction& function,
                                      absl::string_view known_jit);
  // Returns those of a definition's droppable decorators that do not close, so that modules lack
  // them.
  const std::vector<Droppable>& GetDropped(const v1::Definition& definition) const;
  // Return the definition's uses and its text without the dropped decorators.
  const Names& GetNames(const v1::Definition& definition) const;
  const std::string& GetText(const v1::Definition& definition) const;
  // Returns the dotted modules that the definition needs and that are not at hand.
  const std::vector<std::string>& GetAbsentModules(const v1::Definition& definition) const;
  // Returns whether the definition does not bind the name without these modules.
  bool Loses(const v1::Definition& definition, const std::string& name) const;
  // Resolves a dotted name by the imports of a text; empty if it leads to nothing outside the
  // source.
  std::string ResolvedName(const TextDefinitions& text, const std::string& dotted);

  static const Definitions& GetBindings(const Origin& origin);
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

  // The absent modules of a definition, and the names that it does not bind without them.
  struct Absent {
    std::vector<std::string> modules;
    absl::flat_hash_set<std::string> lost;
  };

  // All that the constructor finds. It does not change later.
  struct Index {
    std::vector<v1::Definition> definitions;
    dsl::LanguageSet wanted;
    absl::flat_hash_map<std::pair<std::string, int64_t>, std::unique_ptr<TextDefinitions>> texts;
    // The imports of each statement, by the name; if a statement binds a name twice, the last one.
    absl::flat_hash_map<std::pair<const v1::Definition*, absl::string_view>,
                        const v1::ImportedName*>
        imported;
    absl::flat_hash_map<const v1::Definition*, std::unique_ptr<Function>> functions;
    absl::flat_hash_map<const v1::Definition*, std::unique_ptr<const Absent>> absent;
    absl::flat_hash_set<const v1::Definition*> open;  // definitions that do not close
  };

  // Answers to earlier questions.
  struct Cache {
    absl::flat_hash_map<Key, std::unique_ptr<const Origin>> origins;
    absl::flat_hash_map<Key, const TextDefinitions*> modules;
    absl::flat_hash_map<std::string, std::unique_ptr<const TextDefinitions>> bare_modules;
    absl::flat_hash_map<const v1::Definition*, std::unique_ptr<const MemberReads>> reads;
  };

  SourceScope(std::shared_ptr<Index> index, const ImportPaths& paths, const Cache* shared)
      : index_(std::move(index)), paths_(paths), shared_(shared) {}

  void AddToText(const v1::Definition& definition);
  const Origin* FindWithin(const TextDefinitions& text, const std::string& name, int depth);
  std::string MakeKey(const TextDefinitions& text, const v1::ImportedName& imported) const;
  std::optional<Origin> Resolve(const TextDefinitions& text, const std::string& name, int depth);
  std::optional<Origin> ResolveWildcards(const TextDefinitions& text, const std::string& name,
                                         int depth);
  std::string NameAtItsWord(const TextDefinitions& text, const v1::ImportedName& imported) const;
  const TextDefinitions* FileAt(const std::string& path) const;
  const TextDefinitions* ModuleAt(const std::string& path);
  const TextDefinitions* FindFile(const TextDefinitions& text,
                                  const v1::ImportedName& imported) const;
  const TextDefinitions* FindModuleWithin(const TextDefinitions& text, const std::string& name,
                                          int depth);
  const TextDefinitions* ImportedModuleWithin(const TextDefinitions& text,
                                              const v1::ImportedName& imported, int depth);
  std::vector<std::string> MembersRead(const TextDefinitions& text, const Names& uses,
                                       const MemberReads& reads);
  void FindDroppableDecorators();
  void FindOpen();
  void KeepWhatCloses();

  const std::shared_ptr<Index> index_;  // a view does not change it
  const ImportPaths& paths_;
  Cache cache_;
  const Cache* const shared_ = nullptr;  // the cache of a view's scope
};

// Returns what an absolute import binds its name to: module.member, or the module.
std::string DottedName(const v1::ImportedName& imported);

// Returns whether the definition is a whole statement that is also there in parts: see
// v1::Definition.block_first_line.
bool IsWholeBlock(const v1::Definition& definition);

inline bool IsImport(const v1::Definition& definition) {
  return definition.kind() == v1::Definition::KIND_IMPORT;
}

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_SOURCE_SCOPE_H_
