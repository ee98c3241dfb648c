#ifndef KERNELMILL_SERVICES_EXTRACTOR_TESTING_EXTRACT_FOR_TEST_H_
#define KERNELMILL_SERVICES_EXTRACTOR_TESTING_EXTRACT_FOR_TEST_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// A file's path and its text.
using NamedText = std::pair<std::string, std::string>;

// The shard that the files make; unlinked.
v1::KernelShard ExtractFiles(const std::vector<NamedText>& texts);

// Of one file.
v1::KernelShard Extract(absl::string_view text);

// The same, linked as a source of its own.
v1::KernelShard ExtractAndLink(const std::vector<NamedText>& texts);
v1::KernelShard ExtractAndLink(absl::string_view text);
v1::KernelShard Link(const v1::KernelShard& shard);

// The last kernel of that name, which an earlier one is no longer; fails the test where there is
// none.
v1::Kernel KernelNamed(const v1::KernelShard& shard, absl::string_view name);

// Of the files, linked.
v1::Kernel Linked(const std::vector<NamedText>& texts, absl::string_view name = "k");

// "name reason" of each name that the kernel's module lacks.
std::vector<std::string> Unresolved(const v1::Kernel& kernel);

// "qualname FORM DSL found_by" of every kernel.
std::vector<std::string> Forms(const v1::KernelShard& shard);

// "qualname first-last" of every kernel.
std::vector<std::string> Places(const v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_TESTING_EXTRACT_FOR_TEST_H_
