#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CLOSURE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CLOSURE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// What one kernel needs of its source, up to so many bytes of it.
//
// The basic idea, within the kernel's own text: from its free names, follow definitions and what
// they use in turn. A name that is bound more than once means the nearest binding above the kernel,
// and those before it that it builds on or may leave as they are; else the first one below. An
// import from the source's own files is then replaced by what it stands for, if that closes
// (SourceScope) and the names that come with it mean the same to all who use them in the module;
// otherwise the statement stays as it is, and the name is missing. The order is the one in which
// Python would come by the definitions if it ran the kernel's file: that of each text, another
// file's where it is first imported.
class Closure {
 public:
  // A definition; or if that is null, the assignment "name = value" that an import under another
  // name comes to.
  struct Part {
    const v1::Definition* definition = nullptr;
    std::string name;
    std::string value;
  };

  Closure(SourceScope& scope, const v1::Kernel& kernel, size_t max_bytes);

  // Import statements; then the others.
  const Definitions& imports() const { return imports_; }
  const std::vector<Part>& parts() const { return parts_; }
  // The definition that the kernel is, or stands in; null if there is none.
  const v1::Definition* around() const { return around_; }
  // The statement after it that makes it a kernel (v1::Kernel.applied_line), which needs the
  // others too; null if there is none.
  const v1::Definition* applied() const { return applied_; }
  // Names that nothing in the module gives a meaning to; sorted, each once.
  const std::vector<std::string>& missing() const { return missing_; }
  // Looked through.
  size_t bytes() const { return bytes_; }

 private:
  // A name that the kernel's text imports from another file of the source.
  struct Import {
    std::string name;
    const v1::Definition* statement;  // null: it comes by a wildcard
    const Origin* origin;             // null: it cannot be had
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

  // Within the kernel's own text.
  void FindInText();
  void Need(const std::string& name);
  const Definitions& Named(const std::string& name) const;
  bool Find(const std::string& name);
  bool FindByWildcard(const std::string& name);
  bool IsUsable(const v1::Definition& definition) const;
  bool IsOwn(const v1::Definition& definition) const;
  bool TakeImport(const v1::Definition& definition, const std::string& name);
  void Choose(const v1::Definition* definition);
  void GiveUp();

  // Over the source's other files.
  void ResolveImports();
  void ClaimOwnNames();
  bool Add(const Import& import);
  bool AddName(const TextDefinitions& user, const std::string& name, Addition& addition);
  bool AddDefinition(const v1::Definition& definition, const TextDefinitions& text,
                     Addition& addition);
  bool Claim(const std::string& name, const std::string& key, Addition& addition) const;
  void Commit(Addition addition);
  std::string KeyOf(const TextDefinitions& text, const std::string& name);

  void PutInOrder();
  void Emit(const TextDefinitions& text);

  SourceScope& scope_;
  const v1::Kernel& kernel_;
  const TextDefinitions& text_;
  const v1::Definition* around_;
  const v1::Definition* applied_;
  const size_t max_bytes_;
  size_t bytes_ = 0;
  size_t others_ = 0;  // definitions of other files
  std::vector<Import> own_imports_;
  std::vector<std::string> missing_;
  std::vector<std::string> pending_;
  absl::flat_hash_set<std::string> seen_;
  absl::flat_hash_set<const v1::Definition*> taken_;
  absl::flat_hash_map<std::string, std::string> meanings_;  // Origin.key by name in the module
  absl::flat_hash_set<std::string> assigned_;               // names that imports were renamed to
  absl::flat_hash_map<const TextDefinitions*, File> files_;
  std::vector<const TextDefinitions*> future_;  // texts whose imports from __future__ hold
  absl::flat_hash_set<const TextDefinitions*> emitted_;
  Definitions imports_;
  std::vector<Part> parts_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CLOSURE_H_
