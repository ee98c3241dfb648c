#include "services/extractor/testing/extract_for_test.h"

#include <gtest/gtest.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/dsl/languages.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/core/link/link.h"

namespace kernelmill::extractor {

using python::StandardParser;

v1::KernelShard ExtractFiles(const std::vector<NamedText>& texts,
                             const std::vector<std::string>& languages) {
  v1::FileShard files;
  for (const auto& [path, text] : texts) {
    v1::SourceFile& file = *files.add_files();
    file.set_path(path);
    file.set_content(text);
  }
  const auto wanted = dsl::LanguageSet::Make(languages);
  EXPECT_TRUE(wanted.ok()) << wanted.status();
  ExtractOptions options;
  if (wanted.ok()) options.languages = *wanted;
  const StandardParser parser;
  auto shard = ExtractKernels(files, parser, options);
  EXPECT_TRUE(shard.ok()) << shard.status();
  return shard.ok() ? *std::move(shard) : v1::KernelShard();
}

v1::KernelShard Extract(absl::string_view text, const std::vector<std::string>& languages) {
  return ExtractFiles({{"a.py", std::string(text)}}, languages);
}

namespace {

v1::KernelShard LinkFor(const v1::KernelShard& shard, const std::vector<std::string>& languages) {
  auto linked = LinkSource(shard, {}, languages);
  EXPECT_TRUE(linked.ok()) << linked.status();
  return linked.ok() ? *std::move(linked) : v1::KernelShard();
}

}  // namespace

v1::KernelShard Link(const v1::KernelShard& shard) { return LinkFor(shard, {}); }

v1::KernelShard ExtractAndLink(const std::vector<NamedText>& texts,
                               const std::vector<std::string>& languages) {
  return LinkFor(ExtractFiles(texts, languages), languages);
}

v1::KernelShard ExtractAndLink(absl::string_view text) { return Link(Extract(text)); }

v1::Kernel FindKernel(const v1::KernelShard& shard, absl::string_view name) {
  v1::Kernel found;
  for (const v1::Kernel& kernel : shard.kernels()) {
    if (kernel.name() == name) found = kernel;
  }
  EXPECT_EQ(found.name(), name);
  return found;
}

v1::Kernel Linked(const std::vector<NamedText>& texts, absl::string_view name) {
  return FindKernel(ExtractAndLink(texts), name);
}

std::vector<std::string> Unresolved(const v1::Kernel& kernel) {
  EXPECT_EQ(kernel.self_contained(), kernel.unresolved_names().empty());
  std::vector<std::string> names;
  for (const v1::UnresolvedName& entry : kernel.unresolved_names()) {
    names.push_back(absl::StrCat(entry.name(), " ", entry.reason()));
  }
  return names;
}

std::vector<std::string> Forms(const v1::KernelShard& shard) {
  std::vector<std::string> forms;
  for (const v1::Kernel& kernel : shard.kernels()) {
    forms.push_back(absl::StrCat(kernel.qualname(), " ",
                                 v1::KernelForm_Name(kernel.form()).substr(12), " ",
                                 absl::AsciiStrToUpper(kernel.dsl()), " ", kernel.found_by()));
  }
  return forms;
}

std::vector<std::string> Places(const v1::KernelShard& shard) {
  std::vector<std::string> places;
  for (const v1::Kernel& kernel : shard.kernels()) {
    places.push_back(
        absl::StrCat(kernel.qualname(), " ", kernel.first_line(), "-", kernel.last_line()));
  }
  return places;
}

}  // namespace kernelmill::extractor
