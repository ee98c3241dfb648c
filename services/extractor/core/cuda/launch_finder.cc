#include "services/extractor/core/cuda/launch_finder.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "services/extractor/core/cuda/names.h"
#include "services/extractor/core/cuda/reserved_words.h"

namespace kernelmill::extractor::cuda {

using absl::string_view;

LaunchFinder::LaunchFinder(const Code& code, const Brackets& brackets, LaunchMacros macros,
                           Findings* findings)
    : code_(code),
      brackets_(brackets),
      macros_(std::move(macros)),
      findings_(*findings),
      given_left_(code.size()) {
  macros_.Add(code);
}

void LaunchFinder::EnterHost(Function host) {
  in_host_ = true;
  host_ = std::move(host);
}

void LaunchFinder::LeaveHost() {
  in_host_ = false;
  host_ = Function();
  host_index_ = kNoToken;
  values_.clear();
}

void LaunchFinder::AddLaunch(uint32_t at) {
  const uint32_t close = brackets_.match[at];
  const uint32_t name = NameBefore(code_, brackets_, at);
  if (close == kNoToken || name == kNoToken) return;
  const uint32_t first = QualifiedBegin(code_, brackets_, name);
  const bool called = code_.Is(close + 1, "(") && brackets_.match[close + 1] != kNoToken;
  Launched(code_[name], first, called ? brackets_.match[close + 1] : close);
}

// NAME(...) of a macro that launches, or of a function that is given a kernel.
void LaunchFinder::AddCall(uint32_t at) {
  constexpr uint32_t kFirstArguments = 3;
  const string_view word = code_[at];
  const MacroLaunches* macro = macros_.Find(word);
  const bool calls = IsLaunchCall(word);
  const uint32_t close = brackets_.match[at + 1];
  if ((macro == nullptr && !calls) || close == kNoToken || close < at) return;
  const std::vector<string_view> arguments = NamedArguments(code_, brackets_, at + 1);
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const bool given =
        (calls && i < kFirstArguments) || (macro != nullptr && macro->arguments.contains(i));
    if (given && !arguments[i].empty()) Launched(arguments[i], at, close);
  }
  if (macro == nullptr) return;
  for (const std::string& name : macro->names) Launched(name, at, close);
  for (const std::string& name : macro->returned) AddReturned(name);
  for (const uint32_t index : macro->macros) {
    const MacroLaunches* given =
        index < arguments.size() ? macros_.Find(arguments[index]) : nullptr;
    if (given == nullptr) continue;
    for (const std::string& name : given->names) Launched(name, at, close);
    for (const std::string& name : given->returned) AddReturned(name);
  }
}

// Of what the outermost function around may return: a kernel for its caller to launch.
void LaunchFinder::AddReturned(string_view name) {
  constexpr size_t kMaxReturned = 64;
  if (name.empty() || !in_host_) return;
  std::set<std::string>& returned = returned_[host_.name];
  if (returned.size() < kMaxReturned) returned.insert(std::string(name));
}

// Of launches of a local name that a function gave: what that returns.
void LaunchFinder::FollowReturned() {
  const size_t count = findings_.launches.size();
  for (size_t i = 0; i < count && given_left_ > 0; ++i) {
    const auto returned = returned_.find(findings_.launches[i].name);
    if (returned == returned_.end()) continue;
    for (const std::string& name : returned->second) {
      if (given_left_ == 0) break;
      --given_left_;
      Launch launch = findings_.launches[i];
      launch.name = name;
      findings_.launches.push_back(std::move(launch));
    }
  }
}

void LaunchFinder::Launched(string_view name, uint32_t first, uint32_t last) {
  const uint32_t host = HostIndex();
  findings_.launches.push_back({std::string(name), first, last, host});
  const auto values = values_.find(name);
  if (values == values_.end()) return;
  constexpr size_t kMaxValues = 8;
  constexpr uint32_t kMaxTokens = 64;
  const size_t count = std::min(kMaxValues, values->second.size());
  for (size_t i = 0; i < count; ++i) {
    const uint32_t begin = values->second[i];
    for (uint32_t at = begin; at < std::min(code_.size(), begin + kMaxTokens); ++at) {
      if (code_.tokens[at].mark == ';' || given_left_ == 0) break;
      if (!code_.IsWord(at) || IsKeyword(code_[at]) || code_[at] == name) continue;
      --given_left_;
      findings_.launches.push_back({std::string(code_[at]), first, last, host});
    }
  }
}

uint32_t LaunchFinder::HostIndex() {
  if (in_host_ && host_index_ == kNoToken) {
    host_index_ = static_cast<uint32_t>(findings_.hosts.size());
    findings_.hosts.push_back(host_);
  }
  return host_index_;
}

}  // namespace kernelmill::extractor::cuda
