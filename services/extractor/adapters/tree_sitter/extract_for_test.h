#ifndef KERNELMILL_SERVICES_EXTRACTOR_ADAPTERS_TREE_SITTER_EXTRACT_FOR_TEST_H_
#define KERNELMILL_SERVICES_EXTRACTOR_ADAPTERS_TREE_SITTER_EXTRACT_FOR_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/adapters/tree_sitter/tree_sitter_parser.h"
#include "services/extractor/core/extract.h"
#include "services/extractor/core/jit_names.h"
#include "services/extractor/core/link.h"

namespace kernelmill::extractor {

// A file's path and its text.
using NamedText = std::pair<std::string, std::string>;

// The shard that the files make; unlinked.
inline v1::KernelShard ExtractFiles(const std::vector<NamedText>& texts) {
  v1::FileShard files;
  for (const auto& [path, text] : texts) {
    v1::SourceFile& file = *files.add_files();
    file.set_path(path);
    file.set_content(text);
  }
  const TreeSitterParser parser;
  auto shard = ExtractKernels(files, parser);
  EXPECT_TRUE(shard.ok()) << shard.status();
  return shard.ok() ? *std::move(shard) : v1::KernelShard();
}

// Of one file.
inline v1::KernelShard Extract(absl::string_view text) {
  return ExtractFiles({{"a.py", std::string(text)}});
}

inline v1::KernelShard ExtractAndLink(absl::string_view text) {
  v1::KernelShard shard = Extract(text);
  LinkShard(shard);
  return shard;
}

// The kernels of files, after what one of them defines for another was looked at.
inline v1::KernelShard ExtractAndDecide(const std::vector<NamedText>& texts) {
  v1::KernelShard shard = ExtractFiles(texts);
  JitNames names;
  names.Add(shard);
  DecideCandidates(names, shard);
  return shard;
}

// "qualname FORM DSL found_by" of every kernel.
inline std::vector<std::string> Forms(const v1::KernelShard& shard) {
  std::vector<std::string> forms;
  for (const v1::Kernel& kernel : shard.kernels()) {
    forms.push_back(absl::StrCat(kernel.qualname(), " ",
                                 v1::KernelForm_Name(kernel.form()).substr(12), " ",
                                 v1::Dsl_Name(kernel.dsl()).substr(4), " ", kernel.found_by()));
  }
  return forms;
}

// "qualname first-last" of every kernel.
inline std::vector<std::string> Places(const v1::KernelShard& shard) {
  std::vector<std::string> places;
  for (const v1::Kernel& kernel : shard.kernels()) {
    places.push_back(
        absl::StrCat(kernel.qualname(), " ", kernel.first_line(), "-", kernel.last_line()));
  }
  return places;
}

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_ADAPTERS_TREE_SITTER_EXTRACT_FOR_TEST_H_
