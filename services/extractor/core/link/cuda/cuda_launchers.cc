#include "services/extractor/core/link/cuda/cuda_launchers.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// Finds the function that launches each kernel, in any file of the source. Each file is searched
// once, with the launch macros of the files that it includes. A launch names a kernel; the name
// means the functions that the file sees under it, and all definitions with the same qualified name
// (a kernel is often declared in a header and defined elsewhere).
constexpr size_t kMaxHosts = 256;  // kept for one kernel

// A quick check by text, which saves lexing most files.
bool MayLaunch(const SourceText& text) {
  const std::vector<string_view>& takers = text.language->takers.members;
  return absl::StrContains(text.text, "<<<") || absl::StrContains(text.text, "LAUNCH") ||
         absl::StrContains(text.text, "Launch") ||
         std::any_of(takers.begin(), takers.end(),
                     [&text](string_view taker) { return absl::StrContains(text.text, taker); });
}

}  // namespace

CudaLaunchers::CudaLaunchers(const Source& source, size_t max_bytes)
    : source_(source), left_(max_bytes) {
  for (uint32_t file = 0; file < source.size(); ++file) AddFile(file);
}

void CudaLaunchers::AddFile(uint32_t file) {
  constexpr size_t kMaxMacroFiles = 64;  // read for the macros of one file
  const std::shared_ptr<const View> view = source_.ViewFrom(file);
  LaunchMacros macros;
  size_t macro_files = 0;
  // Macros are added before those that invoke them: the files at the end of the view are included
  // by those before them.
  for (auto at = view->files.rbegin(); at != view->files.rend(); ++at) {
    if (*at == file || macro_files >= kMaxMacroFiles || !source_.HasLaunchMacros(*at)) continue;
    ++macro_files;
    if (source_[*at].text.size() > macro_bytes_left_) continue;
    macro_bytes_left_ -= source_[*at].text.size();
    macros.Add(Lex(source_[*at].text));
  }
  const SourceText& text = source_[file];
  if (!MayLaunch(text) && macros.empty()) return;
  const Code code = Lex(text.text, *text.language);
  const Findings found = FindFunctions(code, MatchBrackets(code), std::move(macros));
  const auto first_host = static_cast<uint32_t>(hosts_.size());
  for (const Function& host : found.hosts) {
    hosts_.push_back({file, text.lines.LineAt(code.tokens[host.first].begin),
                      text.lines.LineAt(code.tokens[host.last].end - 1), host.qualname});
  }
  absl::flat_hash_set<std::pair<uint32_t, string_view>> seen;
  for (const Launch& launch : found.launches) {
    if (launch.host == kNoToken || !seen.insert({launch.host, launch.name}).second) continue;
    AddLaunch(first_host + launch.host, launch.name, *view);
  }
}

void CudaLaunchers::Append(Hosts& hosts, uint32_t host) {
  if (hosts.size() < kMaxHosts && (hosts.empty() || hosts.back() != host)) hosts.push_back(host);
}

// Adds the host to all kernels that the name may mean. A declaration that the host sees refers to
// all functions with its qualified name, also in files that the host does not see.
void CudaLaunchers::AddLaunch(uint32_t host, const std::string& name, const View& view) {
  absl::flat_hash_set<std::string> meant;
  for (const ItemRef& ref : source_.FunctionsCalled(name)) {
    if (!view.contains.contains(ref.file)) continue;
    for (const std::string& declared : source_.at(ref).declaration.names) {
      meant.insert(source_.QualifiedName(ref, declared));
    }
  }
  absl::flat_hash_set<uint32_t> files;
  // Nothing else sees a string of a Python file.
  const bool alone = !source_[view.root].runs.empty();
  for (const ItemRef& ref : source_.FunctionsCalled(name)) {
    if (ref.file != view.root && (alone || !source_[ref.file].runs.empty())) continue;
    for (const std::string& declared : source_.at(ref).declaration.names) {
      if (meant.contains(source_.QualifiedName(ref, declared))) files.insert(ref.file);
    }
  }
  for (const uint32_t file : files) Append(launchers_[{file, name}], host);
}

absl::string_view CudaLaunchers::GetText(const Host& host) const {
  const SourceText& text = source_[host.file];
  const size_t begin = text.lines.Begin(host.first_line);
  return string_view(text.text).substr(begin, text.lines.End(host.last_line) - begin);
}

// Returns the hosts of a kernel that is no function with a name: those of the launches which its
// record has.
std::vector<CudaLaunchers::Host> CudaLaunchers::FindHostsHere(uint32_t file,
                                                              const v1::Kernel& kernel) {
  std::vector<Host> hosts;
  if (kernel.form() != v1::KERNEL_FORM_KERNEL_ARGUMENT) return hosts;
  for (const v1::CudaLaunch& launch : kernel.cuda().launches()) {
    const bool known = !hosts.empty() && hosts.back().first_line == launch.host_first_line();
    if (launch.host_first_line() == 0 || known) continue;
    hosts.push_back(
        {file, launch.host_first_line(), launch.host_last_line(), launch.host_function()});
  }
  return hosts;
}

// Prefers hosts in the kernel's own file, and among those the first whose text is in bounds.
void CudaLaunchers::FillIn(v1::Kernel& kernel) {
  if (kernel.role() != v1::KERNEL_ROLE_KERNEL || kernel.form() == v1::KERNEL_FORM_TEMPLATE) return;
  if (kernel.has_launcher()) return;  // in Python, around the string
  const uint32_t file = source_.FindFile(kernel);
  if (file == kNoFile) return;
  std::vector<Host> all = FindHostsHere(file, kernel);
  const auto found = launchers_.find({file, kernel.name()});
  if (all.empty() && found != launchers_.end()) {
    for (const uint32_t index : found->second) all.push_back(hosts_[index]);
  }
  if (all.empty()) return;
  const bool own =
      std::any_of(all.begin(), all.end(), [&](const Host& host) { return host.file == file; });
  const Host* chosen = nullptr;
  int count = 0;
  for (const Host& host : all) {
    if (own && host.file != file) continue;
    ++count;
    const bool fits = GetText(host).size() <= kMaxText;
    if (chosen == nullptr || (fits && GetText(*chosen).size() > kMaxText)) chosen = &host;
  }
  v1::Launcher& launcher = *kernel.mutable_launcher();
  const SourceText& of = source_[chosen->file];
  launcher.set_path(of.path);
  launcher.set_qualname(chosen->qualname);
  launcher.set_first_line(of.FileLineAt(of.lines.Begin(chosen->first_line)));
  launcher.set_last_line(of.FileLineAt(of.lines.End(chosen->last_line) - 1));
  launcher.set_count(count);
  const string_view text = GetText(*chosen);
  if (text.size() > std::min(kMaxText, left_)) return;
  left_ -= text.size();
  launcher.set_text(std::string(text));
}

}  // namespace kernelmill::extractor::cuda
