#include "services/extractor/core/link/prompt_context.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/python/module_paths.h"
#include "services/extractor/core/link/outline.h"

namespace kernelmill::extractor {
namespace {

constexpr size_t kMaxOutlinedBytes = 1u << 20;  // looked through for one kernel
constexpr size_t kMaxElsewhereBytes = 2u << 10;
constexpr size_t kLineWidth = 100;

// "import x" or "from x import ": what imports have in common that may stand on one line.
std::string ImportHead(const v1::ImportedName& imported) {
  return absl::StrCat("from ", std::string(static_cast<size_t>(imported.level()), '.'),
                      imported.module(), " import ");
}

class ContextWriter {
 public:
  ContextWriter(const SourceScope& scope, const Closure& closure, const v1::Kernel& kernel)
      : scope_(scope), closure_(closure), kernel_(kernel) {}

  std::string Run() {
    for (const Closure::Meaning& meaning : closure_.MeaningsOfFreeNames()) {
      if (meaning.name != kernel_.name()) Add(meaning);
    }
    for (const v1::Definition* wildcard : closure_.Wildcards()) {
      const v1::ImportedName* imported = scope_.ImportedWithin(*wildcard, "*");
      if (imported != nullptr) AddImport(wildcard->first_line(), *wildcard, *imported, "*");
    }
    std::string comments;
    for (const auto& [place, text] : comments_) comments += text;
    comments += Elsewhere();
    std::string context = Imports();
    if (!context.empty() && !comments.empty()) context += '\n';
    return context + comments;
  }

 private:
  using Place = std::pair<int, size_t>;  // the line, and which of those that are on it
  struct Import {
    Place place;
    std::string head;
    std::string name;
  };

  void Add(const Closure::Meaning& meaning) {
    const int line = meaning.bindings.empty() ? 0 : meaning.bindings.front()->first_line();
    if (bytes_ > kMaxContextBytes || (meaning.taken.empty() && meaning.bindings.empty())) {
      elsewhere_.push_back(meaning.name);
      return;
    }
    for (const auto& [shown, origin] : meaning.taken) {
      for (const v1::Definition* definition : SourceScope::BindingsOf(*origin)) {
        AddBinding(line, *definition, origin->name, shown);
      }
    }
    if (!meaning.taken.empty()) return;
    const bool is_import = IsInstalledImport(meaning);
    for (const v1::Definition* definition : meaning.bindings) {
      if (is_import && scope_.ImportedWithin(*definition, meaning.name) == nullptr) continue;
      AddBinding(definition->first_line(), *definition, meaning.name, meaning.name);
    }
  }

  // What stands for Triton where it is not installed is not shown.
  bool IsInstalledImport(const Closure::Meaning& meaning) const {
    return std::any_of(
        meaning.bindings.begin(), meaning.bindings.end(), [&](const v1::Definition* definition) {
          const v1::ImportedName* imported = scope_.ImportedWithin(*definition, meaning.name);
          return imported != nullptr && imported->level() == 0 &&
                 python::IsInstalledModule(imported->module());
        });
  }

  void AddBinding(int line, const v1::Definition& definition, const std::string& name,
                  const std::string& shown) {
    const v1::ImportedName* imported = scope_.ImportedWithin(definition, name);
    if (imported == nullptr) {
      AddComment(line, OutlineOf(definition, name, shown));
    } else if (absl::StrContains(shown, '.')) {  // a module's member
      AddComment(line, absl::StrCat("# ", shown, " = ", DottedName(*imported), "\n"));
    } else {
      AddImport(line, definition, *imported, shown);
    }
  }

  std::string OutlineOf(const v1::Definition& definition, const std::string& name,
                        const std::string& shown) {
    outlined_ += definition.text().size();
    if (outlined_ > kMaxOutlinedBytes) return absl::StrCat("# ", shown, " = ...\n");
    return Outline(definition.text(), name, shown);
  }

  // A statement that binds several names is shown once.
  void AddComment(int line, std::string text) {
    if (!comments_.empty() && std::any_of(comments_.lower_bound({line, 0}),
                                          comments_.upper_bound({line, comments_.size()}),
                                          [&](const auto& at) { return at.second == text; })) {
      return;
    }
    bytes_ += text.size();
    comments_.emplace(Place(line, comments_.size()), std::move(text));
  }

  void AddImport(int line, const v1::Definition& definition, const v1::ImportedName& imported,
                 const std::string& shown) {
    const Place place(line, IndexOf(imported, definition));
    if (!imported.member().empty() || shown == "*") {
      const bool renamed = shown != imported.member() && shown != "*";
      AddImport(place, ImportHead(imported),
                renamed ? absl::StrCat(imported.member(), " as ", shown) : shown);
    } else if (imported.module() != shown) {
      AddImport(place, absl::StrCat("import ", imported.module(), " as ", shown), "");
    } else if (!IsImport(definition)) {
      AddImport(place, absl::StrCat("import ", shown), "");
    } else {
      for (const std::string& module : definition.modules()) {
        if (module == shown || absl::StartsWith(module, absl::StrCat(shown, "."))) {
          AddImport(place, absl::StrCat("import ", module), "");
        }
      }
    }
  }

  // Which of the statement's names it is; 0 where these are very many.
  static size_t IndexOf(const v1::ImportedName& imported, const v1::Definition& definition) {
    constexpr int kMaxNames = 256;
    for (int i = 0; i < std::min(definition.imported_size(), kMaxNames); ++i) {
      if (&definition.imported(i) == &imported) return static_cast<size_t>(i);
    }
    return 0;
  }

  void AddImport(const Place& place, std::string head, std::string name) {
    bytes_ += head.size() + name.size();
    imports_.push_back({place, std::move(head), std::move(name)});
  }

  // Names of one statement that begin alike are on one line.
  std::string Imports() {
    std::stable_sort(imports_.begin(), imports_.end(),
                     [](const Import& a, const Import& b) { return a.place < b.place; });
    std::map<std::pair<int, std::string>, size_t> known;  // which line
    std::vector<std::string> lines;
    absl::flat_hash_set<std::pair<size_t, std::string>> seen;
    for (const Import& import : imports_) {
      const auto [at, inserted] =
          known.try_emplace({import.place.first, import.head}, lines.size());
      if (inserted) lines.push_back(import.head);
      if (!seen.emplace(at->second, import.name).second) continue;
      absl::StrAppend(&lines[at->second], inserted ? "" : ", ", import.name);
    }
    std::string text;
    for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
    return text;
  }

  std::string Elsewhere() const {
    if (elsewhere_.empty()) return "";
    std::string out = "# Defined elsewhere:";
    size_t width = out.size();
    for (size_t i = 0; i < elsewhere_.size(); ++i) {
      if (out.size() > kMaxElsewhereBytes) return absl::StrCat(out, " ...\n");
      const std::string& name = elsewhere_[i];
      if (width + name.size() + 2 > kLineWidth) {
        out += "\n#    ";
        width = 5;
      }
      absl::StrAppend(&out, " ", name, i + 1 < elsewhere_.size() ? "," : "\n");
      width += name.size() + 2;
    }
    return out;
  }

  const SourceScope& scope_;
  const Closure& closure_;
  const v1::Kernel& kernel_;
  std::vector<Import> imports_;
  std::map<Place, std::string> comments_;
  std::vector<std::string> elsewhere_;
  size_t bytes_ = 0;
  size_t outlined_ = 0;
};

}  // namespace

std::string PromptContext(const SourceScope& scope, const Closure& closure,
                          const v1::Kernel& kernel) {
  return ContextWriter(scope, closure, kernel).Run();
}

}  // namespace kernelmill::extractor
