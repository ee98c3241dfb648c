#include "services/runner/core/case_index.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "absl/strings/str_split.h"
#include "common/base/hash.h"
#include "common/base/path.h"
#include "common/base/text.h"

namespace kernelmill::runner {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxLine = size_t{1} << 20;  // as the export reads

bool IsSha256(absl::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Returns a text of the row; empty if it has none of that name.
std::string GetText(const Json& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

// Returns the versions of a result as Runner::toolchain() has them; empty if the row lacks them.
// Foreign lines may be nested deeply, which dump() does not bear.
std::string GetToolchain(const Json& row) {
  const auto found = row.find("toolchain");
  if (found == row.end() || !found->is_object()) return "";
  const bool flat = std::all_of(found->begin(), found->end(),
                                [](const Json& value) { return value.is_string(); });
  return flat ? found->dump(-1, ' ', false, Json::error_handler_t::replace) : "";
}

std::string ReadResultCase(const Json& row, absl::string_view device, absl::string_view toolchain) {
  const bool is = GetText(row, "type") == "result" && GetText(row, "device") == device &&
                  GetToolchain(row) == toolchain;
  return is ? GetText(row, "case") : "";
}

// Adds the hashes of the contents that a list of the row names.
void AddTensors(const Json& row, const char* list, std::vector<std::string>* tensors) {
  const auto found = row.find(list);
  if (found == row.end() || !found->is_array()) return;
  for (const Json& each : *found) {
    std::string sha256 = each.is_object() ? GetText(each, "sha256") : "";
    if (IsSha256(sha256)) tensors->push_back(std::move(sha256));
  }
}

}  // namespace

KernelName NameKernel(const v1::Kernel& kernel) {
  return {Sha256Hex(ToUtf8(kernel.module())), ToUtf8(kernel.qualname())};
}

int GetPartition(absl::string_view module_sha256, int partitions) {
  uint32_t head = 0;
  std::from_chars(module_sha256.data(), module_sha256.data() + 8, head, 16);
  return static_cast<int>(head % static_cast<uint32_t>(partitions));
}

bool IsTensor(absl::string_view path) { return IsSha256(BaseName(path)); }

std::string GetResultCase(absl::string_view line, absl::string_view device,
                          absl::string_view toolchain) {
  const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  return row.is_object() ? ReadResultCase(row, device, toolchain) : "";
}

void CaseIndex::AddShard(size_t number, const v1::FileShard& shard) {
  for (const v1::SourceFile& file : shard.files()) {
    if (IsTensor(file.path())) {
      tensors_.try_emplace(std::string(BaseName(file.path())), number);
      continue;
    }
    for (const absl::string_view line : absl::StrSplit(file.content(), '\n', absl::SkipEmpty())) {
      if (line.size() <= kMaxLine) AddLine(line);
    }
  }
}

void CaseIndex::AddLine(absl::string_view line) {
  const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!row.is_object()) return;
  if (std::string known = ReadResultCase(row, device_, toolchain_); !known.empty()) {
    known_.insert(std::move(known));
    return;
  }
  Case one = {GetText(row, "id"), std::string(line), {}};
  KernelName kernel = {GetText(row, "module_sha256"), GetText(row, "kernel")};
  if (GetText(row, "type") != "case" || !IsSha256(one.id) || !IsSha256(kernel.first)) return;
  AddTensors(row, "storages", &one.tensors);
  AddTensors(row, "outputs", &one.tensors);
  cases_[std::move(kernel)].push_back(std::move(one));
}

// Two lines with one id are the same case unless one is forged. The lesser stays.
void CaseIndex::Finish() {
  for (auto& [kernel, cases] : cases_) {
    std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
      return std::tie(a.id, a.line) < std::tie(b.id, b.line);
    });
    const auto end = std::unique(cases.begin(), cases.end(),
                                 [](const Case& a, const Case& b) { return a.id == b.id; });
    cases.erase(end, cases.end());
  }
}

const std::vector<Case>* CaseIndex::Find(const KernelName& kernel) const {
  const auto found = cases_.find(kernel);
  return found == cases_.end() ? nullptr : &found->second;
}

std::vector<size_t> CaseIndex::FindShards(const absl::flat_hash_set<std::string>& tensors) const {
  std::set<size_t> shards;
  for (const std::string& tensor : tensors) {
    if (const auto found = tensors_.find(tensor); found != tensors_.end()) {
      shards.insert(found->second);
    }
  }
  return {shards.begin(), shards.end()};
}

}  // namespace kernelmill::runner
