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

// A kernel's text as its module is to have it, and the names that are free in it.
struct KernelText {
  std::string text;
  std::vector<std::string> names;
};

// What one kernel needs of its source, up to so many bytes of it.
//
// The basic idea, within the kernel's own text: from its free names, follow definitions and what
// they use in turn. A name that is bound more than once means the nearest binding above the kernel,
// and those before it that it builds on or may leave as they are; else the first one below. A
// statement that does nothing but change its object (x.a = 1, x[0] = 1) comes along from below the
// kernel too, up to the next binding: a kernel runs later. Not one that needs the kernel, nor one
// that changes the kernel itself, whose module ends with it. An import from the source's own files
// is then replaced by what it stands for, if that closes (SourceScope) and the names that come with
// it mean the same to all who use them in the module; otherwise the statement stays as it is, and
// the name is missing. The order is the one in which Python would come by the definitions if it ran
// the kernel's file: that of each text, another file's where it is first imported.
//
// An import of a module m is replaced by m = types.ModuleType("m") and an assignment m.f = f for
// each member that the module's texts read: all of them can be had, or the import stays. That is a
// module to Triton too, which takes no other objects for one.
class Closure {
 public:
  // A definition; or if that is null, the generated assignment "name = value".
  struct Part {
    const v1::Definition* definition = nullptr;
    std::string name;
    std::string value;
  };
  // A name that nothing in the module gives a meaning to, and why (v1::UnresolvedName.reason).
  struct Missing {
    std::string name;
    absl::string_view reason;
  };
  static constexpr absl::string_view kUndefined = "undefined";
  static constexpr absl::string_view kRepositoryImport = "repository_import";
  static constexpr absl::string_view kPackageImport = "package_import";
  static constexpr absl::string_view kWildcardImport = "wildcard_import";
  static constexpr absl::string_view kTooLarge = "too_large";
  // What a name that the kernel itself uses stands for.
  struct Meaning {
    std::string name;
    // Of the kernel's text, in order.
    Definitions bindings;
    // What the module has instead, of an import of the source's own: of a module each member that
    // is read.
    std::vector<std::pair<std::string, const Origin*>> taken;
  };

  // `text` is read by the constructor alone. Names of `left_out` that it uses are not followed, and
  // missing as too large.
  Closure(SourceScope& scope, const v1::Kernel& kernel, const KernelText& text, size_t max_bytes,
          const absl::flat_hash_set<std::string>& left_out);

  // Import statements; then the others.
  const Definitions& imports() const { return imports_; }
  const std::vector<Part>& parts() const { return parts_; }
  // The definition that the kernel is, or stands in; null if there is none.
  const v1::Definition* around() const { return around_; }
  // The statement after it that makes it a kernel (v1::Kernel.applied_line), which needs the
  // others too; null if there is none.
  const v1::Definition* applied() const { return applied_; }
  // Sorted by name, each once.
  const std::vector<Missing>& missing() const { return missing_; }
  bool IsMissing(absl::string_view name) const;
  // Of the kernel's free names, in their order.
  std::vector<Meaning> MeaningsOfFreeNames() const;
  // Wildcard imports of the kernel's text, if one may bring a name that is missing.
  Definitions Wildcards() const;
  // Looked through.
  size_t bytes() const { return bytes_; }

 private:
  // A name that the kernel's text imports from another file of the source.
  struct Import {
    std::string name;
    const v1::Definition* statement;  // null: it comes by a wildcard
    const Origin* origin;             // null: it cannot be had, or is a module:
    const TextDefinitions* module;
    absl::string_view reason;                                  // where it cannot be had
    std::vector<std::pair<std::string, const Origin*>> taken;  // as Meaning's
  };
  // Where a file's text imports from another one's.
  struct Link {
    int line;
    const TextDefinitions* target;
    std::string name;  // to be assigned `value` there; or empty
    std::string value;
  };
  struct File {
    Definitions chosen;
    std::vector<Link> links;
  };
  struct Addition;  // what one import would add
  // The chains of members that the kernel's text reads of each module that it imports; false where
  // it reads the module as such.
  using Names = absl::flat_hash_set<std::string>;
  using MembersRead = absl::flat_hash_map<std::string, std::pair<bool, Names>>;

  // Within the kernel's own text.
  void FindInText(const KernelText& text, const absl::flat_hash_set<std::string>& left_out);
  const v1::Definition* FindUnfollowed(const std::string& name);
  void LeaveOut(const std::string& name);
  void Need(const std::string& name);
  const Definitions& Named(const std::string& name) const;
  bool Find(const std::string& name);
  void AddChangesBelow(const std::string& name, Definitions::const_iterator at);
  bool FindByWildcard(const std::string& name);
  absl::string_view LossOf(const v1::Definition& definition, const std::string& name) const;
  bool IsUsable(const v1::Definition& definition) const;
  bool IsOwn(const v1::Definition& definition) const;
  bool TakeImport(const v1::Definition& definition, const std::string& name);
  void Choose(const v1::Definition* definition);
  void GiveUp();
  void SortMissing();

  // Over the source's other files.
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
  std::string KeyOf(const TextDefinitions& text, const std::string& name);
  MembersRead ReadMembers(const KernelText& text);

  void PutInOrder();
  void Emit(const TextDefinitions& text);
  void EmitAssignment(const Link& link);

  SourceScope& scope_;
  const v1::Kernel& kernel_;
  const TextDefinitions& text_;
  const v1::Definition* around_;
  const v1::Definition* applied_;
  const size_t max_bytes_;
  size_t bytes_ = 0;
  size_t others_ = 0;  // definitions of other files
  std::vector<Import> own_imports_;
  std::vector<Missing> missing_;
  std::vector<std::string> pending_;
  absl::flat_hash_set<std::string> seen_;
  absl::flat_hash_map<std::string, Definitions> found_;  // by name, in the kernel's text
  absl::flat_hash_set<const v1::Definition*> taken_;
  absl::flat_hash_map<std::string, std::string> meanings_;  // Origin.key by name in the module
  absl::flat_hash_set<std::string> assigned_;               // names that imports were renamed to
  absl::flat_hash_map<const TextDefinitions*, File> files_;
  std::vector<const TextDefinitions*> future_;  // texts whose imports from __future__ hold
  absl::flat_hash_set<const TextDefinitions*> emitted_;
  absl::flat_hash_set<std::string> modules_made_;
  Definitions imports_;
  std::vector<Part> parts_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CLOSURE_H_
