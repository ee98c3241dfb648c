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

// Extracts the files as one shard, which is not linked. `languages`: as of Source.
v1::KernelShard ExtractFiles(const std::vector<NamedText>& texts,
                             const std::vector<std::string>& languages = {});

// Extracts one file.
v1::KernelShard Extract(absl::string_view text, const std::vector<std::string>& languages = {});

// Extract, and link as a source of its own.
v1::KernelShard ExtractAndLink(const std::vector<NamedText>& texts,
                               const std::vector<std::string>& languages = {});
v1::KernelShard ExtractAndLink(absl::string_view text);
v1::KernelShard Link(const v1::KernelShard& shard);

// Returns the last kernel with that name. Fails the test without one.
v1::Kernel FindKernel(const v1::KernelShard& shard, absl::string_view name);

// Returns a kernel of the linked files.
v1::Kernel Linked(const std::vector<NamedText>& texts, absl::string_view name = "k");

// Returns "name reason" for each name that the kernel's module lacks.
std::vector<std::string> Unresolved(const v1::Kernel& kernel);

// Returns "qualname FORM DSL found_by" for each kernel.
std::vector<std::string> Forms(const v1::KernelShard& shard);

// Returns "qualname first-last" for each kernel.
std::vector<std::string> Places(const v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_TESTING_EXTRACT_FOR_TEST_H_
