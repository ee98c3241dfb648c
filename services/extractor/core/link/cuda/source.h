#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_SOURCE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/cpp/include_paths.h"
#include "common/dsl/language.h"
#include "common/python/syntax/text_lines.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/cuda/conditionals.h"
#include "services/extractor/core/cuda/declarations.h"
#include "services/extractor/core/cuda/words.h"
#include "services/extractor/core/link/cuda/methods.h"

namespace kernelmill::extractor::cuda {

// A declaration or a macro of a file.
struct Item {
  Declaration declaration;
  bool is_macro = false;
  bool undefines = false;
  bool takes_arguments = false;
  std::string rest;             // for a macro: see Macro
  std::vector<Method> methods;  // of a class, that a module may leave out
  ByteSpan span;                // includes all of each conditional that cuts it
  Conditionals::Place place;
};

// The number of a file, and the number of an item in it.
struct ItemRef {
  uint32_t file;
  uint32_t item;

  bool operator==(const ItemRef& other) const { return file == other.file && item == other.item; }
  bool operator<(const ItemRef& other) const {
    return file != other.file ? file < other.file : item < other.item;
  }
  template <typename H>
  friend H AbslHashValue(H h, const ItemRef& ref) {
    return H::combine(std::move(h), ref.file, ref.item);
  }
};
using ItemRefs = std::vector<ItemRef>;

constexpr uint32_t kNoFile = 0xffffffff;
constexpr uint32_t kNoMethod = 0xffffffff;

// An item without its methods, or one of its methods.
struct Part {
  ItemRef item;
  uint32_t method = kNoMethod;

  bool operator==(const Part& other) const { return item == other.item && method == other.method; }
  template <typename H>
  friend H AbslHashValue(H h, const Part& part) {
    return H::combine(std::move(h), part.item, part.method);
  }
};

// An #include, and the file of the source that it loads.
struct ResolvedInclude {
  Include include;  // `path` points into the file's text
  uint32_t file = kNoFile;
  Conditionals::Place place;
};

// A C++ text, which is a file or a string in one.
struct SourceText {
  std::string path;
  int64_t string_begin = 0;
  std::string text;
  LineIndex lines;
  std::vector<v1::TextRun> runs;  // for a string of a Python file; see v1::Definition
  Conditionals conditionals;
  std::vector<Namespace> namespaces;
  std::vector<Item> items;  // in the order of the text
  std::vector<ResolvedInclude> includes;
  bool has_launch_macros = false;
  const dsl::Language* language = nullptr;

  // Returns the line of the file in which the byte is.
  int FileLineAt(size_t offset) const;
  // Returns the offset of a line of the file; nothing if the text does not have it.
  std::optional<size_t> FindFileLine(int line) const;
  // Returns the index of the run that has the byte, or after which it comes.
  size_t FindRun(size_t offset) const;
};

// A file with all that it includes, in the order in which the preprocessor meets them.
struct View {
  uint32_t root = kNoFile;
  std::vector<uint32_t> files;
  absl::flat_hash_set<uint32_t> contains;
};

// The C++ texts of a source, with indexes of their items. cpp::IncludePaths finds the file of an
// include. Deterministic. References stay valid. Thread-safe; caches views and words.
class Source {
 public:
  // Bounds. Over them files are left out of a view, and names have fewer meanings.
  static constexpr size_t kMaxView = 1024;
  static constexpr int kMaxIncludeDepth = 64;
  static constexpr size_t kMaxMeanings = 1024;
  static constexpr size_t kMaxIncludes = 4096;  // in a file

  // `texts` are the definitions without a kind.
  explicit Source(std::vector<v1::Definition> texts);

  size_t size() const { return texts_.size(); }
  const SourceText& operator[](uint32_t file) const { return *texts_[file]; }
  const Item& at(const ItemRef& ref) const { return texts_[ref.file]->items[ref.item]; }

  // Finds the text that holds the kernel's source; kNoFile if none does.
  uint32_t FindFile(const v1::Kernel& kernel) const;
  // Finds the item around the kernel, and which of the item's methods it is.
  std::optional<Part> FindPart(uint32_t file, const v1::Kernel& kernel) const;

  // Find items by their qualified names, members of a class by the class's, and macros by their
  // names. All are in the order of files and texts; at most kMaxMeanings.
  const ItemRefs& FindNamed(absl::string_view qualified) const { return Find(by_name_, qualified); }
  const ItemRefs& FindMembers(absl::string_view type) const { return Find(members_, type); }
  const ItemRefs& FindMacros(absl::string_view name) const { return Find(macros_, name); }
  // Finds functions by the last part of their names, and classes that a language gives as kernels.
  const ItemRefs& FunctionsCalled(absl::string_view name) const { return Find(functions_, name); }
  // The operators of a file, and its "using namespace" directives.
  const ItemRefs& GetOperators(uint32_t file) const { return operators_[file]; }
  const ItemRefs& GetDirectives(uint32_t file) const { return directives_[file]; }
  // A file's invocations of macros in namespaces: NAME(float).
  const ItemRefs& GetInvocations(uint32_t file) const { return invocations_[file]; }

  // Returns whether a text of the source opens the namespace.
  bool IsNamespace(absl::string_view qualified) const { return spaces_.contains(qualified); }
  // Returns whether a macro of the file may launch a kernel.
  bool HasLaunchMacros(uint32_t file) const { return texts_[file]->has_launch_macros; }

  std::string QualifiedName(const ItemRef& ref, absl::string_view name) const;
  absl::string_view GetText(const ItemRef& ref) const;
  // Returns the size of a part's text, of an item together with the lines for its conditionals and
  // namespaces.
  size_t WrittenSize(const Part& part) const;
  // Returns the words that a part uses and declares. A class declares its methods, and a method
  // does not use what its class declares. Cached.
  const Words& GetWords(const Part& part) const;

  // Returns the file with all that it includes. The latest views are cached.
  std::shared_ptr<const View> ViewFrom(uint32_t file) const;
  // Returns the first few files that include `file`, directly or through others.
  std::vector<uint32_t> FindIncluders(uint32_t file) const;

 private:
  using Index = absl::flat_hash_map<std::string, ItemRefs>;

  static const ItemRefs& Find(const Index& index, absl::string_view name);
  std::string TextWithoutMethods(const ItemRef& ref) const;
  Words ReadWords(const Part& part) const;
  static void Add(Index& index, const std::string& name, const ItemRef& ref);

  void AddText(v1::Definition definition);
  void AddItems(SourceText& text);
  void IndexItems(uint32_t file);
  void ResolveIncludes(const cpp::IncludePaths& paths, SourceText& text) const;
  void Visit(uint32_t file, int depth, View& view) const;

  std::vector<std::unique_ptr<SourceText>> texts_;
  absl::flat_hash_map<std::pair<std::string, int64_t>, std::vector<uint32_t>> by_place_;
  std::vector<uint32_t> files_;  // texts that are whole files
  std::vector<std::vector<uint32_t>> includers_;
  Index by_name_;
  Index members_;
  Index macros_;
  Index functions_;
  absl::flat_hash_set<std::string> spaces_;
  std::vector<ItemRefs> operators_;
  std::vector<ItemRefs> directives_;
  std::vector<ItemRefs> invocations_;
  mutable absl::Mutex mutex_;
  mutable absl::flat_hash_map<Part, std::unique_ptr<const Words>> words_ ABSL_GUARDED_BY(mutex_);
  mutable absl::flat_hash_map<uint32_t, std::shared_ptr<const View>> views_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_SOURCE_H_
