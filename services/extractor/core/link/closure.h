#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CLOSURE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CLOSURE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// A kernel's text as its module will have it, and the names that are free in it.
struct KernelText {
  std::string text;
  std::vector<std::string> names;
  // The class or function around the kernel, if it is the text; else null.
  const v1::Definition* owner = nullptr;
};

// The definitions that one kernel needs from its source, up to a number of bytes. All work is done
// by the constructor. Refers to the scope and the kernel; not thread-safe.
//
// The basic idea: start with the kernel's free names. For each name choose the definitions that
// bind it in the kernel's own text, and go on with the names that these use, until nothing new
// comes up.
//
// A text may bind a name several times. The kernel sees the nearest binding above it; if that
// builds on the earlier value (x = x + 1) or may leave it as it is (if y: x = 1), the earlier
// bindings are needed as well. Without one above, it sees the first one below, since a kernel runs
// after its file. For the same reason statements below the kernel that only change the object (x.a
// = 1, x[0] = 1) are taken, up to the next binding; but none that needs the kernel or changes it,
// since the module ends with the kernel.
//
// Code in prose leaves out imports that every reader knows: a name that it does not bind gets the
// usual one (common/dsl/usual_imports.h), which is generated.
//
// After that, imports from the source's own files are resolved. An import is replaced by the
// definitions that it leads to if these close (see SourceScope), and if each name that comes with
// them means the same for all its users in the module. Otherwise the import statement stays as it
// is, and its name is missing.
//
// The order is the one in which Python would run the definitions if it ran the kernel's file: each
// text in its own order, and another file's text where it is first imported.
//
// An import of a module m of the source is replaced by m = types.ModuleType("m") and an assignment
// m.f = f for each member that the module's texts read. If one of them cannot be had, the import
// stays. It has to be a real module, because Triton looks names up in nothing else.
class Closure {
 public:
  // A definition, or the generated assignment "name = value" if the definition is null.
  struct Part {
    const v1::Definition* definition = nullptr;
    std::string name;
    std::string value;
  };
  // A name that nothing in the module defines, and why (v1::UnresolvedName.reason).
  struct Missing {
    std::string name;
    absl::string_view reason;
  };
  static constexpr absl::string_view kUndefined = "undefined";
  static constexpr absl::string_view kRepositoryImport = "repository_import";
  static constexpr absl::string_view kPackageImport = "package_import";
  static constexpr absl::string_view kWildcardImport = "wildcard_import";
  static constexpr absl::string_view kTooLarge = "too_large";
  // The meaning of a name that the kernel itself uses.
  struct Meaning {
    std::string name;
    // The bindings in the kernel's text, in order.
    Definitions bindings;
    // For an import from the source's own files, the names that the module has instead. For a
    // module these are its members that are read.
    std::vector<std::pair<std::string, const Origin*>> taken;
  };

  // Names of `left_out` are not followed, and are missing as too large. `text` may be destroyed
  // after the constructor.
  Closure(SourceScope& scope, const v1::Kernel& kernel, const KernelText& text, size_t max_bytes,
          const absl::flat_hash_set<std::string>& left_out);

  // The import statements, and then all other parts of the module.
  const Definitions& imports() const { return imports_; }
  const std::vector<Part>& parts() const { return parts_; }
  // The definition that is the kernel or holds it; null without one.
  const v1::Definition* around() const { return around_; }
  // The statement after the kernel that makes it one (v1::Kernel.applied_line); null without one.
  // The names that it uses are followed as well.
  const v1::Definition* applied() const { return applied_; }
  // Sorted by name, each once.
  const std::vector<Missing>& missing() const { return missing_; }
  bool IsMissing(absl::string_view name) const;
  // The meanings of the kernel's free names, in their order.
  std::vector<Meaning> MeaningsOfFreeNames() const;
  // The wildcard imports of the kernel's text if one of them may bring a missing name; else none.
  Definitions Wildcards() const;
  // The number of bytes that were read.
  size_t bytes() const { return bytes_; }

 private:
  // A name that the kernel's text imports from another file of the source.
  struct Import {
    std::string name;
    const v1::Definition* statement;  // null: a wildcard brings it
    const Origin* origin;             // null: it cannot be had, or is a module
    const TextDefinitions* module;    // set if the name is a module of the source
    absl::string_view reason;         // of a name that cannot be had
    std::vector<std::pair<std::string, const Origin*>> taken;  // see Meaning
  };
  // An import of one file's text from another's.
  struct Link {
    int line;
    const TextDefinitions* target;
    std::string name;  // assigned `value` there, if not empty
    std::string value;
  };
  // The part of a file that goes into the module.
  struct File {
    Definitions chosen;
    std::vector<Link> links;
  };
  struct Addition;  // all that one import would add
  // For each imported module the chains of members that the kernel's text reads; false if it also
  // reads the module by itself.
  using Names = absl::flat_hash_set<std::string>;
  using MembersRead = absl::flat_hash_map<std::string, std::pair<bool, Names>>;

  // First step: definitions of the kernel's own text.
  void FindInText(const KernelText& text, const absl::flat_hash_set<std::string>& left_out);
  const v1::Definition* FindUnfollowed(const std::string& name);
  void LeaveOut(const std::string& name);
  void Need(const std::string& name);
  const Definitions& Named(const std::string& name) const;
  bool Find(const std::string& name);
  void AddChangesBelow(const std::string& name, Definitions::const_iterator at);
  bool FindByWildcard(const std::string& name);
  bool TakeUsualImport(const std::string& name);
  absl::string_view FindLoss(const v1::Definition& definition, const std::string& name) const;
  bool IsUsable(const v1::Definition& definition) const;
  bool IsOwn(const v1::Definition& definition) const;
  bool IsOwnName(const std::string& name) const;
  bool TakeImport(const v1::Definition& definition, const std::string& name);
  void Choose(const v1::Definition* definition);
  void GiveUp();
  void SortMissing();

  // Second step: imports from the source's other files.
  void ResolveImports(const KernelText& text);
  void ClaimOwnNames();
  void Leave(Import& import, absl::string_view reason);
  bool Add(Import& import, Addition& addition);
  bool AddModule(Import& import, const MembersRead& read, Addition& addition);
  bool AddPending(Addition& addition);
  bool AddName(const TextDefinitions& user, const std::string& name, Addition& addition);
  bool AddOrigin(const TextDefinitions& user, const std::string& name, const Origin& origin,
                 int line, Addition& addition);
  bool AddDefinition(const v1::Definition& definition, const TextDefinitions& text,
                     Addition& addition);
  bool Claim(const std::string& name, const std::string& key, Addition& addition) const;
  bool ClaimModules(const TextDefinitions& module, absl::string_view name, Addition& addition);
  void Commit(Addition addition);
  std::string MakeKey(const TextDefinitions& text, const std::string& name);
  MembersRead ReadMembers(const KernelText& text);

  // Third step: the order of all that was chosen.
  void PutInOrder();
  void Emit(const TextDefinitions& text);
  void EmitAssignment(const Link& link);

  SourceScope& scope_;
  const v1::Kernel& kernel_;
  const TextDefinitions& text_;
  const v1::Definition* around_;
  const v1::Definition* owner_;  // see KernelText
  const v1::Definition* applied_;
  const size_t max_bytes_;
  size_t bytes_ = 0;
  size_t others_ = 0;                // number of definitions from other files
  std::vector<Import> own_imports_;  // imports from the source's own files
  std::vector<Missing> missing_;
  std::vector<std::string> pending_;                     // names that are still to be followed
  absl::flat_hash_set<std::string> seen_;                // names that were ever pending
  absl::flat_hash_map<std::string, Definitions> found_;  // by name, in the kernel's text
  absl::flat_hash_set<const v1::Definition*> taken_;
  absl::flat_hash_map<std::string, std::string> meanings_;  // Origin.key by name in the module
  absl::flat_hash_set<std::string> assigned_;               // names of generated assignments
  absl::flat_hash_map<const TextDefinitions*, File> files_;
  std::vector<const TextDefinitions*> future_;  // texts whose __future__ imports apply
  absl::flat_hash_set<const TextDefinitions*> emitted_;
  absl::flat_hash_set<std::string> modules_made_;
  Definitions imports_;
  std::vector<Part> parts_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CLOSURE_H_
