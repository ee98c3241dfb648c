#include "services/extractor/core/link/host_machinery.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/code/lexer.h"
#include "common/code/python.h"

namespace kernelmill::extractor {
namespace {

using Names = absl::flat_hash_set<absl::string_view>;

// Each of so many names is weighed by itself. No person decorates a kernel with more.
constexpr size_t kMaxNames = 32;

// Every word of the signature and the body.
Names DeviceWords(const v1::Kernel& kernel) {
  const absl::string_view source = kernel.source();
  const size_t signature = std::min(source.find(kernel.signature()), source.size());
  Names words;
  for (const code::Token& token : code::Lex(source.substr(signature), code::Language::kPython)) {
    if (token.kind == code::Token::kName) words.insert(token.text);
    if (token.kind != code::Token::kString || !code::HasFields(token.text)) continue;
    const absl::string_view content = code::PythonStringContent(token.text);
    for (const code::Token& inner : code::Lex(content, code::Language::kPython)) {
      if (inner.kind == code::Token::kName) words.insert(inner.text);
    }
  }
  return words;
}

// The parts of a module as a graph: who uses whom.
class Parts {
 public:
  explicit Parts(const std::vector<Closure::Part>& parts) : parts_(parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].definition == nullptr) {
        by_name_[HeadOf(parts[i].name)].push_back(i);
        continue;
      }
      for (const std::string& name : parts[i].definition->names()) by_name_[name].push_back(i);
    }
  }

  // Marks what the name comes to; returns the bytes of what was not marked yet.
  size_t Mark(absl::string_view name, std::vector<bool>& marked) const {
    size_t bytes = 0;
    std::vector<absl::string_view> pending = {name};
    Names seen;
    while (!pending.empty()) {
      const absl::string_view next = pending.back();
      pending.pop_back();
      if (!seen.insert(next).second) continue;
      const auto found = by_name_.find(next);
      if (found == by_name_.end()) continue;
      for (const size_t part : found->second) {
        if (marked[part]) continue;
        marked[part] = true;
        if (parts_[part].definition == nullptr) {
          pending.push_back(HeadOf(parts_[part].value));
          continue;
        }
        bytes += parts_[part].definition->text().size();
        for (const std::string& use : parts_[part].definition->uses()) pending.push_back(use);
      }
    }
    return bytes;
  }

 private:
  static absl::string_view HeadOf(absl::string_view name) { return name.substr(0, name.find('.')); }

  const std::vector<Closure::Part>& parts_;
  absl::flat_hash_map<absl::string_view, std::vector<size_t>> by_name_;
};

}  // namespace

absl::flat_hash_set<std::string> OversizedMachinery(const Closure& closure,
                                                    const v1::Kernel& kernel) {
  const size_t limit = std::max(kMaxMachineryBytes, kMaxMachineryOfSource * kernel.source().size());
  size_t bytes = 0;
  for (const Closure::Part& part : closure.parts()) {
    if (part.definition != nullptr) bytes += part.definition->text().size();
  }
  absl::flat_hash_set<std::string> oversized;
  if (bytes <= limit) return oversized;
  const Names words = DeviceWords(kernel);
  const Parts parts(closure.parts());
  std::vector<bool> device(closure.parts().size(), false);
  std::vector<absl::string_view> host;
  for (const std::string& name : kernel.free_names()) {
    if (words.contains(name)) {
      parts.Mark(name, device);
    } else {
      host.push_back(name);
    }
  }
  if (closure.applied() != nullptr) {
    host.insert(host.end(), closure.applied()->uses().begin(), closure.applied()->uses().end());
  }
  for (size_t i = 0; i < std::min(host.size(), kMaxNames); ++i) {
    std::vector<bool> marked = device;
    if (parts.Mark(host[i], marked) > limit) oversized.emplace(host[i]);
  }
  return oversized;
}

}  // namespace kernelmill::extractor
