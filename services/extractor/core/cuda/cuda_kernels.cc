#include "services/extractor/core/cuda/cuda_kernels.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "common/base/hash.h"
#include "common/cpp/headers.h"
#include "common/dsl/languages.h"
#include "common/python/syntax/text_lines.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/lexer.h"
#include "services/extractor/core/cuda/parameters.h"
#include "services/extractor/core/cuda/uses.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;

constexpr size_t kMaxLaunches = 16;      // of one kernel
constexpr size_t kMaxLaunchText = 2048;  // longer ones have their place alone

class CudaFile {
 public:
  CudaFile(string_view path, string_view text, size_t max_bytes)
      : path_(path),
        lines_(text),
        code_(cuda::Lex(text)),
        brackets_(cuda::MatchBrackets(code_)),
        found_(cuda::FindFunctions(code_, brackets_)),
        max_bytes_(max_bytes),
        launch_bytes_left_(max_bytes) {
    for (const cuda::Launch& launch : found_.launches) launches_[launch.name].push_back(&launch);
  }

  bool InBounds() const {
    size_t sum = 0;
    for (const cuda::Function& function : found_.functions) {
      sum += SourceOf(function).size() + function.qualname.size();
    }
    return sum <= max_bytes_;
  }

  void Add(v1::ExtractedFile& entry, v1::KernelShard& shard) {
    if (!brackets_.errors.empty()) entry.set_parse_errors(true);
    for (const cuda::Function& function : found_.functions) {
      Describe(function, *shard.add_kernels());
    }
    entry.set_kernels(static_cast<int32_t>(found_.functions.size()));
  }

 private:
  int FirstLine(uint32_t token) const { return lines_.LineAt(code_.tokens[token].begin); }
  int LastLine(uint32_t token) const { return lines_.LineAt(code_.tokens[token].end - 1); }

  string_view Bytes(size_t begin, size_t end) const {
    return code_.text.substr(begin, end - begin);
  }

  string_view SourceOf(const cuda::Function& function) const {
    return Bytes(lines_.Begin(FirstLine(function.first)), lines_.End(LastLine(function.last)));
  }

  // The last byte of >> alone may close a template header.
  string_view Inside(const cuda::Enclosed& brackets) const {
    return absl::StripAsciiWhitespace(
        Bytes(code_.tokens[brackets.open].end, code_.tokens[brackets.close].end - 1));
  }

  void Describe(const cuda::Function& function, v1::Kernel& kernel) {
    AddPlace(function, kernel);
    kernel.set_name(function.name);
    kernel.set_qualname(function.qualname);
    kernel.set_dsl(v1::DSL_CUDA);
    kernel.set_form(code_.is_template ? v1::KERNEL_FORM_TEMPLATE : v1::KERNEL_FORM_QUALIFIED);
    kernel.set_role(function.global ? v1::KERNEL_ROLE_KERNEL : v1::KERNEL_ROLE_DEVICE);
    const size_t body = code_.tokens[function.body].begin;
    kernel.set_signature(std::string(
        absl::StripTrailingAsciiWhitespace(Bytes(code_.tokens[function.first].begin, body))));
    cuda::AddCudaParameters(code_, brackets_, function, kernel);
    for (std::string& call : cuda::CalledNames(code_, brackets_, function)) {
      kernel.add_calls(std::move(call));
    }
    kernel.set_tokens(CountTokens(kernel));
    kernel.set_parse_error(function.parse_error);
    kernel.set_body_offset(static_cast<int32_t>(BodyBegin(function)) -
                           static_cast<int32_t>(kernel.first_byte()));
    AddCuda(function, *kernel.mutable_cuda());
  }

  void AddPlace(const cuda::Function& function, v1::Kernel& kernel) const {
    const string_view source = SourceOf(function);
    kernel.set_path(std::string(path_));
    kernel.set_first_line(FirstLine(function.first));
    kernel.set_last_line(LastLine(function.last));
    kernel.set_first_byte(source.data() - code_.text.data());
    kernel.set_source(std::string(source));
    kernel.set_sha256(Sha256Hex(source));
    kernel.set_column(static_cast<int32_t>(IndentationOf(source)));
  }

  // Offset of the line on which the body starts: after its brace where nothing else is on its line.
  size_t BodyBegin(const cuda::Function& function) const {
    const int line = FirstLine(function.body);
    return FirstLine(function.body + 1) > line ? lines_.End(line) : lines_.Begin(line);
  }

  int32_t CountTokens(const v1::Kernel& kernel) const {
    const auto from = [this](int64_t offset) {
      return std::lower_bound(
          code_.tokens.begin(), code_.tokens.end(), offset,
          [](const cuda::Token& token, int64_t at) { return token.begin < at; });
    };
    const int64_t end = kernel.first_byte() + static_cast<int64_t>(kernel.source().size());
    return static_cast<int32_t>(from(end) - from(kernel.first_byte()));
  }

  void AddCuda(const cuda::Function& function, v1::CudaFunction& cuda) {
    for (const cuda::Enclosed& header : function.templates) {
      cuda.add_template_parameters(std::string(Inside(header)));
    }
    if (function.launch_bounds.found()) {
      cuda.set_launch_bounds(std::string(Inside(function.launch_bounds)));
    }
    const auto launches = launches_.find(function.name);
    if (!function.global || launches == launches_.end()) return;
    const size_t count = std::min(launches->second.size(), kMaxLaunches);
    for (size_t i = 0; i < count; ++i) AddLaunch(*launches->second[i], cuda);
  }

  // Functions of one name share their launches: all of them together are bounded.
  void AddLaunch(const cuda::Launch& launch, v1::CudaFunction& cuda) {
    v1::CudaLaunch added;
    added.set_first_line(FirstLine(launch.first));
    added.set_last_line(LastLine(launch.last));
    const string_view text = Bytes(code_.tokens[launch.first].begin, code_.tokens[launch.last].end);
    if (text.size() <= kMaxLaunchText) added.set_text(std::string(text));
    if (launch.host != cuda::kNoToken) {
      const cuda::Function& host = found_.hosts[launch.host];
      added.set_host_function(host.qualname);
      added.set_host_first_line(FirstLine(host.first));
      added.set_host_last_line(LastLine(host.last));
    }
    const size_t size = added.ByteSizeLong();
    if (size > launch_bytes_left_) return;
    launch_bytes_left_ -= size;
    *cuda.add_launches() = std::move(added);
  }

  const string_view path_;
  const LineIndex lines_;
  const cuda::Code code_;
  const cuda::Brackets brackets_;
  const cuda::Findings found_;
  const size_t max_bytes_;
  size_t launch_bytes_left_;
  absl::flat_hash_map<string_view, std::vector<const cuda::Launch*>> launches_;
};

}  // namespace

bool IsCudaPath(absl::string_view path) { return cpp::IsCppPath(path); }

bool MayHoldCuda(absl::string_view text) { return dsl::HasMarkerOf(v1::DSL_CUDA, text); }

void AddCudaText(absl::string_view path, absl::string_view text, v1::KernelShard& shard) {
  v1::Definition& definition = *shard.add_definitions();
  definition.set_path(std::string(path));
  definition.set_text(std::string(text));
}

absl::Status AddCudaKernels(absl::string_view path, absl::string_view text, size_t max_bytes,
                            v1::ExtractedFile& entry, v1::KernelShard& shard) {
  CudaFile file(path, text, max_bytes);
  if (!file.InBounds()) return absl::ResourceExhaustedError("nested_kernels");
  file.Add(entry, shard);
  return absl::OkStatus();
}

}  // namespace kernelmill::extractor
