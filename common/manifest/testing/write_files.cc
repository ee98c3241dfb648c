#include "common/manifest/testing/write_files.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "common/code/line_index.h"

namespace kernelmill::manifest {
namespace {

// Appends the kernel to the text, after empty lines.
void Append(v1::Kernel* kernel, std::string* text) {
  const auto lines = static_cast<int32_t>(CountLines(*text));
  if (kernel->first_line() > lines + 1) {
    text->append(static_cast<size_t>(kernel->first_line() - 1 - lines), '\n');
  } else {
    kernel->set_first_line(lines + 1);
  }
  kernel->set_first_byte(static_cast<int64_t>(text->size()));
  kernel->set_sha256(Sha256Hex(kernel->source()));
  kernel->set_last_line(kernel->first_line() - 1 +
                        static_cast<int32_t>(CountLines(kernel->source())));
  absl::StrAppend(text, kernel->source());
}

// Makes a JSON file with a string for each kernel.
std::string JsonFile(const std::vector<v1::Kernel*>& kernels) {
  std::string file;
  for (v1::Kernel* kernel : kernels) {
    const absl::string_view pointer = kernel->json_pointer();
    if (!pointer.empty()) {
      absl::StrAppend(&file, file.empty() ? "[" : ", ", "{\"",
                      pointer.substr(pointer.rfind('/') + 1), "\": ");
    }
    kernel->set_string_begin(static_cast<int64_t>(file.size()) + 1);
    std::string text;
    Append(kernel, &text);
    absl::StrAppend(&file, JsonString(text), pointer.empty() ? "" : "}");
  }
  if (file[0] == '[') file += "]";
  return file;
}

std::string CodeFile(std::vector<v1::Kernel*> kernels) {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto* a, const auto* b) { return a->first_line() < b->first_line(); });
  std::string file;
  for (v1::Kernel* kernel : kernels) Append(kernel, &file);
  return file;
}

// Makes a file's content. A file without kernels has the source of its whole-file record.
std::string MakeContent(const std::vector<v1::Kernel*>& kernels, const v1::Kernel* whole) {
  if (kernels.empty()) return whole->source();
  return kernels[0]->has_json_pointer() ? JsonFile(kernels) : CodeFile(kernels);
}

void SetWhole(const std::string& content, v1::Kernel* whole) {
  whole->set_first_line(1);
  whole->set_last_line(static_cast<int32_t>(CountLines(content)));
  whole->set_source(content);
  whole->set_sha256(Sha256Hex(content));
}

}  // namespace

v1::FileShard WriteFiles(v1::KernelShard* shard) {
  std::map<std::string, std::vector<v1::Kernel*>> by_path;
  std::map<std::string, v1::Kernel*> wholes;
  for (v1::Kernel& kernel : *shard->mutable_kernels()) {
    std::vector<v1::Kernel*>& kernels = by_path[kernel.path()];
    if (kernel.form() == v1::KERNEL_FORM_FILE) {
      wholes[kernel.path()] = &kernel;
    } else {
      kernels.push_back(&kernel);
    }
  }
  v1::FileShard files;
  for (const auto& [path, kernels] : by_path) {
    v1::Kernel* whole = wholes.contains(path) ? wholes[path] : nullptr;
    v1::SourceFile* file = files.add_files();
    file->set_path(path);
    file->set_content(MakeContent(kernels, whole));
    if (whole != nullptr) SetWhole(file->content(), whole);
    v1::ExtractedFile* listed = shard->add_files();
    listed->set_path(path);
    listed->set_size_bytes(static_cast<int64_t>(file->content().size()));
    listed->set_lines(static_cast<int32_t>(CountLines(file->content())));
    listed->set_sha256(Sha256Hex(file->content()));
    listed->set_kernels(static_cast<int32_t>(kernels.size()));
  }
  return files;
}

}  // namespace kernelmill::manifest
