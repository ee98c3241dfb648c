// Resolving #include without a build: the include paths of a project are in its build files, which
// are not run here. But a header's path in an #include is nearly always the end of its path in the
// repository, so the files are indexed by their last component, and a file matches if its path ends
// with the whole name. If several match, the one nearest to the includer wins; if two are equally
// near, none does, since a wrong header is worse than a missing one.
#include "common/cpp/include_paths.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/base/word_list.h"

namespace kernelmill::cpp {
namespace {

using absl::string_view;

string_view Extension(string_view path) {
  const size_t dot = path.rfind('.');
  return dot == string_view::npos ? string_view() : path.substr(dot + 1);
}

}  // namespace

bool IsHeaderPath(string_view path) {
  static constexpr string_view kExtensions[] = {"cuh", "h", "hh", "hpp", "hxx", "inl", "inc"};
  return IsAmong<kExtensions>(Extension(path));
}

bool IsCppPath(string_view path) {
  static constexpr string_view kExtensions[] = {"cu", "hip", "metal", "cc", "cpp", "cxx"};
  return IsAmong<kExtensions>(Extension(path)) || IsHeaderPath(path);
}

std::string CanonicalHeader(string_view path) {
  static const auto& twins = *new absl::flat_hash_set<string_view>{
      "assert", "ctype",  "errno", "float",  "limits", "math", "signal",  "stdarg",
      "stddef", "stdint", "stdio", "stdlib", "string", "time", "inttypes"};
  string_view stem = path;
  if (absl::ConsumeSuffix(&stem, ".h") && twins.contains(stem)) return absl::StrCat("c", stem);
  if (path == "cuda_fp16.hpp") return "cuda_fp16.h";
  return std::string(path);
}

bool IsMetalHeader(string_view path) {
  return absl::StartsWith(path, "metal_") && !absl::StrContains(path, '.');
}

bool IsHipHeader(string_view path) { return absl::StartsWith(path, "hip/"); }

bool IsRuntimeHeader(string_view path) {
  return path == "cuda_runtime.h" || path == "cuda.h" || path == "cuda_runtime_api.h" ||
         path == "device_launch_parameters.h" || path == "hip/hip_runtime.h";
}

// The lists have the headers of the C++ standard library and those of CUDA and HIP that kernels
// include.
bool IsKnownHeader(string_view path) {
  static const auto& plain = *new absl::flat_hash_set<string_view>{"algorithm",
                                                                   "any",
                                                                   "array",
                                                                   "atomic",
                                                                   "bit",
                                                                   "bitset",
                                                                   "chrono",
                                                                   "climits",
                                                                   "cmath",
                                                                   "complex",
                                                                   "concepts",
                                                                   "condition_variable",
                                                                   "cfloat",
                                                                   "cassert",
                                                                   "cctype",
                                                                   "cerrno",
                                                                   "cinttypes",
                                                                   "cstdarg",
                                                                   "cstddef",
                                                                   "cstdint",
                                                                   "cstdio",
                                                                   "cstdlib",
                                                                   "cstring",
                                                                   "ctime",
                                                                   "deque",
                                                                   "exception",
                                                                   "filesystem",
                                                                   "fstream",
                                                                   "functional",
                                                                   "future",
                                                                   "initializer_list",
                                                                   "iomanip",
                                                                   "ios",
                                                                   "iosfwd",
                                                                   "iostream",
                                                                   "istream",
                                                                   "iterator",
                                                                   "limits",
                                                                   "list",
                                                                   "map",
                                                                   "memory",
                                                                   "mutex",
                                                                   "new",
                                                                   "numeric",
                                                                   "optional",
                                                                   "ostream",
                                                                   "queue",
                                                                   "random",
                                                                   "ranges",
                                                                   "ratio",
                                                                   "regex",
                                                                   "set",
                                                                   "shared_mutex",
                                                                   "span",
                                                                   "sstream",
                                                                   "stack",
                                                                   "stdexcept",
                                                                   "string",
                                                                   "string_view",
                                                                   "system_error",
                                                                   "thread",
                                                                   "tuple",
                                                                   "type_traits",
                                                                   "typeinfo",
                                                                   "typeindex",
                                                                   "unordered_map",
                                                                   "unordered_set",
                                                                   "utility",
                                                                   "valarray",
                                                                   "variant",
                                                                   "vector",
                                                                   "version",
                                                                   "mma.h",
                                                                   "math_constants.h",
                                                                   "math_functions.h",
                                                                   "vector_types.h",
                                                                   "vector_functions.h",
                                                                   "builtin_types.h",
                                                                   "cuComplex.h",
                                                                   "cublas_v2.h",
                                                                   "cublasLt.h",
                                                                   "nvrtc.h",
                                                                   "library_types.h",
                                                                   "driver_types.h",
                                                                   "sm_20_intrinsics.h",
                                                                   "sm_30_intrinsics.h",
                                                                   "sm_60_atomic_functions.h",
                                                                   "device_functions.h",
                                                                   "device_atomic_functions.h",
                                                                   "texture_fetch_functions.h",
                                                                   "cusparse.h",
                                                                   "cusolverDn.h",
                                                                   "cufft.h",
                                                                   "unistd.h",
                                                                   "malloc.h",
                                                                   "memory.h",
                                                                   "strings.h"};
  if (plain.contains(path) || IsRuntimeHeader(path) || IsMetalHeader(path)) return true;
  const std::string canonical = CanonicalHeader(path);
  if (canonical != path && plain.contains(canonical)) return true;
  for (const string_view prefix : {"cuda_", "curand", "cooperative_groups", "cuda/", "nv/", "crt/",
                                   "hip/", "nvtx", "cudaTypedefs", "sys/", "bits/"}) {
    if (absl::StartsWith(path, prefix)) return prefix != "cuda_" || absl::StrContains(path, ".h");
  }
  return false;
}

namespace {

using absl::string_view;

constexpr size_t kMaxPath = 512;         // bytes in an #include
constexpr size_t kMaxCandidates = 1024;  // files of one name that are compared

string_view LastPart(string_view path) { return path.substr(path.rfind('/') + 1); }

// Returns a/c for a/b/../c; empty for a path that leads out of the tree.
std::string Normalized(string_view path) {
  std::vector<string_view> parts;
  for (const string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return "";
    } else {
      parts.pop_back();
    }
  }
  return absl::StrJoin(parts, "/");
}

// Returns how many folders two paths share from the root on.
size_t SharedFolders(string_view a, string_view b) {
  size_t shared = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) shared += a[i] == '/';
  return shared;
}

// Reads the name in a line whose '#' was taken off.
std::optional<IncludeName> NameOn(string_view line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "include")) return std::nullopt;
  line = absl::StripLeadingAsciiWhitespace(line);
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  const bool angled = line[0] == '<';
  const size_t end = line.substr(0, kMaxPath).find(angled ? '>' : '"', 1);
  if (end == string_view::npos) return std::nullopt;
  return IncludeName{std::string(line.substr(1, end - 1)), angled};
}

}  // namespace

std::vector<IncludeName> FindIncludeLines(absl::string_view text, size_t most) {
  std::vector<IncludeName> found;
  for (const string_view line : absl::StrSplit(text, absl::ByAnyChar("\r\n"))) {
    if (found.size() >= most) break;
    string_view directive = absl::StripLeadingAsciiWhitespace(line.substr(0, 2 * kMaxPath));
    if (!absl::ConsumePrefix(&directive, "#")) continue;
    std::optional<IncludeName> name = NameOn(directive);
    if (name) found.push_back(*std::move(name));
  }
  return found;
}

IncludePaths::IncludePaths(const std::vector<std::string>& paths) : paths_(paths) {
  for (uint32_t i = 0; i < paths_.size(); ++i) {
    if (!by_path_.try_emplace(paths_[i], i).second) continue;
    by_name_[std::string(LastPart(paths_[i]))].push_back(i);
  }
}

std::optional<uint32_t> IncludePaths::Find(absl::string_view includer, absl::string_view path,
                                           bool angled) const {
  if (!angled) {
    const auto found = by_path_.find(Normalized(absl::StrCat(ParentFolder(includer), "/", path)));
    if (found != by_path_.end()) return found->second;
  }
  return IsKnownHeader(path) ? std::nullopt : FindBySuffix(includer, path);
}

std::optional<uint32_t> IncludePaths::FindBySuffix(absl::string_view includer,
                                                   absl::string_view path) const {
  while (absl::ConsumePrefix(&path, "../") || absl::ConsumePrefix(&path, "./")) {
  }
  const std::string wanted = Normalized(path);
  const auto candidates = by_name_.find(LastPart(wanted));
  if (wanted.empty() || candidates == by_name_.end()) return std::nullopt;
  const std::string suffix = absl::StrCat("/", wanted);
  std::optional<uint32_t> best;
  size_t best_shared = 0;
  bool alone = false;
  for (size_t i = 0; i < std::min(kMaxCandidates, candidates->second.size()); ++i) {
    const uint32_t file = candidates->second[i];
    if (paths_[file] != wanted && !absl::EndsWith(paths_[file], suffix)) continue;
    const size_t shared = SharedFolders(paths_[file], includer);
    alone = !best || shared > best_shared ? true : alone && shared < best_shared;
    if (best && shared <= best_shared) continue;
    best = file;
    best_shared = shared;
  }
  return alone ? best : std::nullopt;
}

}  // namespace kernelmill::cpp
