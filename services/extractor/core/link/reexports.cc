#include "services/extractor/core/link/reexports.h"

#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "services/extractor/core/describe/features.h"

namespace kernelmill::extractor {
namespace {

// By a dotted name that the kernel's file resolves to no further: the one outside of the source.
using Truths = absl::flat_hash_map<std::string, std::string>;

// What the file's own imports make of the name, as Kernel.calls has it.
std::string KnownAs(const TextDefinitions& text, const SourceScope& scope,
                    const std::string& name) {
  const auto bindings = text.by_name.find(name);
  if (bindings == text.by_name.end()) return name;
  for (const v1::Definition* definition : bindings->second) {
    const v1::ImportedName* imported = scope.ImportedWithin(*definition, name);
    if (imported != nullptr && imported->level() == 0) return DottedName(*imported);
  }
  return name;
}

constexpr size_t kMaxImportedName = 256;  // no person imports a longer one

void RewriteCalls(const Truths& truths, v1::Kernel& kernel) {
  std::set<std::string> calls;
  for (const std::string& call : kernel.calls()) {
    std::string resolved = call;
    for (size_t dot = call.find('.'); dot < kMaxImportedName; dot = call.find('.', dot + 1)) {
      const auto found = truths.find(call.substr(0, dot));
      if (found != truths.end()) resolved = absl::StrCat(found->second, call.substr(dot));
    }
    const auto whole = truths.find(call);
    calls.insert(whole == truths.end() ? std::move(resolved) : whole->second);
  }
  kernel.mutable_calls()->Assign(calls.begin(), calls.end());
}

void AddFeatures(const MemberReads& reads, const Truths& by_name, v1::Kernel& kernel) {
  std::set<std::string> features(kernel.features().begin(), kernel.features().end());
  const auto add = [&features](const std::string& resolved) {
    for (const absl::string_view feature : FeaturesOfName(resolved)) features.emplace(feature);
  };
  for (const auto& [name, truth] : by_name) {
    add(truth);
    const std::vector<std::string>* chains = reads.Of(name);
    for (size_t i = 0; chains != nullptr && i < chains->size(); ++i) {
      add(absl::StrCat(truth, ".", (*chains)[i]));
    }
  }
  kernel.mutable_features()->Assign(features.begin(), features.end());
}

}  // namespace

void ResolveReexports(SourceScope& scope, v1::Kernel& kernel) {
  const TextDefinitions& text = scope.TextOf(kernel.path(), kernel.string_begin());
  Truths by_name;
  Truths by_call;
  for (const std::string& name : kernel.free_names()) {
    std::string truth = scope.InstalledName(text, name);
    if (truth.empty()) continue;
    by_call[KnownAs(text, scope, name)] = truth;
    by_name[name] = std::move(truth);
  }
  if (by_name.empty()) return;
  RewriteCalls(by_call, kernel);
  AddFeatures(MemberReads(kernel.source()), by_name, kernel);
}

}  // namespace kernelmill::extractor
