#include "services/extractor/core/describe/inductor_origin.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"

namespace kernelmill::extractor {
namespace {

constexpr absl::string_view kOutputCode = "/output_code.py";
// Bounds the lines that are read for one kernel, since many kernels may share one comment.
constexpr int kMaxLines = 4096;
constexpr size_t kMaxValue = 8192;  // longer values are cut
constexpr absl::string_view kKernelPath = "kernel path: ";
// Versions of PyTorch write nothing, "Topologically Sorted " or "Unsorted " before it.
constexpr absl::string_view kSourceNodes = "Source Nodes: ";

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

bool IsWords(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalpha(c) || c == ' '; });
}

// Sets the value to the comment's text after `key`, if there are only words before the key. The
// first comment with a value counts.
void Take(absl::string_view comment, absl::string_view key, std::string* value) {
  const size_t at = comment.find(key);
  if (at == absl::string_view::npos || !IsWords(comment.substr(0, at)) || !value->empty()) return;
  *value = std::string(absl::StripAsciiWhitespace(comment.substr(at + key.size(), kMaxValue)));
}

}  // namespace

// "model.12/output_code.py" gives the model and the number of the graph; other paths give nothing.
v1::InductorOrigin OriginFromPath(absl::string_view path) {
  v1::InductorOrigin origin;
  if (!absl::ConsumeSuffix(&path, kOutputCode)) return origin;
  const absl::string_view folder = BaseName(path);
  const size_t dot = folder.rfind('.');
  if (dot == absl::string_view::npos || dot == 0 || !IsNumber(folder.substr(dot + 1))) {
    return origin;
  }
  origin.set_model(std::string(folder.substr(0, dot)));
  origin.set_graph(std::string(folder.substr(dot + 1)));
  return origin;
}

// The comments above a statement tell the path and the nodes that its kernel was made for.
void AddOriginFromComments(absl::string_view text, const LineIndex& lines, int line,
                           v1::InductorOrigin& origin) {
  const int end = std::max(0, line - 1 - kMaxLines);
  // Upwards from the line above the statement, over blank lines, up to the first line that is no
  // comment.
  while (--line > end) {
    absl::string_view above = text.substr(lines.Begin(line), lines.End(line) - lines.Begin(line));
    above = absl::StripAsciiWhitespace(above);
    if (above.empty()) continue;
    if (!absl::ConsumePrefix(&above, "#")) return;
    Take(above, kKernelPath, origin.mutable_kernel_path());
    Take(above, kSourceNodes, origin.mutable_source_node());
  }
}

}  // namespace kernelmill::extractor
