#include "services/extractor/core/link/cuda/cuda_closure.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

constexpr int kMaxAliases = 4;      // bounds chains of namespace aliases
constexpr size_t kMaxPasted = 64;   // words of ## that are looked for in names
constexpr size_t kMethodCost = 16;  // bytes of reading that a look at a method counts as

string_view FirstPart(string_view path) { return path.substr(0, path.find("::")); }
string_view LastPart(string_view path) {
  const size_t colon = path.rfind(':');
  return colon == string_view::npos ? path : path.substr(colon + 1);
}
// Returns the path without its last part; empty if it has only one.
string_view Shortened(string_view path) {
  const size_t colons = path.rfind("::");
  return colons == string_view::npos ? string_view() : path.substr(0, colons);
}

std::string Joined(string_view scope, string_view path) {
  return scope.empty() ? std::string(path) : absl::StrCat(scope, "::", path);
}

// Returns whether other names may be qualified with it: C::x.
bool HoldsNames(Declaration::Kind kind) {
  return kind == Declaration::kType || kind == Declaration::kAlias || kind == Declaration::kUsing ||
         kind == Declaration::kShortName;
}

}  // namespace

// The basic idea: start with the kernel, look up each name that it uses as the compiler would, take
// the declarations found, and go on with the names that these use. The result is the set of items
// without which the kernel does not compile, or a name with the reason why it is missing.
//
// Names are resolved by rules of C++ without types: namespaces from the inside out, "using
// namespace", base classes by their declared words. A name may mean several items (overloads,
// branches of #if); all of them are taken, since one too many costs only bytes. limits.bytes bounds
// the module, limits.looked_at the text that is read to make it.
//
// A file may compile only as an include of another one, which declares what it uses. So if names
// are missing, the closure is tried again with the files that include it as roots.
CudaClosure::CudaClosure(const Source& source, const Part& kernel, const ClosureLimits& limits)
    : CudaClosure(source, kernel, kernel.item.file, limits) {
  if (!missing_.empty()) TryIncluders();
}

CudaClosure::CudaClosure(const Source& source, const Part& kernel, uint32_t root,
                         const ClosureLimits& limits)
    : source_(&source),
      language_(source[kernel.item.file].language),
      kernel_(kernel.item),
      kernel_method_(kernel.method),
      limits_(limits),
      view_(source.ViewFrom(root)) {
  const SourceText& text = source[kernel_.file];
  constexpr int kMaxDepth = 64;
  Conditionals::Place place = source.at(kernel_).place;
  for (int depth = 0; place.conditional != Conditionals::kNone && depth < kMaxDepth; ++depth) {
    branches_[place.conditional] = place.branch;
    place = text.conditionals.Around(place);
  }
  constexpr size_t kMaxDirectives = 64;
  for (const uint32_t file : view_->files) {
    for (const ItemRef& ref : source.GetDirectives(file)) {
      if (usings_.size() < kMaxDirectives && IsVisible(ref)) usings_.push_back(ref);
    }
  }
  Run();
}

// Tries the first few includers as roots, and keeps the closure with the fewest missing names.
void CudaClosure::TryIncluders() {
  constexpr size_t kMaxTries = 4;
  const std::vector<uint32_t> includers = source_->FindIncluders(kernel_.file);
  size_t looked_at = looked_at_;
  for (size_t i = 0; i < std::min(kMaxTries, includers.size()); ++i) {
    if (looked_at > limits_.looked_at) break;
    CudaClosure other(*source_, {kernel_, kernel_method_}, includers[i], limits_);
    looked_at += other.looked_at_;
    const bool sees = other.view_->contains.contains(kernel_.file);
    if (sees && other.missing_.size() < missing_.size()) *this = std::move(other);
    if (missing_.empty()) break;
  }
  looked_at_ = looked_at;
}

// Follows items until none is pending. Then takes the operators on the types that came along, which
// may bring new items, and so on.
void CudaClosure::Run() {
  constexpr int kMaxRounds = 8;  // operators bring types, which bring operators in turn
  pending_.push_back({kernel_});
  const std::vector<Method>& methods = source_->at(kernel_).methods;
  looked_at_ += kMethodCost * methods.size();
  for (uint32_t i = 0; i < methods.size(); ++i) {
    if (i == kernel_method_) {
      TakePart({kernel_, i}, methods[i].name);
    } else {
      TakeOrWait({kernel_, i}, methods[i].name);
    }
  }
  TakeSameName();
  for (int round = 0; round < kMaxRounds && !pending_.empty(); ++round) {
    while (!pending_.empty()) {
      const Part next = pending_.back();
      pending_.pop_back();
      Follow(next);
    }
    TakeOperators();
    TakeInvocations();
  }
}

void CudaClosure::Miss(absl::string_view name, absl::string_view reason) {
  missing_.try_emplace(std::string(name), std::string(reason));
}

bool CudaClosure::IsVisible(const ItemRef& ref) const {
  return view_->contains.contains(ref.file) && !InOtherBranch(ref);
}

// Returns whether an item is in a branch that excludes the kernel's: another branch of the same
// conditional.
bool CudaClosure::InOtherBranch(const ItemRef& ref) const {
  if (ref.file != kernel_.file || branches_.empty()) return false;
  const SourceText& text = (*source_)[ref.file];
  constexpr int kMaxDepth = 64;
  Conditionals::Place place = source_->at(ref).place;
  for (int depth = 0; place.conditional != Conditionals::kNone && depth < kMaxDepth; ++depth) {
    const auto own = branches_.find(place.conditional);
    if (own != branches_.end()) return own->second != place.branch;
    place = text.conditionals.Around(place);
  }
  return false;
}

void CudaClosure::Follow(const Part& part) {
  const ItemRef& ref = part.item;
  current_ = ref;
  looked_at_ += source_->WrittenSize(part);
  if (looked_at_ > limits_.looked_at) {
    const Item& item = source_->at(ref);
    if (!item.declaration.names.empty()) Miss(item.declaration.names[0], "too_large");
    return;
  }
  // Take a method's class first, so that names of its members are not looked up elsewhere.
  const std::string& owner = source_->at(ref).declaration.owner;
  if (!owner.empty()) Resolve({owner, false, false}, part, 0);
  const Words& words = source_->GetWords(part);
  for (const UsedName& used : words.used) Resolve(used, part, 0);
  for (const std::string& word : words.asked) Ask(word);
  Mention(words);
  if (!(ref == kernel_)) FollowConditions(ref);
}

// Takes what waited for a word of the text.
void CudaClosure::Mention(const Words& words) {
  const auto take = [this](const std::vector<Part>& parts, string_view name) {
    for (const Part& part : parts) TakePart(part, name);
  };
  for (const std::string& word : words.mentioned) {
    if (!mentioned_.insert(word).second) continue;
    if (auto waiting = waiting_.extract(word)) take(waiting.mapped(), word);
  }
  for (string_view word : words.pasted) {
    if (pasted_.size() >= kMaxPasted) {  // from here on all names count as mentioned
      pasted_.clear();
      word = "";
    }
    pasted_.push_back(word);
    std::vector<string_view> made;
    for (const auto& [name, parts] : waiting_) {
      if (absl::StrContains(name, word)) made.push_back(name);
    }
    std::sort(made.begin(), made.end());
    for (const string_view name : made) take(waiting_.extract(name).mapped(), name);
  }
}

// A name that a macro may make of words counts as mentioned.
bool CudaClosure::IsMentioned(absl::string_view name) const {
  return mentioned_.contains(name) ||
         std::any_of(pasted_.begin(), pasted_.end(),
                     [name](string_view word) { return absl::StrContains(name, word); });
}

void CudaClosure::TakeOrWait(const Part& part, absl::string_view name) {
  if (!NeedsMention(name) || IsMentioned(name)) {
    TakePart(part, name);
  } else {
    waiting_[name].push_back(part);
  }
}

void CudaClosure::TakePart(const Part& part, absl::string_view name) {
  if (part.method == kNoMethod) {
    Take(part.item, name);
  } else if (!methods_.contains(part) && Fits(part, name)) {
    methods_.insert(part);
    pending_.push_back(part);
  }
}

// Counts the part's bytes if they are within the bounds.
bool CudaClosure::Fits(const Part& part, absl::string_view name) {
  const size_t size = source_->WrittenSize(part);
  if (bytes_ + size > limits_.bytes || taken_.size() + methods_.size() >= limits_.items) {
    Miss(name, "too_large");
    return false;
  }
  bytes_ += size;
  return true;
}

// Takes the macros that the conditionals around an item ask about.
void CudaClosure::FollowConditions(const ItemRef& ref) {
  const SourceText& text = (*source_)[ref.file];
  constexpr int kMaxDepth = 64;
  Conditionals::Place place = source_->at(ref).place;
  for (int depth = 0; place.conditional != Conditionals::kNone && depth < kMaxDepth; ++depth) {
    if (ref.file == kernel_.file && branches_.contains(place.conditional)) return;
    for (const ByteSpan& span : text.conditionals.Lines(place)) {
      const Code line =
          Lex(string_view(text.text).substr(span.begin + 1, span.end - span.begin - 1));
      for (uint32_t at = 1; at < line.size(); ++at) {
        if (line.IsWord(at)) Ask(line[at]);
      }
    }
    place = text.conditionals.Around(place);
  }
}

// Takes a word that a conditional asks about. It cannot be missing: an undefined macro counts as 0.
void CudaClosure::Ask(absl::string_view word) {
  if (!TakeMacros(word, /*invoked=*/true)) IsKnown(word);
}

// Returns whether the kernel calls a function with its own name, which may be another overload, or
// names its class with other template arguments.
bool CudaClosure::UsesItsName() const {
  const Declaration& declaration = source_->at(kernel_).declaration;
  const bool is_type = declaration.kind == Declaration::kType;
  if (declaration.names.empty() || (!is_type && declaration.kind != Declaration::kFunction)) {
    return false;
  }
  const string_view name = LastPart(declaration.names[0]);
  const Code code = Lex(source_->GetText(kernel_));
  int uses = is_type && !declaration.specializes ? 0 : -1;  // does not count its declaration
  for (uint32_t at = 0; at + 1 < code.size(); ++at) {
    const string_view after = code[at + 1];
    uses += code[at] == name && (after == "<" || (!is_type && after == "("));
  }
  return uses > 0;
}

// Takes the template that the kernel specializes and other declarations of it; if it uses its name,
// its overloads and other specializations too.
void CudaClosure::TakeSameName() {
  const Declaration& declaration = source_->at(kernel_).declaration;
  const bool uses = UsesItsName();
  if (declaration.kind != Declaration::kType && !declaration.specializes && !uses) return;
  for (const std::string& name : declaration.names) {
    for (const ItemRef& ref : source_->FindNamed(source_->QualifiedName(kernel_, name))) {
      if (!IsVisible(ref) || ref == kernel_) continue;
      if (uses || !source_->at(ref).declaration.specializes) Take(ref, name);
    }
  }
}

// Looks one name up, in this order: macros, declarations of the source, known headers, members of
// base classes, "using namespace", packages. Each namespace looks each name up only once.
void CudaClosure::Resolve(const UsedName& used, const Part& part, int depth) {
  const ItemRef& user = part.item;
  const Item& item = source_->at(user);
  const std::string key = absl::StrCat(
      item.is_macro ? "#" : (*source_)[user.file].namespaces[item.declaration.space].qualified,
      used.global ? " ::" : " ", used.path, used.invoked ? "(" : "", used.shadowed ? "?" : "");
  if (item.declaration.owner.empty() && item.declaration.kind != Declaration::kType &&
      source_->GetWords(part).opened.empty() && !resolved_.insert(key).second) {
    return;
  }
  const bool plain = used.path.find(':') == std::string::npos;
  always_ = false;
  if ((!used.global && TakeMacros(FirstPart(used.path), used.invoked || !plain)) ||
      TakeNamed(used.path, user, used.global, depth)) {
    // The source may define the name for some compilers, and a header for the others.
    if (!always_) IsKnown(used.path);
    return;
  }
  if (used.shadowed || IsKnown(used.path)) return;
  if (TakeMember(FirstPart(used.path), user)) return;
  if (TakeThroughDirectives(used, part, depth)) return;
  if (source_->IsNamespace(used.path)) return;
  const KnownName known = LookUp(used.path);
  if (known.kind == KnownName::kPackage) {
    packages_.insert(std::string(known.package));
    Miss(used.path, "package_import");
    return;
  }
  misses_unknown_ = true;
  Miss(used.path, "undefined");
}

// Takes all visible definitions of a macro, as any may apply under some condition. Returns false
// without any.
bool CudaClosure::TakeMacros(absl::string_view name, bool invoked) {
  bool found = false;
  looked_at_ += source_->FindMacros(name).size();
  for (const ItemRef& ref : source_->FindMacros(name)) {
    if (!IsVisible(ref)) continue;
    const Item& item = source_->at(ref);
    if (item.takes_arguments && !invoked) continue;
    // Macros that are defined or undefined after the kernel do not apply to it.
    const bool after = ref.file == kernel_.file && ref.item > kernel_.item;
    if (after && (item.undefines || found)) continue;
    if (item.undefines && !found) continue;
    Take(ref, name);
    found = true;
    always_ |= item.place.conditional == Conditionals::kNone;
  }
  return found;
}

bool CudaClosure::TakeNamed(absl::string_view path, const ItemRef& user, bool global, int depth) {
  const Item& item = source_->at(user);
  // The names in a macro's text are looked up where it is expanded, mostly in the kernel's
  // namespace.
  const ItemRef& place = item.is_macro ? kernel_ : user;
  std::string scope =
      (*source_)[place.file].namespaces[source_->at(place).declaration.space].qualified;
  if (global) scope.clear();
  if (!global && !item.declaration.owner.empty()) {
    if (TakePath(Joined(scope, item.declaration.owner), path, user, depth)) return true;
  }
  for (;;) {
    if (TakePath(scope, path, user, depth)) return true;
    if (scope.empty()) return false;
    scope = std::string(Shortened(scope));
  }
}

// Takes the declarations of scope::path. Without any, takes those of its longest prefix that can
// hold names: the class C of C::x.
bool CudaClosure::TakePath(const std::string& scope, absl::string_view path, const ItemRef& user,
                           int depth) {
  for (string_view part = path; !part.empty(); part = Shortened(part)) {
    const bool whole = part.size() == path.size();
    bool found = false;
    const ItemRefs& named = source_->FindNamed(Joined(scope, part));
    looked_at_ += named.size();
    for (const ItemRef& ref : named) {
      const Declaration& declaration = source_->at(ref).declaration;
      if (!IsVisible(ref) || (!whole && !HoldsNames(declaration.kind))) continue;
      found = true;
      Take(ref, part);
      always_ |= source_->at(ref).place.conditional == Conditionals::kNone;
      if (declaration.kind == Declaration::kShortName && !whole && depth < kMaxAliases) {
        const string_view rest = path.substr(part.size() + 2);
        Resolve({Joined(declaration.target, rest), false, false}, {ref}, depth + 1);
      }
    }
    if (found) return true;
  }
  return false;
}

// Returns whether the name may be a member of the user's class, or of one of its base classes.
bool CudaClosure::TakeMember(absl::string_view name, const ItemRef& user) {
  const Declaration& declaration = source_->at(user).declaration;
  if (declaration.kind != Declaration::kType && declaration.owner.empty()) return false;
  return std::any_of(types_.begin(), types_.end(), [&](const ItemRef& type) {
    return source_->GetWords({type}).declared.contains(name);
  });
}

// Looks a name up in the namespaces that "using namespace" opens: in the user itself, then in
// visible files.
bool CudaClosure::TakeThroughDirectives(const UsedName& used, const Part& user, int depth) {
  if (used.global || depth >= kMaxAliases) return false;
  for (const std::string& opened : source_->GetWords(user).opened) {
    const std::string path = Joined(opened, used.path);
    if (LookUp(path).kind == KnownName::kHeader && IsKnown(path)) return true;
    if (TakeNamed(path, user.item, false, depth + 1)) return true;
  }
  for (const ItemRef& ref : usings_) {
    const Declaration& directive = source_->at(ref).declaration;
    const std::string path = Joined(directive.target, used.path);
    const bool known = LookUp(path).kind == KnownName::kHeader && IsKnown(path);
    if (!known && !TakeNamed(path, ref, false, depth + 1)) continue;
    TakeDirectives(directive);
    return true;
  }
  return false;
}

// Takes the directives that open the same namespace as this one: which of them holds for a user
// depends on its place.
void CudaClosure::TakeDirectives(const Declaration& opening) {
  for (const ItemRef& ref : usings_) {
    const Declaration& directive = source_->at(ref).declaration;
    if (directive.target == opening.target) Take(ref, directive.target);
  }
}

KnownName CudaClosure::LookUp(absl::string_view path) const {
  return LookUpKnown(path, *language_);
}

bool CudaClosure::IsKnown(absl::string_view path) {
  const KnownName known = LookUp(path);
  if (known.kind == KnownName::kHeader) headers_.insert(std::string(known.header));
  const string_view vector = FindVectorType(path);
  if (!vector.empty()) vectors_.insert(std::string(vector));
  return known.kind == KnownName::kHeader || known.kind == KnownName::kBuiltIn;
}

// Takes an item, within the bounds, to be followed later. A class brings its methods, and its
// members that are defined outside, as far as they are mentioned.
bool CudaClosure::Take(const ItemRef& ref, absl::string_view name) {
  if (ref == kernel_) {
    needs_kernel_ |= !(current_ == kernel_);
    return true;
  }
  if (taken_.contains(ref)) return true;
  if (!Fits({ref}, name)) return false;
  taken_.insert(ref);
  pending_.push_back({ref});
  const Item& item = source_->at(ref);
  if (item.declaration.kind != Declaration::kType || item.is_macro) return true;
  types_.push_back(ref);
  looked_at_ += kMethodCost * item.methods.size();
  for (uint32_t i = 0; i < item.methods.size(); ++i) TakeOrWait({ref, i}, item.methods[i].name);
  for (const std::string& type : item.declaration.names) {
    for (const ItemRef& member : source_->FindMembers(source_->QualifiedName(ref, type))) {
      if (!IsVisible(member)) continue;
      const std::vector<std::string>& names = source_->at(member).declaration.names;
      TakeOrWait({member}, names.empty() ? string_view(type) : LastPart(names[0]));
    }
  }
  return true;
}

// Takes the operators that use a type which was taken, or a used vector type. They are not called
// by name.
void CudaClosure::TakeOperators() {
  constexpr size_t kMaxOperators = 1024;
  absl::flat_hash_set<std::string> types = vectors_;
  for (const ItemRef& type : types_) {
    for (const std::string& name : source_->at(type).declaration.names) types.insert(name);
  }
  if (types.empty()) return;
  size_t looked = 0;
  for (const uint32_t file : view_->files) {
    for (const ItemRef& ref : source_->GetOperators(file)) {
      const std::string& name = source_->at(ref).declaration.names[0];
      if (taken_.contains(ref) || !IsVisible(ref)) continue;
      if (NeedsMention(name) && !IsMentioned(name)) continue;
      looked_at_ += source_->GetText(ref).size();
      if (++looked > kMaxOperators || looked_at_ > limits_.looked_at) return;
      const std::vector<UsedName>& used = source_->GetWords({ref}).used;
      const bool wanted = std::any_of(used.begin(), used.end(), [&](const UsedName& name) {
        return types.contains(LastPart(name.path));
      });
      if (wanted) Take(ref, name);
    }
  }
}

// Takes the invocations of macros that specialize a template which was taken: NAME_OF(float).
void CudaClosure::TakeInvocations() {
  constexpr size_t kMaxInvocations = 1024;
  size_t looked = 0;
  for (const uint32_t file : view_->files) {
    for (const ItemRef& ref : source_->GetInvocations(file)) {
      if (taken_.contains(ref) || !IsVisible(ref)) continue;
      const string_view text = source_->GetText(ref);
      const string_view name = text.substr(0, text.find_first_of("( \t\r\n"));
      if (++looked > kMaxInvocations || looked_at_ > limits_.looked_at) return;
      const ItemRefs& macros = source_->FindMacros(name);
      const bool wanted = std::any_of(macros.begin(), macros.end(), [&](const ItemRef& macro) {
        return IsVisible(macro) && Specializes(macro, ref);
      });
      if (wanted) Take(ref, name);
    }
  }
}

// Returns whether a macro specializes a template that was taken, in the namespace of an invocation.
bool CudaClosure::Specializes(const ItemRef& macro, const ItemRef& invocation) {
  const string_view rest = source_->at(macro).rest;
  looked_at_ += kMethodCost + rest.size();
  if (!absl::StrContains(rest, "template <>") && !absl::StrContains(rest, "template<>")) {
    return false;
  }
  const std::vector<UsedName>& used = source_->GetWords({macro}).used;
  return std::any_of(used.begin(), used.end(), [&](const UsedName& name) {
    const ItemRefs& named = source_->FindNamed(source_->QualifiedName(invocation, name.path));
    looked_at_ += named.size();
    return std::any_of(named.begin(), named.end(),
                       [&](const ItemRef& ref) { return taken_.contains(ref); });
  });
}

}  // namespace kernelmill::extractor::cuda
