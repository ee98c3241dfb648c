#include "services/deduplicator/core/sign/words.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/json/json_documents.h"
#include "common/json/json_strings.h"
#include "common/text/words.h"
#include "services/deduplicator/core/sign/shingles.h"

namespace kernelmill::deduplicator {
namespace {

using absl::string_view;

bool IsLicenseName(string_view path) {
  const size_t slash = path.rfind('/');
  const std::string name =
      absl::AsciiStrToLower(slash == string_view::npos ? path : path.substr(slash + 1));
  return absl::StartsWith(name, "licen") || absl::StartsWith(name, "copying") ||
         absl::StartsWith(name, "notice");
}

void AddRuns(v1::Sensitive::Text text, const std::vector<uint64_t>& runs, string_view pointer,
             v1::KernelShingles* shingles) {
  if (runs.size() < kLeastWordRuns) return;
  v1::WordRuns* added = shingles->add_words();
  added->set_text(text);
  added->set_json_pointer(std::string(pointer));
  added->mutable_runs()->Add(runs.begin(), runs.end());
}

// A text of a JSON file that is put together from the strings of one array.
struct JsonText {
  std::string pointer;  // its first string's
  std::string array;    // the array's; empty if it is a member of an object
  int64_t index = 0;    // its last string's in the array
  std::string text;
};

// Returns the array of a pointer, and the index in it; nothing for a member of an object.
std::optional<std::pair<string_view, int64_t>> SplitIndex(string_view pointer) {
  const size_t slash = pointer.rfind('/');
  int64_t index;
  if (slash == string_view::npos || !absl::SimpleAtoi(pointer.substr(slash + 1), &index)) {
    return std::nullopt;
  }
  return std::make_pair(pointer.substr(0, slash), index);
}

void AddJsonWords(const v1::Kernel& file, v1::KernelShingles* shingles) {
  JsonText text;
  const auto end_text = [&] {
    AddRuns(v1::Sensitive::TEXT_UNSPECIFIED, WordRuns(text.text), text.pointer, shingles);
    text = {};
  };
  json::Documents documents(file.path(), file.source());
  json::Document document;
  while (documents.Next(&document)) {
    json::StringReader reader(document.text);
    while (reader.Next()) {
      const std::string pointer = absl::StrCat(document.pointer, reader.Pointer().value_or(""));
      const auto place = SplitIndex(pointer);
      const bool continues = place.has_value() && !text.array.empty() &&
                             place->first == text.array && place->second == text.index + 1;
      if (!continues) {
        end_text();
        text.pointer = pointer;
        if (place.has_value()) text.array = std::string(place->first);
      }
      if (place.has_value()) text.index = place->second;
      absl::StrAppend(&text.text, json::Unescape(reader.raw()), "\n");
    }
  }
  end_text();
}

}  // namespace

std::vector<uint64_t> WordRuns(string_view text) {
  std::vector<uint64_t> runs = Runs(HashWords(text));
  std::erase_if(runs, [](uint64_t run) { return run % 2 != 0; });
  MakeSet(&runs);
  return runs;
}

void AddKernelWords(const v1::Kernel& kernel, v1::KernelShingles* shingles) {
  const std::vector<uint64_t> source = WordRuns(kernel.source());
  AddRuns(v1::Sensitive::TEXT_SOURCE, source, "", shingles);
  const std::vector<uint64_t> module = WordRuns(kernel.module());
  std::vector<uint64_t> beside;
  std::set_difference(module.begin(), module.end(), source.begin(), source.end(),
                      std::back_inserter(beside));
  AddRuns(v1::Sensitive::TEXT_MODULE, beside, "", shingles);
  AddRuns(v1::Sensitive::TEXT_LAUNCHER, WordRuns(kernel.launcher().text()), "", shingles);
}

void AddFileWords(const v1::Kernel& file, v1::KernelShingles* shingles) {
  if (IsLicenseName(file.path()) || absl::StrContains(file.source(), '\0')) return;
  if (json::IsJsonPath(file.path()) || absl::EndsWith(file.path(), ".ipynb")) {
    return AddJsonWords(file, shingles);
  }
  AddRuns(v1::Sensitive::TEXT_UNSPECIFIED, WordRuns(file.source()), "", shingles);
}

}  // namespace kernelmill::deduplicator
