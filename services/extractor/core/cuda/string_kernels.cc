#include "services/extractor/core/cuda/string_kernels.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "services/extractor/core/cuda/cuda_kernels.h"
#include "services/extractor/core/cuda/cuda_records.h"
#include "services/extractor/core/cuda/cuda_strings.h"
#include "services/extractor/core/cuda/string_uses.h"
#include "services/extractor/core/describe/kernel_references.h"
#include "services/extractor/core/describe/launcher.h"
#include "services/extractor/core/detect/file_values.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;

// Adds the functions in the strings of CUDA of one Python file; see AddCudaStrings. Refers to its
// arguments.
class StringExtractor {
 public:
  StringExtractor(const ParsedFile& file, const CudaStringLimits& limits, v1::ExtractedFile& entry,
                  v1::KernelShard& shard)
      : file_(file),
        limits_(limits),
        entry_(entry),
        shard_(shard),
        references_(file.tree, {}),
        values_(file.tree, references_.names()),
        strings_(cuda::FindCudaStrings(file, values_, limits.max_overlap * file.text.size())),
        launcher_bytes_left_(limits.max_overlap * file.text.size()) {}

  void Run() {
    size_t literals = 0;
    for (const cuda::CudaString& string : strings_) literals += string.literals.size();
    if (literals == 0) return;
    if (literals > limits_.max_strings) {
      return Skip(strings_[0].literals[0], "too_many_strings");
    }
    const cuda::StringUses uses(file_, values_, references_, strings_);
    const Launches launches(file_, references_, {});
    for (const cuda::CudaString& string : strings_) AddString(string, uses, launches);
  }

 private:
  void AddString(const cuda::CudaString& string, const cuda::StringUses& uses,
                 const Launches& launches) {
    if (!string.loss.empty()) return Skip(string.literals[0], string.loss);
    const string_view text = string.text.text();
    const cuda::TextPlace place(file_.text, file_.lines, string.text);
    cuda::CudaRecords read(file_.path, text, place, limits_.max_overlap * text.size());
    if (read.functions().empty() || IsProse(text)) return;
    if (!read.InBounds()) return Skip(string.literals[0], "nested_kernels");
    const size_t string_begin =
        std::min_element(string.literals.begin(), string.literals.end(), IsBefore)->begin;
    std::vector<v1::Kernel> kernels;
    std::vector<const cuda::CudaLiteral*> literals;
    absl::flat_hash_set<size_t> seen;
    for (const cuda::Function& function : read.functions()) {
      const cuda::CudaLiteral* literal = FindLiteral(string, read.code(), function);
      if (literal == nullptr) continue;
      // A text may have a literal several times.
      const size_t place = string.text.InFile(read.code().tokens[function.body].begin);
      if (!seen.insert(place).second) continue;
      const absl::string_view lost = FindLoss(string.text, *literal, read, function);
      if (!lost.empty()) {
        Skip(*literal, lost);
        continue;
      }
      v1::Kernel& kernel = kernels.emplace_back();
      read.Describe(function, kernel);
      kernel.set_string_begin(static_cast<int64_t>(string_begin));
      kernel.set_found_by(uses.FindMaker(*literal));
      const bool guess = string.text.IsGuess(read.code().tokens[function.first].begin,
                                             read.code().tokens[function.last].end);
      const bool is_template = guess || read.code().is_template || uses.IsTemplate(*literal);
      kernel.set_form(is_template ? v1::KERNEL_FORM_TEMPLATE : v1::KERNEL_FORM_STRING);
      literals.push_back(literal);
    }
    if (kernels.empty()) return;
    if (read.has_errors()) entry_.set_parse_errors(true);
    AddLaunchers(literals, text, uses, launches, kernels);
    AddDefinition(string, string_begin);
    for (v1::Kernel& kernel : kernels) *shard_.add_kernels() = std::move(kernel);
    entry_.set_kernels(entry_.kernels() + static_cast<int32_t>(kernels.size()));
  }

  static bool IsBefore(const cuda::CudaLiteral& a, const cuda::CudaLiteral& b) {
    return a.begin < b.begin;
  }

  // Returns whether the text is prose with code in fences, such as a prompt. No C++ has such a
  // mark.
  static bool IsProse(string_view text) { return absl::StrContains(text, "```"); }

  // Returns the literal in which the function begins, if it is read in this text.
  const cuda::CudaLiteral* FindLiteral(const cuda::CudaString& string, const cuda::Code& code,
                                       const cuda::Function& function) const {
    const size_t first = string.text.InFile(code.tokens[function.first].begin);
    for (const cuda::CudaLiteral& literal : string.literals) {
      if (literal.begin <= first && first < literal.end) return &literal;
    }
    return nullptr;
  }

  // Returns why the function is not whole lines of the literal; empty if it is.
  absl::string_view FindLoss(const cuda::StringText& text, const cuda::CudaLiteral& literal,
                             const cuda::CudaRecords& read, const cuda::Function& function) const {
    const cuda::Code& code = read.code();
    if (!text.InOneLiteral(code.tokens[function.first].begin, code.tokens[function.last].end)) {
      return "not_verbatim";
    }
    const size_t begin = file_.lines.Begin(read.FirstLine(function.first));
    const size_t end = file_.lines.End(read.LastLine(function.last));
    return begin < literal.begin || end > literal.end ? "shared_line" : "";
  }

  // Gives the kernels their launchers. Their texts are bounded together: one function may launch
  // many kernels.
  void AddLaunchers(const std::vector<const cuda::CudaLiteral*>& literals, string_view text,
                    const cuda::StringUses& uses, const Launches& launches,
                    std::vector<v1::Kernel>& kernels) {
    const cuda::BoundNames bound_names(text);
    std::vector<std::string> names;
    for (const v1::Kernel& kernel : kernels) names.push_back(kernel.name());
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i].role() != v1::KERNEL_ROLE_KERNEL) continue;
      const std::vector<python::NodeId> hosts =
          uses.FindHosts(*literals[i], kernels[i], bound_names, names);
      if (hosts.empty()) continue;
      v1::Launcher launcher = launches.HostAt(hosts[0]);
      for (size_t next = 1; next < hosts.size() && launcher.text().empty(); ++next) {
        v1::Launcher other = launches.HostAt(hosts[next]);
        if (!other.text().empty()) launcher = std::move(other);
      }
      launcher.set_path(std::string(file_.path));
      launcher.set_count(static_cast<int32_t>(hosts.size()));
      if (launcher.text().size() > launcher_bytes_left_) launcher.clear_text();
      launcher_bytes_left_ -= launcher.text().size();
      *kernels[i].mutable_launcher() = std::move(launcher);
    }
  }

  void AddDefinition(const cuda::CudaString& string, size_t string_begin) {
    AddCudaText(file_.path, string.text.text(), shard_);
    v1::Definition& definition = *shard_.mutable_definitions(shard_.definitions_size() - 1);
    definition.set_string_begin(static_cast<int64_t>(string_begin));
    string.text.AddRuns([this](size_t offset) { return file_.lines.LineAt(offset); }, definition);
  }

  // Lists a literal, each reason once.
  void Skip(const cuda::CudaLiteral& literal, absl::string_view reason) {
    for (const v1::SkippedString& known : entry_.skipped_strings()) {
      if (known.line() == literal.line && known.reason() == reason) return;
    }
    v1::SkippedString& skipped = *entry_.add_skipped_strings();
    skipped.set_line(literal.line);
    skipped.set_reason(std::string(reason));
  }

  const ParsedFile& file_;
  const CudaStringLimits& limits_;
  v1::ExtractedFile& entry_;
  v1::KernelShard& shard_;
  const KernelReferences references_;
  const FileValues values_;
  const std::vector<cuda::CudaString> strings_;
  size_t launcher_bytes_left_;
};

}  // namespace

void AddCudaStrings(const ParsedFile& file, const CudaStringLimits& limits,
                    v1::ExtractedFile& entry, v1::KernelShard& shard) {
  StringExtractor(file, limits, entry, shard).Run();
}

}  // namespace kernelmill::extractor
