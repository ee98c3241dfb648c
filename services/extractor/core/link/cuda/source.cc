#include "services/extractor/core/link/cuda/source.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/dsl/languages.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

using absl::string_view;

size_t SourceText::FindRun(size_t offset) const {
  const auto after =
      std::upper_bound(runs.begin(), runs.end(), static_cast<int64_t>(offset),
                       [](int64_t wanted, const v1::TextRun& run) { return wanted < run.begin(); });
  return after == runs.begin() ? 0 : static_cast<size_t>(after - runs.begin()) - 1;
}

int SourceText::FileLineAt(size_t offset) const {
  if (runs.empty()) return lines.LineAt(offset);
  const v1::TextRun& run = runs[FindRun(offset)];
  const auto begin = static_cast<size_t>(run.begin());
  const size_t at = std::min(std::max(offset, begin), begin + static_cast<size_t>(run.size()));
  const size_t last = std::max<size_t>(text.size(), 1) - 1;
  return run.first_line() + lines.LineAt(std::min(at, last)) - lines.LineAt(std::min(begin, last));
}

std::optional<size_t> SourceText::FindFileLine(int line) const {
  for (const v1::TextRun& run : runs) {
    const auto begin = static_cast<size_t>(run.begin());
    if (line < run.first_line() || begin >= text.size()) continue;
    const int own = lines.LineAt(begin) + line - run.first_line();
    if (own > lines.count()) continue;
    const size_t at = std::max(begin, lines.Begin(own));
    if (at < begin + static_cast<size_t>(run.size())) return at;
  }
  return std::nullopt;
}

// Texts are sorted first, so that numbers of files, and all that follows from them, do not depend
// on the order of shards.
Source::Source(std::vector<v1::Definition> texts) {
  std::stable_sort(texts.begin(), texts.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.path(), a.string_begin()) < std::make_pair(b.path(), b.string_begin());
  });
  for (v1::Definition& definition : texts) AddText(std::move(definition));
  operators_.resize(texts_.size());
  invocations_.resize(texts_.size());
  directives_.resize(texts_.size());
  includers_.resize(texts_.size());
  std::vector<std::string> paths;
  for (const uint32_t file : files_) paths.push_back(texts_[file]->path);
  const cpp::IncludePaths include_paths(paths);
  for (uint32_t file = 0; file < texts_.size(); ++file) {
    ResolveIncludes(include_paths, *texts_[file]);
    IndexItems(file);
    for (const ResolvedInclude& include : texts_[file]->includes) {
      if (include.file != kNoFile) includers_[include.file].push_back(file);
    }
  }
}

// A text within another file (string_begin > 0, such as CUDA in a Python string) can be found as a
// kernel's place, but no file can include it.
void Source::AddText(v1::Definition definition) {
  const auto file = static_cast<uint32_t>(texts_.size());
  std::string text = std::move(*definition.mutable_text());
  const LineIndex lines(text);
  auto added =
      std::make_unique<SourceText>(SourceText{definition.path(),
                                              definition.string_begin(),
                                              std::move(text),
                                              lines,
                                              {definition.runs().begin(), definition.runs().end()},
                                              Conditionals(Code()),
                                              {},
                                              {},
                                              {}});
  added->language = &dsl::FindCLanguage(added->path, added->text);
  AddItems(*added);
  by_place_[{added->path, added->string_begin}].push_back(file);
  if (added->string_begin == 0) files_.push_back(file);
  texts_.push_back(std::move(added));
}

// Reads the declarations, macros and includes of a text, and puts them in the order of the text.
void Source::AddItems(SourceText& text) {
  const Code code = Lex(text.text);
  const Brackets brackets = MatchBrackets(code);
  Declarations found = FindDeclarations(code, brackets);
  text.conditionals = Conditionals(code);
  text.namespaces = std::move(found.namespaces);
  for (Declaration& declaration : found.all) {
    Item& item = text.items.emplace_back();
    item.span = text.conditionals.Whole(
        {code.tokens[declaration.first].begin, code.tokens[declaration.last].end});
    item.methods = FindSeparableMethods(code, brackets, text.conditionals, text.lines, declaration);
    item.declaration = std::move(declaration);
  }
  for (const Macro& macro : code.macros) {
    Item& item = text.items.emplace_back();
    item.is_macro = true;
    item.undefines = macro.undefines;
    item.takes_arguments = macro.takes_arguments();
    item.declaration.names.emplace_back(macro.name);
    item.rest = std::string(macro.rest);
    text.has_launch_macros |= absl::StrContains(macro.rest, "<<<") ||
                              absl::StrContains(macro.rest, "LAUNCH") ||
                              absl::StrContains(macro.rest, "Launch");
    item.span = {macro.begin, macro.end};
  }
  std::stable_sort(text.items.begin(), text.items.end(),
                   [](const Item& a, const Item& b) { return a.span.begin < b.span.begin; });
  for (Item& item : text.items) item.place = text.conditionals.At(item.span.begin);
  for (const Include& include : code.includes) {
    if (text.includes.size() >= kMaxIncludes) break;
    text.includes.push_back({include, kNoFile, text.conditionals.At(include.begin)});
  }
}

// Keeps the first kMaxMeanings meanings of a name, so that a hostile source cannot make each lookup
// long.
void Source::Add(Index& index, const std::string& name, const ItemRef& ref) {
  ItemRefs& refs = index[name];
  if (refs.size() < kMaxMeanings && (refs.empty() || !(refs.back() == ref))) refs.push_back(ref);
}

const ItemRefs& Source::Find(const Index& index, absl::string_view name) {
  static const auto& none = *new ItemRefs();
  const auto found = index.find(name);
  return found == index.end() ? none : found->second;
}

std::string Source::QualifiedName(const ItemRef& ref, absl::string_view name) const {
  const SourceText& text = *texts_[ref.file];
  const std::string& space = text.namespaces[at(ref).declaration.space].qualified;
  return space.empty() ? std::string(name) : absl::StrCat(space, "::", name);
}

// Adds a file's items to the indexes by name.
void Source::IndexItems(uint32_t file) {
  const SourceText& text = *texts_[file];
  for (const Namespace& space : text.namespaces) {
    // `namespace a::b` opens a as well.
    for (size_t end = space.qualified.size(); end != std::string::npos && end > 0;
         end = space.qualified.rfind("::", end - 1)) {
      if (!spaces_.insert(space.qualified.substr(0, end)).second) break;
    }
  }
  for (uint32_t i = 0; i < text.items.size(); ++i) {
    const ItemRef ref = {file, i};
    const Item& item = text.items[i];
    const Declaration& declaration = item.declaration;
    if (item.is_macro) {
      Add(macros_, declaration.names[0], ref);
      continue;
    }
    if (declaration.kind == Declaration::kDirective) directives_[file].push_back(ref);
    if (declaration.kind == Declaration::kInvocation) invocations_[file].push_back(ref);
    for (const std::string& name : declaration.names) {
      if (absl::StartsWith(name, "operator")) {
        operators_[file].push_back(ref);
        continue;
      }
      Add(by_name_, QualifiedName(ref, name), ref);
      const bool may_be_given =
          declaration.kind == Declaration::kType && !text.language->takers.members.empty();
      if (declaration.kind != Declaration::kFunction && !may_be_given) continue;
      const size_t last = name.rfind(':');
      Add(functions_, last == std::string::npos ? name : name.substr(last + 1), ref);
    }
    if (!declaration.owner.empty()) Add(members_, QualifiedName(ref, declaration.owner), ref);
  }
}

void Source::ResolveIncludes(const cpp::IncludePaths& paths, SourceText& text) const {
  if (text.string_begin > 0) return;
  for (ResolvedInclude& include : text.includes) {
    const Include& named = include.include;
    const std::optional<uint32_t> found = paths.Find(text.path, named.path, named.angled);
    if (found) include.file = files_[*found];
  }
}

// Several texts may have one place in a hostile tree, so the text must contain the kernel too.
uint32_t Source::FindFile(const v1::Kernel& kernel) const {
  const auto found = by_place_.find(std::make_pair(kernel.path(), kernel.string_begin()));
  if (found == by_place_.end()) return kNoFile;
  for (const uint32_t file : found->second) {
    const string_view text = texts_[file]->text;
    // A text that has values of escape sequences does not have the kernel's bytes.
    if (!texts_[file]->runs.empty()) {
      if (texts_[file]->FindFileLine(kernel.first_line()).has_value()) return file;
      continue;
    }
    const auto begin = static_cast<size_t>(kernel.first_byte());
    if (begin <= text.size() && absl::StartsWith(text.substr(begin), kernel.source())) return file;
  }
  return kNoFile;
}

// Returns the part that holds the kernel's definition; nothing if the reader of declarations did
// not find one there.
std::optional<Part> Source::FindPart(uint32_t file, const v1::Kernel& kernel) const {
  const SourceText& text = *texts_[file];
  const size_t first = text.runs.empty() ? static_cast<size_t>(kernel.first_byte())
                                         : text.FindFileLine(kernel.first_line()).value_or(0);
  const size_t end = first + kernel.source().size();
  // The kernel's source is whole lines, which may begin with other items. The item is the one
  // around its signature.
  const size_t at = text.text.find(kernel.signature(), first);
  const size_t begin = at == std::string::npos || at > end ? first : at;
  const auto after =
      std::upper_bound(text.items.begin(), text.items.end(), begin,
                       [](size_t offset, const Item& item) { return offset < item.span.begin; });
  constexpr int kMaxOverlap = 64;  // an item that a conditional widens begins before others
  auto i = static_cast<uint32_t>(after - text.items.begin());
  for (int steps = 0; i > 0 && steps < kMaxOverlap; ++steps) {
    const Item& item = text.items[--i];
    if (item.is_macro || begin >= item.span.end) continue;
    const auto method = std::find_if(
        item.methods.begin(), item.methods.end(),
        [begin](const Method& one) { return one.span.begin <= begin && begin < one.span.end; });
    if (method == item.methods.end()) return Part{{file, i}};
    return Part{{file, i}, static_cast<uint32_t>(method - item.methods.begin())};
  }
  return std::nullopt;
}

absl::string_view Source::GetText(const ItemRef& ref) const {
  const ByteSpan& span = at(ref).span;
  return string_view(texts_[ref.file]->text).substr(span.begin, span.end - span.begin);
}

// Returns the bytes that the part adds to a module: its text and, of an item, the lines of the
// conditionals and namespaces around it.
size_t Source::WrittenSize(const Part& part) const {
  constexpr int kMaxDepth = 64;
  const ItemRef& ref = part.item;
  const SourceText& text = *texts_[ref.file];
  const std::vector<Method>& methods = at(ref).methods;
  if (part.method != kNoMethod) {
    return methods[part.method].lines.end - methods[part.method].lines.begin;
  }
  size_t size = GetText(ref).size();
  for (const Method& method : methods) size -= method.span.end - method.span.begin;
  Conditionals::Place place = at(ref).place;
  for (int depth = 0; place.conditional != Conditionals::kNone && depth < kMaxDepth; ++depth) {
    for (const ByteSpan& line : text.conditionals.Lines(place)) size += line.end - line.begin;
    place = text.conditionals.Around(place);
  }
  uint32_t space = at(ref).declaration.space;
  for (int depth = 0; space != 0 && depth < kMaxDepth; ++depth) {
    size += 2 * text.namespaces[space].opening.size();
    space = text.namespaces[space].outer;
  }
  return size;
}

std::string Source::TextWithoutMethods(const ItemRef& ref) const {
  const string_view all = texts_[ref.file]->text;
  const ByteSpan& span = at(ref).span;
  std::string text;
  uint32_t begin = span.begin;
  for (const Method& method : at(ref).methods) {
    absl::StrAppend(&text, all.substr(begin, method.span.begin - begin));
    begin = method.span.end;
  }
  absl::StrAppend(&text, all.substr(begin, span.end - begin));
  return text;
}

Words Source::ReadWords(const Part& part) const {
  const Item& item = at(part.item);
  if (item.is_macro) return ReadMacroWords(item.rest, item.takes_arguments);
  const bool is_method = part.method != kNoMethod;
  const ByteSpan span = is_method ? item.methods[part.method].span : item.span;
  Words words = ReadDeclarationWords(
      is_method
          ? string_view(texts_[part.item.file]->text).substr(span.begin, span.end - span.begin)
          : TextWithoutMethods(part.item));
  // The closure takes what a specialization specializes, and its siblings where it uses them: its
  // own name, which template arguments follow, looks like a use.
  if (item.declaration.specializes && item.declaration.kind == Declaration::kFunction) {
    const std::vector<std::string>& names = item.declaration.names;
    const auto own = [&](const UsedName& used) {
      return std::find(names.begin(), names.end(), used.path) != names.end();
    };
    words.used.erase(std::remove_if(words.used.begin(), words.used.end(), own), words.used.end());
  }
  if (item.methods.empty()) return words;
  if (!is_method) {
    for (const Method& method : item.methods) words.declared.insert(method.name);
  }
  const Words& of_class = is_method ? GetWords({part.item}) : words;
  const auto own = [&](const UsedName& used) {
    return !used.global && of_class.declared.contains(used.path.substr(0, used.path.find(':')));
  };
  words.used.erase(std::remove_if(words.used.begin(), words.used.end(), own), words.used.end());
  return words;
}

// Reads the words of a part at its first use, and keeps them: many kernels share items. Two threads
// may both read them; the first to finish decides, and they are equal.
const Words& Source::GetWords(const Part& part) const {
  {
    const absl::MutexLock lock(&mutex_);
    if (const auto found = words_.find(part); found != words_.end()) return *found->second;
  }
  auto words = std::make_unique<const Words>(ReadWords(part));
  const absl::MutexLock lock(&mutex_);
  return *words_.try_emplace(part, std::move(words)).first->second;
}

// Adds a file and its includes to a view, depth first: the order of the preprocessor if each file
// has an include guard.
void Source::Visit(uint32_t file, int depth, View& view) const {
  if (view.files.size() >= kMaxView || !view.contains.insert(file).second) return;
  view.files.push_back(file);
  if (depth >= kMaxIncludeDepth) return;
  for (const ResolvedInclude& include : texts_[file]->includes) {
    if (include.file != kNoFile) Visit(include.file, depth + 1, view);
  }
}

// A view is what the preprocessor sees that starts with this file. The last few views are kept,
// since the kernels of one file come one after another.
std::shared_ptr<const View> Source::ViewFrom(uint32_t file) const {
  constexpr size_t kMaxRemembered = 64;
  {
    const absl::MutexLock lock(&mutex_);
    if (const auto found = views_.find(file); found != views_.end()) return found->second;
  }
  auto view = std::make_shared<View>();
  view->root = file;
  Visit(file, 0, *view);
  const absl::MutexLock lock(&mutex_);
  if (views_.size() >= kMaxRemembered) views_.clear();
  return views_[file] = std::move(view);
}

// Searches breadth first: the nearest includers come first.
std::vector<uint32_t> Source::FindIncluders(uint32_t file) const {
  constexpr size_t kMost = 16;
  std::vector<uint32_t> found;
  absl::flat_hash_set<uint32_t> seen = {file};
  std::vector<uint32_t> near = {file};
  while (!near.empty() && found.size() < kMost) {
    std::vector<uint32_t> next;
    for (const uint32_t of : near) {
      for (const uint32_t includer : includers_[of]) {
        if (next.size() < kMost && seen.insert(includer).second) next.push_back(includer);
      }
    }
    found.insert(found.end(), next.begin(), next.end());
    near = std::move(next);
  }
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

}  // namespace kernelmill::extractor::cuda
