// Opt-outs, the basic idea: people name their code in many ways (a URL, host/owner, owner/name at
// GitHub, a package), and sources name it in others, so both are brought to one spelling
// (CanonicalRepository) and compared as text. OptOutIndex finds the entries for a source by hash
// lookups: its name, its canonical URL, and each prefix of that URL as an owner. So a job with
// thousands of entries and sources takes no time. SourceOptOut then applies the entries of one
// source to paths and hashes.
#include "common/job/opt_out.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/csv.h"
#include "common/job/field_check.h"
#include "common/job/source_spec.h"

namespace kernelmill::job {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxOptOutBytes = 64 << 20;

// Collects the entries of a list, each once, and stops at the first error.
class OptOutReader {
 public:
  explicit OptOutReader(absl::string_view file) : file_(file) {}

  // Adds an entry after cleaning its texts. Case does not matter for a hash.
  absl::Status Add(int line, v1::OptOut entry) {
    for (std::string* text : {entry.mutable_repository(), entry.mutable_owner(),
                              entry.mutable_path(), entry.mutable_sha256()}) {
      if (!IsUtf8(*text)) return FileError(file_, line, "must be UTF-8");
      absl::StripAsciiWhitespace(text);
    }
    absl::AsciiStrToLower(entry.mutable_sha256());
    const absl::Status checked = CheckOptOut("entry", entry);
    if (!checked.ok()) return FileError(file_, line, checked.message());
    if (!seen_.insert(entry.SerializeAsString()).second) return absl::OkStatus();
    if (entries_.size() == kMaxOptOuts) {
      return FileError(file_, line, absl::StrCat("must have at most ", kMaxOptOuts, " entries"));
    }
    entries_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<v1::OptOut>> Finish() && {
    if (entries_.empty()) return FileError(file_, 1, "must list at least one entry");
    return std::move(entries_);
  }

  absl::string_view file() const { return file_; }

 private:
  const absl::string_view file_;
  std::set<std::string> seen_;
  std::vector<v1::OptOut> entries_;
};

// Returns the entry that a line of a text file means.
v1::OptOut MakeEntry(const std::string& row) {
  v1::OptOut entry;
  const std::string canonical = CanonicalRepository(row);
  if (IsHex(row, 64)) {
    entry.set_sha256(row);
  } else if (std::count(canonical.begin(), canonical.end(), '/') == 1) {
    entry.set_owner(row);  // host/owner
  } else {
    entry.set_repository(row);
  }
  return entry;
}

// One entry a line: a hash, an owner or a repository, told apart by MakeEntry.
absl::Status ReadText(absl::string_view text, OptOutReader& out) {
  int line = 0;
  for (absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    // A '#' may be part of a URL, but never after a blank.
    row = row.substr(0, row.find(absl::StartsWith(row, "#") ? "#" : " #"));
    row = absl::StripAsciiWhitespace(row);
    if (row.empty()) continue;
    if (!IsHex(row, 64) && !absl::StrContains(row, '/')) {
      return FileError(out.file(), line, "must be a URL, host/owner, host/owner/name or a SHA-256");
    }
    RETURN_IF_ERROR(out.Add(line, MakeEntry(std::string(row))));
  }
  return absl::OkStatus();
}

// Returns the entry's field of that name; null if there is no such field.
std::string* FindField(v1::OptOut& entry, absl::string_view name) {
  if (name == "repository") return entry.mutable_repository();
  if (name == "owner") return entry.mutable_owner();
  if (name == "path") return entry.mutable_path();
  if (name == "sha256") return entry.mutable_sha256();
  return nullptr;
}

// Unknown columns are ignored, so that a list may be a sheet in which requests are tracked.
absl::Status ReadCsv(absl::string_view text, OptOutReader& out) {
  ASSIGN_OR_RETURN(const std::vector<CsvRecord> records, ParseCsv(text, out.file()));
  for (size_t i = 1; i < records.size(); ++i) {
    RETURN_IF_ERROR(CheckFieldCount(records[0], records[i], out.file()));
    v1::OptOut entry;
    for (size_t c = 0; c < records[i].fields.size(); ++c) {
      const absl::string_view column = absl::StripAsciiWhitespace(records[0].fields[c]);
      std::string* const field = FindField(entry, absl::AsciiStrToLower(column));
      if (field != nullptr) *field = records[i].fields[c];
    }
    RETURN_IF_ERROR(out.Add(records[i].line, std::move(entry)));
  }
  return absl::OkStatus();
}

// Unknown keys are ignored, as unknown columns are.
absl::Status ReadJsonLines(absl::string_view text, OptOutReader& out) {
  int line = 0;
  for (absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    row = absl::StripAsciiWhitespace(row);
    if (row.empty()) continue;
    const Json value = Json::parse(row.begin(), row.end(), nullptr, /*allow_exceptions=*/false);
    if (!value.is_object()) return FileError(out.file(), line, "must be a JSON object");
    v1::OptOut entry;
    for (const auto& [key, text_of_key] : value.items()) {
      std::string* const field = FindField(entry, key);
      if (field == nullptr || text_of_key.is_null()) continue;
      if (!text_of_key.is_string()) return FileError(out.file(), line, key + ": must be a string");
      *field = text_of_key.get<std::string>();
    }
    RETURN_IF_ERROR(out.Add(line, std::move(entry)));
  }
  return absl::OkStatus();
}

// The file's extension decides its form.
absl::Status ReadRows(absl::string_view text, absl::string_view path, OptOutReader& out) {
  if (absl::EndsWithIgnoreCase(path, ".txt")) return ReadText(text, out);
  if (absl::EndsWithIgnoreCase(path, ".csv")) return ReadCsv(text, out);
  if (absl::EndsWithIgnoreCase(path, ".jsonl")) return ReadJsonLines(text, out);
  return FileError(path, 1, "an opt-out list must be a .txt, .csv or .jsonl file");
}

}  // namespace

absl::StatusOr<std::vector<v1::OptOut>> ParseOptOutList(absl::string_view text,
                                                        const std::string& path) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // the byte order mark that spreadsheets write
  OptOutReader reader(path);
  RETURN_IF_ERROR(ReadRows(text, path, reader));
  return std::move(reader).Finish();
}

absl::StatusOr<std::vector<v1::OptOut>> ReadOptOutList(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxOptOutBytes));
  return ParseOptOutList(text, path);
}

namespace {

// Returns the name in name==version, in lower case as pip compares names; empty for other texts.
std::string PackageName(absl::string_view package) {
  const size_t end = package.find("==");
  if (end == absl::string_view::npos) return "";
  return absl::AsciiStrToLower(package.substr(0, end));
}

// Returns the host and the parts of the path, in lower case; empty for a text without a host.
std::vector<std::string> SplitRepository(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t scheme = text.find("://");
  bool has_host = scheme != absl::string_view::npos;
  std::string rest(has_host ? text.substr(scheme + 3) : text);
  if (has_host && text.substr(0, scheme) == "file") return {};
  const size_t slash = rest.find('/');
  if (const size_t at = rest.substr(0, slash).rfind('@'); at != std::string::npos) {
    rest.erase(0, at + 1);
  }
  // ssh's host:path, or host:port/path.
  const size_t colon = rest.find(':');
  if (colon != std::string::npos && colon < rest.find('/')) {
    size_t end = colon + 1;
    while (end < rest.size() && absl::ascii_isdigit(rest[end])) ++end;
    // Digits after the colon are a port only if they end there: host:2fast/x is scp's form.
    const bool port = end == rest.size() || rest[end] == '/';
    has_host = true;
    rest = port ? rest.substr(0, colon) + rest.substr(end)
                : absl::StrCat(rest.substr(0, colon), "/", rest.substr(colon + 1));
  }
  std::vector<std::string> parts =
      absl::StrSplit(absl::AsciiStrToLower(rest), '/', absl::SkipEmpty());
  if (parts.empty() || rest[0] == '/' || parts[0][0] == '.') return {};
  // Without a scheme the first part must look like a host.
  if (!has_host && !absl::StrContains(parts[0], '.')) return {};
  if (parts.size() > 1 && parts.back() != ".git") {
    parts.back() = std::string(absl::StripSuffix(parts.back(), ".git"));
  }
  return parts;
}

// Appends the entries at a key. An empty key matches nothing: it is what CanonicalRepository
// returns for a text without a host.
void AddAt(const absl::flat_hash_map<std::string, std::vector<int>>& places, const std::string& key,
           std::vector<int>* found) {
  const auto at = places.find(key);
  if (key.empty() || at == places.end()) return;
  found->insert(found->end(), at->second.begin(), at->second.end());
}

}  // namespace

// A path needs a repository or an owner, since a path of any repository would match code of others.
// A hash needs none: it names its file wherever it is.
absl::Status CheckOptOut(const std::string& where, const v1::OptOut& entry) {
  const bool of_source = !entry.repository().empty() || !entry.owner().empty();
  RETURN_IF_ERROR(CheckText(where + ".repository", entry.repository()));
  RETURN_IF_ERROR(CheckText(where + ".owner", entry.owner()));
  RETURN_IF_ERROR(CheckText(where + ".path", entry.path()));
  if (!of_source && entry.sha256().empty()) {
    return FieldError(where, "must name a repository, an owner or a sha256");
  }
  if (!entry.repository().empty() && !entry.owner().empty()) {
    return FieldError(where + ".owner", "must not be given together with repository");
  }
  if (!entry.owner().empty() && SplitRepository(entry.owner()).size() < 2) {
    return FieldError(where + ".owner", "must be host/owner");
  }
  if (!entry.sha256().empty() && !IsLowerHex(entry.sha256(), 64)) {
    return FieldError(where + ".sha256", "must be 64 lowercase hexadecimal digits");
  }
  if (entry.path().empty()) return absl::OkStatus();
  if (!of_source) return FieldError(where + ".path", "requires a repository or an owner");
  return Annotate(Glob::Compile(entry.path()).status(), where + ".path");
}

// An opt-out is shown before all other reasons: it is a promise, and people check it in the report.
absl::string_view GravestReason(const v1::Verdict& verdict) {
  for (const std::string& reason : verdict.reasons()) {
    if (absl::StartsWith(reason, kOptOutReason)) return reason;
  }
  return verdict.reasons().empty() ? "unspecified" : absl::string_view(verdict.reasons(0));
}

std::string CanonicalRepository(absl::string_view text) {
  const std::vector<std::string> parts = SplitRepository(text);
  return parts.size() < 2 ? "" : absl::StrJoin(parts, "/");
}

// Puts each entry into the map by which a source finds it. An entry of a repository may be a
// package or a name of the job's own instead of a URL, so it is filed under its text as well. The
// index refers to entries by their place, so that reports can count by entry.
OptOutIndex::OptOutIndex(const google::protobuf::RepeatedPtrField<v1::OptOut>& entries) {
  for (int i = 0; i < entries.size(); ++i) {
    const v1::OptOut& entry = entries[i];
    if (!entry.owner().empty()) {
      by_owner_[CanonicalRepository(entry.owner())].push_back(i);
    } else if (entry.repository().empty()) {
      of_all_.push_back(i);
    } else {
      by_name_[entry.repository()].push_back(i);
      const std::string canonical = IsGithubName(entry.repository())
                                        ? CanonicalRepository("github.com/" + entry.repository())
                                        : CanonicalRepository(entry.repository());
      if (!canonical.empty()) by_repository_[canonical].push_back(i);
      const std::string lower = absl::AsciiStrToLower(entry.repository());
      if (lower != entry.repository()) by_name_[lower].push_back(i);
    }
  }
}

// A repository of a host may lie in nested groups (gitlab.com/a/b/c), so every prefix may be an
// owner.
std::vector<int> OptOutIndex::Naming(const v1::Source& source) const {
  std::vector<int> found = of_all_;
  const std::string name = SourceName(source);
  AddAt(by_name_, name, &found);
  AddAt(by_name_, PackageName(source.package()), &found);
  for (const std::string& url : {source.git(), source.url(), name}) {
    const std::string canonical = CanonicalRepository(url);
    AddAt(by_repository_, canonical, &found);
    // Tries host/a, host/a/b and so on; the last one is the repository itself.
    for (size_t end = canonical.find('/'); end != std::string::npos;) {
      end = canonical.find('/', end + 1);
      AddAt(by_owner_, canonical.substr(0, end), &found);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// An entry with a hash applies to this content wherever it is, or under its path if it has one. So
// it is found by the hash, and only the others are tried one by one.
absl::StatusOr<SourceOptOut> SourceOptOut::Compile(
    const google::protobuf::RepeatedPtrField<v1::OptOut>& entries) {
  SourceOptOut compiled;
  for (int i = 0; i < entries.size(); ++i) {
    Entry entry;
    entry.place = i;
    entry.any_path = entries[i].path().empty();
    if (!entry.any_path) {
      ASSIGN_OR_RETURN(entry.path, Glob::Compile(entries[i].path()));
    }
    std::vector<Entry>& among =
        entries[i].sha256().empty() ? compiled.by_path_ : compiled.by_hash_[entries[i].sha256()];
    among.push_back(std::move(entry));
  }
  return compiled;
}

// Returns each entry once and in order, although a file may match by its path and by several
// hashes.
std::vector<int> SourceOptOut::Naming(absl::string_view path,
                                      absl::Span<const absl::string_view> sha256) const {
  std::vector<int> found;
  const auto add = [&](const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      if (entry.any_path || entry.path.Matches(path)) found.push_back(entry.place);
    }
  };
  add(by_path_);
  for (const absl::string_view hash : sha256) {
    const auto at = by_hash_.find(hash);
    if (at != by_hash_.end()) add(at->second);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace kernelmill::job
