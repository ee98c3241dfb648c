#include "services/extractor/core/reference/references.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/extractor/core/describe/definitions.h"
#include "services/extractor/core/detect/functions.h"
#include "services/extractor/core/extract/extract_file.h"
#include "services/extractor/core/link/import_paths.h"
#include "services/extractor/core/link/source_scope.h"
#include "services/extractor/core/reference/host_module.h"
#include "services/extractor/core/reference/machine_facts.h"
#include "services/extractor/core/reference/reach.h"
#include "services/extractor/core/reference/source_facts.h"
#include "services/extractor/core/reference/test_file.h"
#include "services/extractor/core/reference/test_reader.h"

namespace kernelmill::extractor {
namespace {

// The order of a kernel's tests: those without a reference last, then the length of the chain, path
// and line.
using TestRank = std::tuple<bool, int, std::string, int>;

// A kernel of the source, without its texts.
struct KernelPlace {
  bool read = false;  // it is a function of a Python file
  bool whole_file = false;
  std::string path;
  std::string qualname;
  std::string launcher_path;
  int launcher_line = 0;
  v1::KernelReferences found;
  std::vector<TestRank> ranks;  // one for each of its tests
};

// Returns all functions that are kernels or may be, in the order of the text.
std::vector<JitFunction> FindJitFunctions(const ParsedText& text) {
  FoundFunctions found = FindFunctions(text);
  std::vector<JitFunction> all = std::move(found.kernels);
  all.insert(all.end(), found.candidates.begin(), found.candidates.end());
  std::sort(all.begin(), all.end(),
            [](const JitFunction& a, const JitFunction& b) { return a.decorated < b.decorated; });
  return all;
}

bool MayHoldTests(absl::string_view path, absl::string_view text) {
  return IsTestPath(path) || Contains(text, "def test") || Contains(text, "allclose") ||
         Contains(text, "assert_close") || Contains(text, "perf_report");
}

// Returns whether a tag says that a kernel only moves or converts what it is given.
bool IsRearranging(absl::string_view tag) {
  static constexpr absl::string_view kTags[] = {"cast",   "copy",    "gather",      "layout",
                                                "concat", "padding", "permutation", "transpose"};
  return std::find(std::begin(kTags), std::end(kTags), tag) != std::end(kTags);
}

// Reads a source; see FindReferences.
class SourceReader {
 public:
  SourceReader(const v1::SourceTree& tree, const python::PythonParser& parser,
               const ReferenceOptions& options)
      : paths_(tree), parser_(parser), options_(options), bytes_left_(options.max_bytes) {}

  // Keeps the Python files of a shard: their texts, definitions and facts.
  absl::Status AddFiles(v1::FileShard shard) {
    for (v1::SourceFile& file : *shard.mutable_files()) {
      const size_t size = file.content().size();
      if (!absl::EndsWith(file.path(), ".py") || size > options_.max_file_bytes) continue;
      if (size > source_left_) continue;
      source_left_ -= size;
      const auto parsed = ParsedText::Parse(file.content(), parser_);
      if (absl::IsResourceExhausted(parsed.status())) continue;
      RETURN_IF_ERROR(Annotate(parsed.status(), file.path()));
      AddDefinitions(file.path(), **parsed);
      texts_[file.path()] = std::move(*file.mutable_content());
    }
    return absl::OkStatus();
  }

  void AddKernels(const v1::KernelShard& shard) {
    for (const v1::Kernel& kernel : shard.kernels()) {
      KernelPlace& place = kernels_.emplace_back();
      place.whole_file = kernel.form() == v1::KERNEL_FORM_FILE;
      place.read = !place.whole_file && kernel.form() != v1::KERNEL_FORM_TEMPLATE &&
                   kernel.string_begin() == 0 && !kernel.has_json_pointer() && !kernel.has_cuda() &&
                   texts_.contains(kernel.path());
      place.path = kernel.path();
      place.qualname = kernel.qualname();
      KernelTraits& traits = traits_.emplace_back();
      bool quantizes = false;
      for (const v1::Tag& tag : kernel.tags()) {
        traits.backward |= tag.name() == "backward";
        traits.rearranges |= IsRearranging(tag.name());
        quantizes |= absl::StrContains(tag.name(), "quantization");
        traits.fills |= tag.name() == "fill";
      }
      traits.rearranges = traits.rearranges && !quantizes;
      place.launcher_path = kernel.launcher().path();
      place.launcher_line = kernel.launcher().first_line();
    }
  }

  void Find() {
    std::vector<std::string> paths;
    for (const auto& [path, text] : texts_) paths.push_back(path);
    std::sort(paths.begin(), paths.end());
    scope_.emplace(StateMachineFacts(std::move(definitions_), paths_), paths_);
    modules_.emplace(*scope_, options_.max_module_bytes);
    Reach reach(*scope_, paths, facts_);
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (kernels_[i].read) {
        reach.AddKernel(static_cast<int32_t>(i), kernels_[i].path, kernels_[i].qualname);
      }
    }
    reach.FindWays();
    TestFiles files(texts_, parser_);
    for (const std::string& path : paths) {
      if (!MayHoldTests(path, texts_.at(path))) continue;
      files.DropMany();
      TestFile* file = files.Get(path);
      if (file == nullptr) continue;
      TestReader reader(*scope_, reach, files, *modules_, traits_);
      reader.Read(*file, [this](const TestFinding& finding, auto write) { Keep(finding, write); });
    }
    for (size_t i = 0; i < kernels_.size(); ++i) Finish(reach, static_cast<int32_t>(i));
  }

  // Takes the records of the next `count` kernels.
  v1::ReferenceShard Take(int count) {
    v1::ReferenceShard shard;
    for (int i = 0; i < count; ++i) *shard.add_kernels() = std::move(kernels_[taken_++].found);
    return shard;
  }

 private:
  void AddDefinitions(const std::string& path, const ParsedText& parsed) {
    const python::Bindings bindings(parsed.tree());
    const ParsedFile file = {path,           parsed.text(),    parsed.tree(),
                             parsed.lines(), parsed.imports(), parsed.calls(),
                             bindings};
    const std::vector<JitFunction> functions =
        MayHoldKernels(parsed.text()) ? FindJitFunctions(parsed) : std::vector<JitFunction>();
    for (v1::Definition& each : FindDefinitions(file, functions, Wanted::kImportable)) {
      if (each.text().size() > definitions_left_) continue;
      definitions_left_ -= each.text().size();
      definitions_.push_back(std::move(each));
    }
    facts_.Add(file);
  }

  // Keeps the best tests of a kernel. A record is made only if it may be one of them.
  template <typename Write>
  void Keep(const TestFinding& finding, Write write) {
    KernelPlace& place = kernels_[finding.kernel];
    v1::KernelReferences& found = place.found;
    const auto count = [&found] { found.set_further_tests(found.further_tests() + 1); };
    const auto rank_with = [&finding](absl::string_view status) {
      return TestRank(status != kReferenceFound, finding.length, finding.path, finding.first_line);
    };
    const bool full = place.ranks.size() >= options_.max_tests;
    if (full && place.ranks.back() <= rank_with(finding.status)) return count();
    v1::TestReference test = write();
    test.set_path(finding.path);
    test.set_qualname(finding.qualname);
    test.set_first_line(finding.first_line);
    test.set_last_line(finding.last_line);
    const TestRank rank = rank_with(test.status());
    const size_t size = test.ByteSizeLong();
    if ((full && place.ranks.back() <= rank) || size > bytes_left_) return count();
    auto& tests = *found.mutable_tests();
    if (full) {
      bytes_left_ += tests[tests.size() - 1].ByteSizeLong();
      tests.RemoveLast();
      place.ranks.pop_back();
      count();
    }
    bytes_left_ -= std::min(size, bytes_left_);
    const auto at = std::upper_bound(place.ranks.begin(), place.ranks.end(), rank);
    const auto position = static_cast<int>(at - place.ranks.begin());
    place.ranks.insert(at, rank);
    *tests.Add() = std::move(test);
    for (int i = tests.size() - 1; i > position; --i) tests.SwapElements(i, i - 1);
  }

  // Adds the launcher, and the reason of a kernel without tests.
  void Finish(const Reach& reach, int32_t kernel) {
    KernelPlace& place = kernels_[kernel];
    if (place.whole_file) return;
    if (place.found.tests().empty()) {
      place.found.set_reason(!place.read                       ? kNotRead
                             : place.found.further_tests() > 0 ? kNoReference
                                                               : kNoTest);
    }
    if (!place.read) return;
    const v1::HostModule* launcher = nullptr;
    if (!place.launcher_path.empty()) {
      launcher = modules_->FindAt(place.launcher_path, place.launcher_line);
    } else if (const Reach::Node user = reach.FindUser(kernel); user != Reach::kNone) {
      const TextDefinitions& text = scope_->GetDefinitions(reach.GetPath(user), 0);
      const Origin* origin = scope_->Find(text, reach.GetName(user));
      if (origin != nullptr) launcher = modules_->FindFor(*origin);
    }
    if (launcher == nullptr || launcher->ByteSizeLong() > bytes_left_) return;
    bytes_left_ -= launcher->ByteSizeLong();
    *place.found.mutable_launcher() = *launcher;
  }

  ImportPaths paths_;
  const python::PythonParser& parser_;
  const ReferenceOptions& options_;
  size_t source_left_ = options_.max_source_bytes;
  size_t definitions_left_ = options_.max_source_bytes;
  size_t bytes_left_;
  absl::flat_hash_map<std::string, std::string> texts_;
  std::vector<v1::Definition> definitions_;
  SourceFacts facts_;
  std::vector<KernelPlace> kernels_;
  std::vector<KernelTraits> traits_;  // by kernel
  size_t taken_ = 0;
  std::optional<SourceScope> scope_;
  std::optional<HostModules> modules_;
};

}  // namespace

absl::Status FindReferences(const v1::SourceTree& tree, const ReferenceInputs& inputs,
                            const python::PythonParser& parser,
                            const ReferenceWriterFunction& write, const ReferenceOptions& options) {
  SourceReader reader(tree, parser, options);
  for (size_t i = 0; i < inputs.files; ++i) {
    ASSIGN_OR_RETURN(v1::FileShard shard, inputs.read_files(i));
    RETURN_IF_ERROR(reader.AddFiles(std::move(shard)));
  }
  std::vector<int> counts;
  for (size_t i = 0; i < inputs.kernels; ++i) {
    ASSIGN_OR_RETURN(const v1::KernelShard shard, inputs.read_kernels(i));
    reader.AddKernels(shard);
    counts.push_back(shard.kernels_size());
  }
  reader.Find();
  for (const int count : counts) RETURN_IF_ERROR(write(reader.Take(count)));
  return absl::OkStatus();
}

}  // namespace kernelmill::extractor
