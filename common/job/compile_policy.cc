#include "common/job/compile_policy.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/toolchains/toolchains.h"

namespace kernelmill::job {
namespace {

using Words = google::protobuf::RepeatedPtrField<std::string>;
using KnownWords = std::vector<std::string>;

KnownWords KnownToolchains() {
  KnownWords names;
  for (const toolchains::PinnedToolchain& toolchain : toolchains::PinnedToolchains()) {
    names.emplace_back(toolchain.name);
  }
  return names;
}

KnownWords KnownTargets() {
  return {toolchains::CompileTargets().begin(), toolchains::CompileTargets().end()};
}

KnownWords KnownForms() { return {toolchains::KeptForms().begin(), toolchains::KeptForms().end()}; }

// `what`: a word of a list, as in "unknown target".
absl::Status CheckWords(absl::string_view list, absl::string_view what, const Words& words,
                        const KnownWords& known) {
  std::set<absl::string_view> seen;
  for (int i = 0; i < words.size(); ++i) {
    const std::string where = absl::StrCat("compile.", list, "[", i, "]: ");
    if (std::find(known.begin(), known.end(), words.Get(i)) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(where, "unknown ", what, " ",
                                                     JsonString(words.Get(i)), "; ",
                                                     absl::StrJoin(known, ", "), " are known"));
    }
    if (!seen.insert(words.Get(i)).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, JsonString(words.Get(i)), " is twice"));
    }
  }
  return absl::OkStatus();
}

// Those of `known` that `words` names, in the order of `known`.
Words InKnownOrder(const Words& words, const KnownWords& known) {
  Words ordered;
  for (const std::string& word : known) {
    if (std::find(words.begin(), words.end(), word) != words.end()) *ordered.Add() = word;
  }
  return ordered;
}

Words All(const KnownWords& known) { return {known.begin(), known.end()}; }

}  // namespace

absl::Status CheckCompile(const v1::CompilePolicy& policy) {
  RETURN_IF_ERROR(CheckWords("toolchains", "toolchain", policy.toolchains(), KnownToolchains()));
  RETURN_IF_ERROR(CheckWords("targets", "target", policy.targets(), KnownTargets()));
  RETURN_IF_ERROR(CheckWords("keep", "form", policy.keep(), KnownForms()));
  if (policy.max_seconds() >= 0 && policy.max_seconds() <= kMaxCompileSeconds) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("compile.max_seconds: is not 1 to ", kMaxCompileSeconds));
}

bool IsOfCompilers(absl::string_view check) { return check == "compiles" || check == "imports"; }

v1::CompilePolicy WithCompileDefaults(const v1::CompilePolicy& policy) {
  v1::CompilePolicy full;
  *full.mutable_toolchains() = policy.toolchains().empty()
                                   ? All(KnownToolchains())
                                   : InKnownOrder(policy.toolchains(), KnownToolchains());
  *full.mutable_targets() = policy.targets().empty()
                                ? All(KnownTargets())
                                : InKnownOrder(policy.targets(), KnownTargets());
  *full.mutable_keep() = InKnownOrder(policy.keep(), KnownForms());
  full.set_max_seconds(policy.max_seconds() == 0 ? kDefaultCompileSeconds : policy.max_seconds());
  return full;
}

v1::CompileParams CompileParamsOf(const v1::CompilePolicy& policy) {
  v1::CompileParams params;
  for (const std::string& name : policy.toolchains()) {
    const toolchains::PinnedToolchain* const pinned = toolchains::FindToolchain(name);
    v1::Toolchain& toolchain = *params.add_toolchains();
    toolchain.set_name(name);
    if (pinned != nullptr) toolchain = toolchains::ToProto(*pinned);
  }
  *params.mutable_targets() = policy.targets();
  *params.mutable_keep() = policy.keep();
  params.set_max_seconds(policy.max_seconds());
  return params;
}

}  // namespace kernelmill::job
