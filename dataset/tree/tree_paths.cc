#include "dataset/tree/tree_paths.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/hash.h"
#include "common/base/path.h"

// File names of a repository are chosen by strangers: they may be any bytes, go up by "..", differ
// only in case, or name a device of Windows. A path here has to be one that every file system
// takes, that stays below the root, and that no other file has. For ordinary names it is the path
// as it is.
namespace kernelmill::dataset {
namespace {

constexpr size_t kMaxPart = 120;
constexpr size_t kMaxPath = 800;
constexpr size_t kHashDigits = 16;

std::string MakeHash(absl::string_view bytes) { return Sha256Hex(bytes).substr(0, kHashDigits); }

bool IsPlain(char c) {
  return absl::ascii_isalnum(c) || (c != '\0' && absl::StrContains("._-+=@,()[]{} ", c));
}

void AppendEscaped(char c, std::string* out) {
  absl::StrAppend(out, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
}

// Returns true for a name that DOS reserves for a device, with any extension.
bool IsDevice(absl::string_view name) {
  const std::string stem = absl::AsciiStrToLower(name.substr(0, name.find('.')));
  for (const char* const device : {"con", "prn", "aux", "nul"}) {
    if (stem == device) return true;
  }
  return stem.size() == 4 && (absl::StartsWith(stem, "com") || absl::StartsWith(stem, "lpt")) &&
         absl::ascii_isdigit(stem[3]);
}

// Returns true for git's own folder, which must not appear in a tree, even if git is not used
// there.
bool IsGits(absl::string_view name) { return absl::EqualsIgnoreCase(name, ".git"); }

// Makes one part of a path safe on Linux, macOS and Windows. Unusual bytes are written as %XX. A
// long part is cut, and the hash of the whole keeps it distinct.
std::string SafePart(absl::string_view part) {
  std::string safe;
  const bool escape_first = IsDevice(part) || IsGits(part);
  for (size_t i = 0; i < part.size(); ++i) {
    const bool blank = part[i] == ' ' || part[i] == '.';
    // Windows drops blanks and dots at the end of a name, and so would merge two names.
    const bool at_end = i + 1 == part.size() || (i == 0 && part[i] == ' ');
    if (!IsPlain(part[i]) || (blank && at_end) || (i == 0 && escape_first)) {
      AppendEscaped(part[i], &safe);
    } else {
      safe += part[i];
    }
  }
  if (safe.empty()) return "%";
  if (safe.size() <= kMaxPart) return safe;
  // The extension stays, since it gives the file's type.
  const absl::string_view ending = absl::string_view(safe).substr(safe.rfind('.') + 1);
  const std::string tail =
      absl::StrCat("~", MakeHash(part), ending.size() <= kHashDigits ? "." : "",
                   ending.size() <= kHashDigits ? ending : absl::string_view());
  return safe.substr(0, kMaxPart - tail.size()) + tail;
}

// A repository is one folder, so its slashes become __.
std::string RepositoryPart(absl::string_view repository) {
  const size_t scheme = repository.find("://");
  if (scheme != absl::string_view::npos) repository.remove_prefix(scheme + 3);
  absl::ConsumeSuffix(&repository, ".git");
  return SafePart(absl::StrReplaceAll(repository, {{"/", "__"}}));
}

// Joins the safe parts: category, repository, path. A path that is too long keeps its file's name
// in a folder named by the hash.
std::string SafePath(const TreePlace& place) {
  std::string path = absl::StrCat(SafePart(place.category), "/", RepositoryPart(place.repository));
  const std::string root = path;
  for (const absl::string_view part : absl::StrSplit(place.path, '/')) {
    absl::StrAppend(&path, "/", SafePart(part));
  }
  if (path.size() <= kMaxPath) return path;
  return absl::StrCat(root, "/~", MakeHash(place.path), "/", SafePart(BaseName(place.path)));
}

// Returns "a/b.py" with a hash of its place before the extension.
std::string Renamed(const std::string& path, const TreePlace& place, size_t turn) {
  const std::string hash =
      MakeHash(absl::StrCat(place.category, "\n", place.repository, "\n", place.path, "\n", turn));
  const size_t name = path.rfind('/') + 1;
  const size_t dot = path.rfind('.');
  const size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return absl::StrCat(path.substr(0, at), "~", hash, path.substr(at));
}

}  // namespace

// The basic idea: all folders are taken before any file, so that a file which differs from a folder
// only in case is renamed, not the folder. Then each file takes its path; if it is taken, the file
// gets a hash of its place in its name. The earlier of two files keeps its name.
std::vector<std::string> TreePaths(const std::vector<TreePlace>& places) {
  std::vector<std::string> paths;
  absl::flat_hash_set<std::string> taken;  // first all folders, then the files, in lower case
  for (const TreePlace& place : places) {
    paths.push_back(SafePath(place));
    const std::string lower = absl::AsciiStrToLower(paths.back());
    for (size_t slash = lower.find('/'); slash != std::string::npos;
         slash = lower.find('/', slash + 1)) {
      taken.insert(lower.substr(0, slash));
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string wanted = paths[i];
    // Different turns give different hashes, until one is free.
    for (size_t turn = 0; !taken.insert(absl::AsciiStrToLower(paths[i])).second; ++turn) {
      paths[i] = Renamed(wanted, places[i], turn);
    }
  }
  return paths;
}

}  // namespace kernelmill::dataset
