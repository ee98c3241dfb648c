// usage: extract_fuzz [LIBFUZZER_FLAG...] [CORPUS...]
// Extracts kernels from one file of any bytes; the first line names it. For all bytes: extraction
// ends within bounds, kernels are exact spans of the file, of a decoded string of a JSON file or of
// a document's text, and a second run finds the same kernels. Kernels of documents are linked as
// well, and must then pass the check that an export makes.
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/cas/digest.h"
#include "common/documents/document.h"
#include "common/json/json_documents.h"
#include "common/json/json_strings.h"
#include "common/manifest/source_check.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/core/link/link.h"
#include "tests/fuzz/checks.h"

namespace kernelmill::extractor {

using python::StandardParser;

namespace {

// Chooses the file's name, which decides its language.
absl::string_view ChooseName(uint8_t choice) {
  constexpr absl::string_view kNames[] = {"a.py",   "a.cu",    "a.py.jinja", "output_code.py",
                                          "a.json", "a.jsonl", "a.ipynb",    "a.md",
                                          "a.rst",  "a.html"};
  return kNames[choice % (sizeof(kNames) / sizeof(kNames[0]))];
}

// Returns the decoded strings of a JSON file, by the begin of their content.
std::map<int64_t, std::string> ListStrings(const v1::SourceFile& file) {
  std::map<int64_t, std::string> strings;
  json::Documents documents(file.path(), file.content());
  json::Document document;
  while (documents.Next(&document)) {
    json::StringReader reader(document.text);
    while (reader.Next()) {
      const absl::string_view raw = reader.raw();
      std::string text = json::Unescape(raw);
      Check(text.size() <= raw.size());
      strings[raw.data() - file.content().data()] = std::move(text);
    }
  }
  return strings;
}

// A kernel in a string inside the JSON string has a later place than that string.
void CheckJsonSpan(const v1::Kernel& kernel, const std::map<int64_t, std::string>& strings) {
  auto string = strings.upper_bound(kernel.string_begin());
  Check(string != strings.begin());
  --string;
  const auto size = static_cast<int64_t>(string->second.size());
  Check(kernel.string_begin() - string->first <= size);
  CheckSpan(kernel, string->second);
}

// The line end that separates two cells is no part of a kernel.
void CheckDocument(const v1::KernelShard& shard, const v1::FileShard& files) {
  const documents::Document document =
      documents::ReadDocument(files.files(0).path(), files.files(0).content());
  for (const v1::Kernel& kernel : shard.kernels()) CheckSpan(kernel, document.text);
  const auto linked = LinkSource(shard);
  Check(linked.ok() && manifest::CheckSources(files, *linked).ok());
}

void CheckKernels(const v1::KernelShard& shard, const v1::SourceFile& file) {
  const bool is_json = json::IsJsonPath(file.path());
  const auto strings = is_json ? ListStrings(file) : std::map<int64_t, std::string>();
  for (const v1::Kernel& kernel : shard.kernels()) {
    Check(kernel.has_json_pointer() == is_json);
    if (is_json) {
      CheckJsonSpan(kernel, strings);
    } else {
      CheckSpan(kernel, file.content());
    }
  }
}

void Extract(const uint8_t* data, size_t size) {
  if (size == 0) return;
  v1::FileShard files;
  v1::SourceFile& file = *files.add_files();
  file.set_path(std::string(ChooseName(data[0])));
  file.set_content(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  const StandardParser parser;
  const auto shard = ExtractKernels(files, parser);
  if (absl::IsDeadlineExceeded(shard.status())) return;
  Check(shard.ok());
  Check(shard->files_size() == 1);
  if (documents::IsDocumentPath(file.path())) {
    CheckDocument(*shard, files);
  } else {
    CheckKernels(*shard, file);
  }
  const auto again = ExtractKernels(files, parser);
  Check(again.ok() &&
        cas::SerializeDeterministically(*again) == cas::SerializeDeterministically(*shard));
}

}  // namespace
}  // namespace kernelmill::extractor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kernelmill::extractor::Extract(data, size);
  return 0;
}
