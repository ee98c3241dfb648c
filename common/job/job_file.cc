// A job file becomes a JobSpec in this order: the YAML tree (with lines), the message, the checks
// of what is written, the lists, the checks of the whole job, and at last the paths, which become
// absolute. The first checks come before the lists are read, so that a wrong path in the job file
// is reported as such and not as a missing list.
#include "common/job/job_file.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/job/field_check.h"
#include "common/job/job_spec.h"
#include "common/job/opt_out.h"
#include "common/job/pair_list.h"
#include "common/job/repository_list.h"
#include "common/job/review_list.h"
#include "common/job/source_spec.h"
#include "common/job/yaml_message.h"

namespace kernelmill::job {
namespace {

constexpr int64_t kMaxFileBytes = 4 << 20;

// Returns whether git would take the text for a path: no scheme, and no host before a colon.
bool IsPathForGit(absl::string_view git) {
  if (absl::StrContains(git, "://")) return false;
  return git.find(':') > git.find('/') || !absl::StrContains(git, ":");
}

// Returns a path of the job file as one that can be opened: ~ is the home folder, and what is not
// absolute begins at `folder`.
std::string Located(const std::filesystem::path& folder, const std::string& path) {
  const char* const home = std::getenv("HOME");
  if (home != nullptr && (path == "~" || absl::StartsWith(path, "~/"))) {
    return absl::StrCat(home, path.substr(1));
  }
  return (folder / path).string();
}

// The job file that is being read.
struct JobFile {
  std::string path;
  FieldLines lines;
};

// Returns the error of reading the list at `key`. An INVALID_ARGUMENT already names a line of the
// list; any other error is placed at the line of the job file that names the list.
absl::Status ListError(const absl::Status& status, const JobFile& file, const std::string& key) {
  if (status.ok() || absl::IsInvalidArgument(status)) return status;
  return FileError(file.path, file.lines.Of(key), absl::StrCat(key, ": ", status.message()));
}

// Replaces each source that is a list by the sources that the list names.
absl::Status ExpandLists(const JobFile& file, v1::JobSpec* spec) {
  const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
  google::protobuf::RepeatedPtrField<v1::Source> written;
  written.Swap(spec->mutable_sources());
  for (int i = 0; i < written.size(); ++i) {
    if (!written[i].has_list()) {
      spec->mutable_sources()->Add(std::move(written[i]));
      continue;
    }
    absl::StatusOr<std::vector<v1::Source>> sources =
        ExpandList(written[i], Located(folder, written[i].list()));
    RETURN_IF_ERROR(ListError(sources.status(), file, absl::StrCat("sources[", i, "].list")));
    for (v1::Source& source : *sources) spec->mutable_sources()->Add(std::move(source));
  }
  return absl::OkStatus();
}

// Replaces each entry of the field `key` that is a list by the list's entries. `read` returns the
// entries of a file.
template <typename Entry, typename Read>
absl::Status ExpandEntries(const JobFile& file, absl::string_view key, const Read& read,
                           google::protobuf::RepeatedPtrField<Entry>* entries) {
  const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
  google::protobuf::RepeatedPtrField<Entry> written;
  written.Swap(entries);
  for (int i = 0; i < written.size(); ++i) {
    if (written[i].list().empty()) {
      entries->Add(std::move(written[i]));
      continue;
    }
    absl::StatusOr<std::vector<Entry>> listed = read(Located(folder, written[i].list()));
    RETURN_IF_ERROR(ListError(listed.status(), file, absl::StrCat(key, "[", i, "].list")));
    for (Entry& entry : *listed) entries->Add(std::move(entry));
  }
  return absl::OkStatus();
}

// Rewrites `pairs: FILE` as `pairs: [{list: FILE}]`, and likewise the other fields whose entries
// may be in a file.
void SpellOutLists(YamlNode& root) {
  for (size_t i = 0; i + 1 < root.children.size(); i += 2) {
    const std::string& name = root.children[i].text;
    if (name != "pairs" && name != "opt_out" && name != "reviews") continue;
    YamlNode& value = root.children[i + 1];
    if (value.kind != YamlNode::Kind::kScalar) continue;
    const YamlNode key = {YamlNode::Kind::kScalar, value.line, true, "list", {}};
    const YamlNode entry = {YamlNode::Kind::kMap, value.line, false, "", {key, value}};
    value = {YamlNode::Kind::kList, value.line, false, "", {entry}};
  }
}

// Rewrites `history: true` of a source as an entry without fields, and drops `history: false`.
void SpellOutHistory(YamlNode& root) {
  for (size_t i = 0; i + 1 < root.children.size(); i += 2) {
    if (root.children[i].text != "sources") continue;
    for (YamlNode& source : root.children[i + 1].children) {
      std::vector<YamlNode>& fields = source.children;
      for (size_t k = 0; k + 1 < fields.size(); k += 2) {
        YamlNode& value = fields[k + 1];
        if (fields[k].text != "history" || value.kind != YamlNode::Kind::kScalar) continue;
        if (value.text == "true") value = {YamlNode::Kind::kMap, value.line, false, "", {}};
        if (value.text != "false") continue;
        const auto at = fields.begin() + static_cast<int64_t>(k);
        fields.erase(at, at + 2);
        break;
      }
    }
  }
}

// Replaces owner/name by the URL at GitHub, also where another source uses it. A folder of that
// name beside the job file could be meant as well, so it is refused. A name that ends in ".git" is
// a path: GitHub has no such names.
absl::Status SpellOutGithubNames(const std::string& file, v1::JobSpec* spec) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::set<std::string> names;
  for (int i = 0; i < spec->sources_size(); ++i) {
    const std::string git = spec->sources(i).git();
    if (!IsGithubName(git) || absl::EndsWith(git, ".git")) continue;
    std::error_code error;
    if (std::filesystem::exists(folder / git, error)) {
      return FieldError(absl::StrCat("sources[", i, "].git"),
                        absl::StrCat("may mean the folder beside the job file or the repository at "
                                     "GitHub; write ./",
                                     git, " or ", GithubUrl(git)));
    }
    names.insert(git);
    spec->mutable_sources(i)->set_git(GithubUrl(git));
  }
  for (v1::Source& source : *spec->mutable_sources()) {
    for (std::string& used : *source.mutable_uses()) {
      if (names.contains(used)) used = GithubUrl(used);
    }
  }
  return absl::OkStatus();
}

// Refuses github.com/owner/name, which is a folder to git: its URL is meant.
absl::Status RefuseHostsWithoutScheme(const std::string& file, const v1::JobSpec& spec) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  for (int i = 0; i < spec.sources_size(); ++i) {
    const std::string& git = spec.sources(i).git();
    const absl::string_view host = absl::string_view(git).substr(0, git.find('/'));
    std::error_code error;
    if (!IsPathForGit(git) || host.size() == git.size() || host.empty() || host[0] == '.' ||
        !absl::StrContains(host, '.') || std::filesystem::exists(folder / git, error)) {
      continue;
    }
    return FieldError(absl::StrCat("sources[", i, "].git"),
                      absl::StrCat("there is no such folder; did you mean https://", git, "?"));
  }
  return absl::OkStatus();
}

// Returns the error of a check, which begins with the field's key, with the file and line of that
// field.
absl::Status Placed(const absl::Status& checked, const JobFile& file) {
  if (checked.ok()) return checked;
  const absl::string_view message(checked.message().data(), checked.message().size());
  return FileError(file.path, file.lines.Of(message.substr(0, message.find(": "))), message);
}

// Makes relative origins absolute. The source keeps its path as written for its name, so that
// records do not depend on the folder in which the job was run.
void ResolveOrigins(const std::string& file, v1::JobSpec* spec) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(file, error).parent_path();
  for (v1::Source& source : *spec->mutable_sources()) {
    std::string* origin = nullptr;
    if (source.has_path()) origin = source.mutable_path();
    if (source.has_inductor()) origin = source.mutable_inductor();
    if (source.has_git() && IsPathForGit(source.git())) origin = source.mutable_git();
    // URLs and absolute paths stay as they are.
    if (origin == nullptr || origin->empty() || origin->front() == '/') continue;
    if (source.name().empty()) source.set_name(*origin);
    *origin = std::filesystem::path(Located(folder, *origin)).lexically_normal().string();
  }
}

}  // namespace

absl::StatusOr<v1::JobSpec> ParseJobFile(absl::string_view text, const std::string& path) {
  ASSIGN_OR_RETURN(YamlNode root, ParseYamlTree(text, path));
  SpellOutLists(root);
  SpellOutHistory(root);
  JobFile file = {path, {}};
  v1::JobSpec spec;
  RETURN_IF_ERROR(ReadYamlMessage(root, path, &spec, &file.lines));
  RETURN_IF_ERROR(Placed(SpellOutGithubNames(path, &spec), file));
  RETURN_IF_ERROR(Placed(RefuseHostsWithoutScheme(path, spec), file));
  RETURN_IF_ERROR(Placed(CheckWrittenSpec(spec), file));
  RETURN_IF_ERROR(ExpandLists(file, &spec));
  RETURN_IF_ERROR(ExpandEntries(file, "pairs", ReadPairList, spec.mutable_pairs()));
  RETURN_IF_ERROR(ExpandEntries(file, "opt_out", ReadOptOutList, spec.mutable_opt_out()));
  RETURN_IF_ERROR(ExpandEntries(file, "reviews", ReadReviewList, spec.mutable_reviews()));
  RETURN_IF_ERROR(Placed(CheckJobSpec(spec), file));
  ResolveOrigins(path, &spec);
  return spec;
}

// Relative paths in a job from standard input are relative to the current folder.
absl::StatusOr<v1::JobSpec> LoadJobFile(const std::string& path) {
  const bool from_stdin = path == "-";
  const absl::StatusOr<std::string> read =
      ReadFile(from_stdin ? "/dev/stdin" : path, kMaxFileBytes);
  // ReadFile says RESOURCE_EXHAUSTED, which callers retry. A job file that is too large stays
  // wrong.
  if (absl::IsResourceExhausted(read.status())) {
    return absl::InvalidArgumentError(read.status().message());
  }
  RETURN_IF_ERROR(read.status());
  const std::string& text = *read;
  return ParseJobFile(text, from_stdin ? "standard input" : path);
}

std::string JobFileYaml(const v1::JobSpec& spec) { return ToYaml(spec); }

}  // namespace kernelmill::job
