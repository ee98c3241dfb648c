// The command `init`: a job file to start from. It asks only if a person can answer and no flag
// names a source. The text is parsed before it is written, so that every file that it makes passes
// `check`.

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "client/console/json.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/job_file.h"
#include "common/job/job_spec.h"
#include "common/job/source_spec.h"
#include "common/words/suggestion.h"

namespace kernelmill::client {
namespace {

// The endings of the files that hold kernels of a language.
constexpr std::pair<absl::string_view, absl::string_view> kEndings[] = {{"triton", "py,ipynb"},
                                                                        {"gluon", "py,ipynb"},
                                                                        {"pallas", "py,ipynb"},
                                                                        {"cuda", "cu,cuh"},
                                                                        {"hip", "hip,cu,cuh"}};
constexpr size_t kMaxName = 64;

// Returns the text as YAML has it: plain if no reader can take it for something else.
std::string YamlText(const std::string& text) {
  static constexpr absl::string_view kWords[] = {"true", "false", "yes", "no", "on", "off", "null"};
  const bool plain =
      !text.empty() && (absl::ascii_isalpha(text[0]) || text[0] == '/') &&
      absl::c_all_of(
          text,
          [](char c) { return absl::ascii_isalnum(c) || absl::StrContains("./_@=+:-", c); }) &&
      !absl::EndsWith(text, ":") && !absl::c_linear_search(kWords, absl::AsciiStrToLower(text));
  return plain ? text : JsonString(text);
}

// Adds a source that a person wrote to the options, by its form.
void AddSource(const std::string& text, InitOptions& options) {
  if (absl::StrContains(text, "==")) {
    options.packages.push_back(text);
  } else if (absl::StartsWith(text, ".") || absl::StartsWith(text, "/") ||
             absl::StartsWith(text, "~")) {
    options.folders.push_back(text);
  } else {
    options.repositories.push_back(text);
  }
}

std::vector<std::string> SplitWords(const std::string& text) {
  return absl::StrSplit(text, absl::ByAnyChar(" ,\t"), absl::SkipEmpty());
}

absl::Status AskForSources(InitOptions& options, rpc::TerminationSignal& signal) {
  while (options.repositories.empty() && options.packages.empty() && options.folders.empty()) {
    ASSIGN_OR_RETURN(const std::string sources,
                     Ask("Repositories (owner/name or a URL), packages (name==version) and folders "
                         "(./name), separated by blanks: ",
                         signal));
    for (const std::string& source : SplitWords(sources)) AddSource(source, options);
  }
  ASSIGN_OR_RETURN(const std::string languages,
                   Ask("Languages (triton, gluon, pallas, cuda, hip) [triton]: ", signal));
  options.languages = SplitWords(languages);
  return absl::OkStatus();
}

// Returns the endings of the files to read, "py,ipynb,cu,cuh". INVALID_ARGUMENT: an unknown
// language.
absl::StatusOr<std::string> GetEndings(const std::vector<std::string>& languages) {
  std::vector<std::string> known;
  for (const auto& [language, endings] : kEndings) known.emplace_back(language);
  std::vector<std::string> all;
  for (const std::string& language : languages) {
    const auto* const found = absl::c_find_if(
        kEndings, [&](const auto& one) { return one.first == absl::AsciiStrToLower(language); });
    if (found == std::end(kEndings)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--language: unknown language ", JsonString(language),
                       DidYouMean(language, known), "; use ", absl::StrJoin(known, ", ")));
    }
    for (const absl::string_view ending : absl::StrSplit(found->second, ',')) {
      if (!absl::c_linear_search(all, ending)) all.emplace_back(ending);
    }
  }
  return absl::StrJoin(all, ",");
}

// Returns a job's name of the first source: its last part, with '-' for what a name cannot have.
std::string DeriveName(const InitOptions& options) {
  std::string from = !options.folders.empty()        ? options.folders[0]
                     : !options.repositories.empty() ? options.repositories[0]
                                                     : options.packages[0];
  from = from.substr(0, from.find("=="));
  while (absl::EndsWith(from, "/")) from.pop_back();
  std::string name(absl::StripSuffix(from.substr(from.find_last_of("/:") + 1), ".git"));
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("._-", c)) c = '-';
  }
  name = absl::AsciiStrToLower(name.substr(0, kMaxName));
  const bool is_name = absl::c_any_of(name, [](char c) { return absl::ascii_isalnum(c); });
  return is_name ? name : "kernels";
}

// INVALID_ARGUMENT: a repository is neither owner/name nor a URL; git would take it for a folder.
absl::Status CheckRepositories(const std::vector<std::string>& repositories) {
  for (const std::string& text : repositories) {
    if (job::IsGithubName(text) || absl::StrContains(text, "://") || absl::StrContains(text, "@") ||
        absl::StartsWith(text, "/")) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat("--repository ", JsonString(text),
                                                   ": must be owner/name (at GitHub) or a URL"));
  }
  return absl::OkStatus();
}

// Returns the lines of the sources. Only the first explains its keys.
std::string SourceLines(const InitOptions& options, const std::string& endings) {
  std::string text;
  const auto add = [&](const char* key, const std::string& value, const char* about) {
    const bool first = text.empty();
    absl::StrAppend(&text, "  - ", key, ": ", YamlText(value), first ? about : "", "\n");
    if (first && absl::string_view(key) == "git") {
      absl::StrAppend(&text, "    # ref: main  # a branch, a tag or a commit (default: HEAD)\n");
    }
    absl::StrAppend(&text, "    include: [\"**/*.{", endings, "}\"]",
                    first ? "  # globs of the files to read; `exclude` takes some out" : "", "\n");
  };
  // The earlier source wins between equal kernels, and folders are the user's own.
  for (const std::string& folder : options.folders) {
    add("path", folder, "  # a folder, relative to this file");
  }
  for (const std::string& repository : options.repositories) {
    add("git", job::IsGithubName(repository) ? job::GithubUrl(repository) : repository,
        "  # a repository");
  }
  for (const std::string& package : options.packages) add("package", package, "  # a wheel");
  return text;
}

// Returns the job file. Its values are the defaults, so that deleting one changes nothing.
std::string JobText(const std::string& name, const std::string& sources) {
  const v1::JobSpec defaults = job::WithDefaults({});
  return absl::StrCat(
      "# A job of kernelmill. docs/reference/keys.md has every key.\n\n"
      "name: ",
      YamlText(name),
      "  # in lists of jobs\n\n"
      "# The code to search. If two kernels are equal, the one of the earlier source is kept.\n"
      "sources:\n",
      sources,
      "\n# The licences of kernels that are kept, by their SPDX identifiers.\n"
      "licenses:\n  allow: [",
      absl::StrJoin(defaults.licenses().allow(), ", "),
      "]\n"
      "\n# From this similarity on, 0 to 1, the less good of two kernels is dropped.\n"
      "dedup:\n  threshold: ",
      defaults.dedup().threshold(),
      "\n"
      "\n# Checks that a kernel must pass, such as parses and has_docstring (docs/dataset.md).\n"
      "# quality:\n#   require: [parses]\n"
      "\n# The command ends with exit code 1 if fewer kernels are kept.\n"
      "gates:\n  min_kept: 1\n");
}

absl::Status CheckIsNew(const std::string& path) {
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(path, " exists; name another file, or replace it with --force"));
}

// Creates or replaces a file. The text is complete before it has its name.
absl::Status WriteComplete(const std::string& path, const std::string& text) {
  const std::string partial = absl::StrCat(path, ".partial");
  RETURN_IF_ERROR(WriteFile(partial, text));
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) {
    std::filesystem::remove(partial, error);
    return ErrnoStatus(error.value(), path);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> Init(InitOptions options, rpc::TerminationSignal& signal, Console& console) {
  if (!options.force) RETURN_IF_ERROR(CheckIsNew(options.file));
  if (options.repositories.empty() && options.packages.empty() && options.folders.empty()) {
    if (!CanAsk()) {
      return absl::InvalidArgumentError(
          "a source is required: --repository owner/name (or a URL), --package name==version or "
          "--folder DIR; on a terminal init asks for them");
    }
    RETURN_IF_ERROR(AskForSources(options, signal));
  }
  if (options.languages.empty()) options.languages = {"triton"};
  RETURN_IF_ERROR(CheckRepositories(options.repositories));
  ASSIGN_OR_RETURN(const std::string endings, GetEndings(options.languages));
  const std::string name = options.name.empty() ? DeriveName(options) : options.name;
  const std::string text = JobText(name, SourceLines(options, endings));
  RETURN_IF_ERROR(
      Annotate(job::ParseJobFile(text, options.file).status(), "the job would be wrong"));
  if (!options.force) RETURN_IF_ERROR(CheckIsNew(options.file));  // others may write it meanwhile
  RETURN_IF_ERROR(WriteComplete(options.file, text));
  std::string out = options.out_dir.empty() ? name : options.out_dir;
  std::error_code unknown;
  // A job is often named for its folder, which may not exist yet.
  if (options.out_dir.empty() &&
      (!options.folders.empty() || std::filesystem::exists(out, unknown))) {
    out += "-dataset";
  }
  const std::string next =
      absl::StrCat("kernelmill crawl ", ShellWord(options.file), " --out ", ShellWord(out));
  console.Result(console.json()
                     ? JsonLine("initialized", {{"file", options.file}, {"next", next}})
                     : absl::StrCat("wrote ", OneLine(options.file), "; now run\n  ", next, "\n"));
  return kDone;
}

}  // namespace kernelmill::client
