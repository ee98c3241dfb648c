#include "services/extractor/core/cuda/cuda_records.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/base/hash.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "common/python/syntax/text_lines.h"
#include "services/extractor/core/cuda/cuda_kernels.h"

namespace kernelmill::extractor::cuda {

using absl::string_view;

namespace {

constexpr size_t kMaxLaunches = 16;      // kept for one kernel
constexpr size_t kMaxLaunchText = 2048;  // a longer launch is recorded without its text

Code LexWith(string_view text, const dsl::Language& language, const dsl::Qualifiers& macros) {
  Code code = Lex(text, language);
  code.kernel_macros.insert(macros.kernel.begin(), macros.kernel.end());
  code.device_macros.insert(macros.device.begin(), macros.device.end());
  return code;
}

// Macros of other files that stand for a qualifier are CUDA's.
const dsl::Language& GetLanguage(string_view path, string_view text,
                                 const dsl::Qualifiers& macros) {
  const bool has_macros = !macros.kernel.empty() || !macros.device.empty();
  return has_macros ? *dsl::FindLanguage(dsl::kCuda) : dsl::FindCLanguage(path, text);
}

}  // namespace

CudaRecords::CudaRecords(string_view path, string_view text, const TextPlace& place,
                         size_t max_bytes, const dsl::Qualifiers& macros)
    : path_(path),
      language_(GetLanguage(path, text, macros)),
      place_(place),
      code_(LexWith(text, language_, macros)),
      brackets_(MatchBrackets(code_)),
      found_(FindFunctions(code_, brackets_)),
      max_bytes_(max_bytes),
      launch_bytes_left_(max_bytes) {
  for (const Launch& launch : found_.launches) launches_[launch.name].push_back(&launch);
}

// Returns whether the records of all functions stay within max_bytes. Each record repeats the
// text of the functions within it.
bool CudaRecords::InBounds() const {
  size_t sum = 0;
  for (const Function& function : found_.functions) {
    sum += SourceLines(function).size() + function.qualname.size();
  }
  return sum <= max_bytes_;
}

std::vector<int> CudaRecords::FindMacrosOfKernels() const {
  std::vector<int> lines;
  for (const Macro& macro : code_.macros) {
    const bool has_body = macro.takes_arguments() && absl::StrContains(macro.rest, '{');
    const bool makes = code_.HasKernelWord(macro.rest) || code_.HasTaker(macro.rest);
    if (has_body && makes) lines.push_back(place_.LineAt(macro.begin));
  }
  return lines;
}

// Fills in the record of one function.
void CudaRecords::Describe(const Function& function, v1::Kernel& kernel) {
  AddPlace(function, kernel);
  kernel.set_name(function.name);
  kernel.set_qualname(function.qualname);
  kernel.set_dsl(std::string(language_.name));
  kernel.set_form(code_.is_template           ? v1::KERNEL_FORM_TEMPLATE
                  : function.found_by.empty() ? v1::KERNEL_FORM_QUALIFIED
                                              : v1::KERNEL_FORM_KERNEL_ARGUMENT);
  kernel.set_found_by(function.found_by);
  kernel.set_role(function.global ? v1::KERNEL_ROLE_KERNEL : v1::KERNEL_ROLE_DEVICE);
  const size_t first = code_.tokens[function.first].begin, begin = place_.InFile(first);
  const size_t body = code_.tokens[function.body].begin, end = place_.InFile(body);
  const string_view written = HasOwnHead(function)
                                  ? place_.file().substr(begin, end - std::min(begin, end))
                                  : Bytes(first, body);
  kernel.set_signature(std::string(absl::StripTrailingAsciiWhitespace(written)));
  AddCudaParameters(code_, brackets_, function, kernel);
  for (std::string& call : CalledNames(code_, brackets_, function)) {
    kernel.add_calls(std::move(call));
  }
  kernel.set_tokens(CountTokens(function, kernel));
  kernel.set_parse_error(function.parse_error);
  kernel.set_body_offset(static_cast<int32_t>(BodyBegin(function)) -
                         static_cast<int32_t>(kernel.first_byte()));
  AddCuda(function, *kernel.mutable_cuda());
}

string_view CudaRecords::Bytes(size_t begin, size_t end) const {
  return code_.text.substr(begin, end - begin);
}

string_view CudaRecords::SourceLines(const Function& function) const {
  const size_t begin = place_.lines().Begin(FirstLine(function.first));
  const size_t end = place_.lines().End(LastLine(function.last));
  return place_.file().substr(begin, end - std::min(begin, end));
}

// The closing bracket is its token's last byte: of '>>' only the second '>' closes the header.
string_view CudaRecords::Inside(const Enclosed& brackets) const {
  return absl::StripAsciiWhitespace(
      Bytes(code_.tokens[brackets.open].end, code_.tokens[brackets.close].end - 1));
}

void CudaRecords::AddPlace(const Function& function, v1::Kernel& kernel) const {
  const string_view source = SourceLines(function);
  kernel.set_path(std::string(path_));
  kernel.set_first_line(FirstLine(function.first));
  kernel.set_last_line(LastLine(function.last));
  kernel.set_first_byte(source.data() - place_.file().data());
  kernel.set_source(std::string(source));
  kernel.set_sha256(Sha256Hex(source));
  kernel.set_column(static_cast<int32_t>(python::CountIndentation(source)));
}

// Returns the offset of the line on which the body starts: the line after the brace's if nothing
// follows the brace on its own.
size_t CudaRecords::BodyBegin(const Function& function) const {
  const int line = FirstLine(function.body);
  if (!HasOwnHead(function)) return place_.lines().Begin(line);
  return FirstLine(function.body + 1) > line ? place_.lines().End(line)
                                             : place_.lines().Begin(line);
}

// A library writes the head of a kernel that is made of a body (string_bodies.h).
bool CudaRecords::HasOwnHead(const Function& function) const {
  return place_.InFile(code_.tokens[function.first].begin) !=
         place_.InFile(code_.tokens[function.body].begin);
}

int32_t CudaRecords::CountTokens(const Function& function, const v1::Kernel& kernel) const {
  const Token& first = code_.tokens[function.first];
  const Token& last = code_.tokens[function.last];
  const auto from = [this](size_t offset) {
    return std::lower_bound(code_.tokens.begin(), code_.tokens.end(), offset,
                            [](const Token& token, size_t at) { return token.begin < at; });
  };
  // The rest of the first and the last line.
  const auto begin = static_cast<size_t>(kernel.first_byte());
  const size_t before = place_.InFile(first.begin) - begin;
  const size_t after = begin + kernel.source().size() - place_.InFile(last.end - 1) - 1;
  return static_cast<int32_t>(from(last.end + after) -
                              from(first.begin - std::min<size_t>(before, first.begin)));
}

void CudaRecords::AddCuda(const Function& function, v1::CudaFunction& cuda) {
  for (const Enclosed& header : function.templates) {
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

// Functions of one name each record the same launches, so a hostile file could multiply them. The
// bytes of all launches together are bounded.
void CudaRecords::AddLaunch(const Launch& launch, v1::CudaFunction& cuda) {
  v1::CudaLaunch added;
  added.set_first_line(FirstLine(launch.first));
  added.set_last_line(LastLine(launch.last));
  const string_view text = Bytes(code_.tokens[launch.first].begin, code_.tokens[launch.last].end);
  if (text.size() <= kMaxLaunchText) added.set_text(std::string(text));
  if (launch.host != kNoToken) {
    const Function& host = found_.hosts[launch.host];
    added.set_host_function(host.qualname);
    added.set_host_first_line(FirstLine(host.first));
    added.set_host_last_line(LastLine(host.last));
  }
  const size_t size = added.ByteSizeLong();
  if (size > launch_bytes_left_) return;
  launch_bytes_left_ -= size;
  *cuda.add_launches() = std::move(added);
}

}  // namespace kernelmill::extractor::cuda
