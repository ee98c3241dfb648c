// The simple API of package indexes, in both forms: JSON (PEP 691) and HTML (PEP 503). HTML is not
// parsed as such: the <a> tags are found and their attributes read, which is what the PEP promises.
// Files are chosen only among wheels, since building a source archive would run its code.
#include "services/fetcher/adapters/wheel/package_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/process/child_process.h"
#include "services/fetcher/adapters/http/http_client.h"

namespace kernelmill::fetcher {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsHttpUrl(absl::string_view url) {
  return absl::StartsWithIgnoreCase(url, "https://") || absl::StartsWithIgnoreCase(url, "http://");
}

// Returns pip's configuration files, the one that overrides the others first.
std::vector<std::string> PipConfigFiles() {
  std::vector<std::string> files;
  const auto add = [&](const std::string& folder, absl::string_view file) {
    if (!folder.empty()) files.push_back(absl::StrCat(folder, file));
  };
  add(Environment("PIP_CONFIG_FILE"), "");
  add(Environment("VIRTUAL_ENV"), "/pip.conf");
  add(Environment("XDG_CONFIG_HOME"), "/pip/pip.conf");
  add(Environment("HOME"), "/.config/pip/pip.conf");
  add(Environment("HOME"), "/.pip/pip.conf");
  files.emplace_back("/etc/pip.conf");
  return files;
}

// Asks pip for its default index.
std::string AskPip() {
  ChildCommand command;
  command.argv = {"python3", "-c",
                  "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"};
  for (const char* name : {"PATH", "HOME", "VIRTUAL_ENV"}) {
    command.env.push_back(absl::StrCat(name, "=", Environment(name)));
  }
  command.timeout = absl::Seconds(30);
  command.max_output = 4096;
  const absl::StatusOr<ChildResult> result = RunChild(command);
  if (!result.ok() || !result->ok()) return "";
  return std::string(absl::StripAsciiWhitespace(result->output));
}

}  // namespace

// Returns the last index-url of the sections that apply to downloads; empty if the file sets none.
// Keys may be written with '_' or '-'.
std::string IndexInPipConfig(absl::string_view text) {
  std::string section, url;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(line, "[")) section = std::string(line);
    const size_t sign = line.find_first_of("=:");
    const bool applies = section == "[global]" || section == "[install]" || section == "[download]";
    if (!applies || sign == absl::string_view::npos || line[0] == '#' || line[0] == ';') continue;
    const std::string key = absl::StrReplaceAll(
        absl::AsciiStrToLower(absl::StripAsciiWhitespace(line.substr(0, sign))), {{"_", "-"}});
    if (key == "index-url") url = std::string(absl::StripAsciiWhitespace(line.substr(sign + 1)));
  }
  return url;
}

// Finds the index in the order of pip: the option or PIP_INDEX_URL, then pip's files, then pip's
// own default. FAILED_PRECONDITION: no index is known.
absl::StatusOr<std::string> ResolvePackageIndex(const std::string& option) {
  std::string url = option.empty() ? Environment("PIP_INDEX_URL") : option;
  for (const std::string& file : PipConfigFiles()) {
    if (!url.empty()) break;
    const absl::StatusOr<std::string> text = ReadFile(file, 1 << 20);
    if (text.ok()) url = IndexInPipConfig(*text);
  }
  if (url.empty()) url = AskPip();
  if (url.empty()) {
    return absl::FailedPreconditionError(
        "no package index is known: set the fetcher's --package-index or PIP_INDEX_URL, or install "
        "pip");
  }
  if (!IsHttpUrl(url)) {
    return absl::InvalidArgumentError("the package index must be an https:// or http:// URL");
  }
  return url;
}

namespace {

using Json = nlohmann::json;

// Bounds on the page of one project.
constexpr int64_t kMaxPage = 32 << 20;
constexpr size_t kMaxFiles = 200'000;
constexpr size_t kMaxTag = 64 << 10;
constexpr size_t kNone = absl::string_view::npos;

std::string HashOrNothing(absl::string_view hash) {
  return IsHex(hash, 64) ? absl::AsciiStrToLower(hash) : "";
}

std::string StringAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string PercentDecoded(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        absl::ascii_isxdigit(text[i + 1]) && absl::ascii_isxdigit(text[i + 2]);
    out += escape ? absl::HexStringToBytes(std::string(text.substr(i + 1, 2)))
                  : std::string(1, text[i]);
    if (escape) i += 2;
  }
  return out;
}

// Replaces the entities that index pages use in attributes.
std::string HtmlUnescaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&amp;", "&"},
                                    {"&lt;", "<"},
                                    {"&gt;", ">"},
                                    {"&quot;", "\""},
                                    {"&#x27;", "'"},
                                    {"&#39;", "'"},
                                    {"&#43;", "+"}});
}

// Returns a tag's attribute, unescaped. `present` tells whether the tag has it at all. The tag ends
// at its first '>', which index pages escape in attributes.
std::string Attribute(absl::string_view tag, absl::string_view name, bool* present) {
  *present = false;
  for (size_t at = 0; at < tag.size(); ++at) {
    const bool here =
        absl::ascii_isspace(tag[at]) && absl::StartsWithIgnoreCase(tag.substr(at + 1), name);
    if (!here) continue;
    absl::string_view rest = tag.substr(at + 1 + name.size());
    if (!rest.empty() && rest[0] != '=' && !absl::ascii_isspace(rest[0])) continue;
    *present = true;
    if (!absl::ConsumePrefix(&rest, "=") || rest.empty()) return "";
    if (rest[0] != '"' && rest[0] != '\'') return HtmlUnescaped(rest.substr(0, rest.find(' ')));
    const size_t end = rest.find(rest[0], 1);
    return end == kNone ? "" : HtmlUnescaped(rest.substr(1, end - 1));
  }
  return "";
}

// Returns whether the file is a wheel of the package: name-version[-build]-python-abi-platform.whl.
bool IsWheelOf(absl::string_view filename, const PackageName& package) {
  if (!absl::ConsumeSuffix(&filename, ".whl")) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(filename, '-');
  if (parts.size() != 5 && parts.size() != 6) return false;
  return NormalizeProjectName(parts[0]) == NormalizeProjectName(package.name) &&
         absl::EqualsIgnoreCase(parts[1], package.version);
}

// Returns the preference among a version's wheels: pure ones hold the same Python files for every
// platform.
int Rank(absl::string_view filename) {
  if (absl::EndsWith(filename, "-py3-none-any.whl")) return 0;
  return absl::EndsWith(filename, "-none-any.whl") ? 1 : 2;
}

// A total order, so that the choice does not depend on the order of the index.
bool Better(const IndexFile& a, const IndexFile& b) {
  return std::make_tuple(a.yanked, Rank(a.filename), absl::string_view(a.filename)) <
         std::make_tuple(b.yanked, Rank(b.filename), absl::string_view(b.filename));
}

}  // namespace

// Returns the name as PEP 503 normalizes it: small letters, and one '-' for each run of separators.
std::string NormalizeProjectName(absl::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '-' && c != '_' && c != '.') {
      out += absl::ascii_tolower(c);
    } else if (out.empty() || out.back() != '-') {
      out += '-';
    }
  }
  return out;
}

namespace {

// Collects the files of a page in JSON while it is parsed. Whatever else a page holds is dropped at
// once: tens of megabytes of it would take ten times as much as a tree of values.
class JsonPage {
 public:
  explicit JsonPage(const std::string& url) : url_(url) {}

  // Returns whether the parser keeps a value. A page is an object (depth 0) whose "files" (1) is a
  // list of objects (2), which have texts and "hashes" (3).
  bool Keep(int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth == 0) return true;
    if (event == Event::key) return KeepKey(depth, value.get_ref<const std::string&>());
    if (!in_files_) return false;
    if (event == Event::array_start || event == Event::array_end) {
      listed_ = listed_ || depth == 1;
      return depth == 1;
    }
    if (event == Event::object_end && depth == 2) Add(value);
    if (event == Event::object_start) return depth == 2 || (depth == 3 && key_ == "hashes");
    return depth > 2;
  }

  bool listed() const { return listed_; }
  std::vector<IndexFile>& files() { return files_; }

 private:
  bool KeepKey(int depth, const std::string& key) {
    if (depth == 1) return in_files_ = key == "files";
    if (!in_files_) return false;
    if (depth == 4) return key == "sha256";
    key_ = key;
    return key == "filename" || key == "url" || key == "hashes" || key == "yanked";
  }

  // Entries that are not understood are left out.
  void Add(const Json& file) {
    if (files_.size() == kMaxFiles) return;
    IndexFile entry;
    entry.filename = StringAt(file, "filename");
    absl::StatusOr<std::string> resolved = ResolveUrl(url_, StringAt(file, "url"));
    if (entry.filename.empty() || !resolved.ok()) return;
    entry.url = *std::move(resolved);
    const auto hashes = file.find("hashes");
    if (hashes != file.end() && hashes->is_object()) {
      entry.sha256 = HashOrNothing(StringAt(*hashes, "sha256"));
    }
    const auto yanked = file.find("yanked");
    entry.yanked = yanked != file.end() && !(yanked->is_boolean() && !yanked->get<bool>());
    files_.push_back(std::move(entry));
  }

  const std::string& url_;
  bool in_files_ = false;
  bool listed_ = false;  // there is a list of files
  std::string key_;      // the last one of a file
  std::vector<IndexFile> files_;
};

}  // namespace

// DATA_LOSS: the answer is no page of an index at all.
absl::StatusOr<std::vector<IndexFile>> ParseIndexJson(const std::string& body,
                                                      const std::string& url) {
  JsonPage page(url);
  const Json rest = Json::parse(
      body,
      [&](int depth, Json::parse_event_t event, Json& value) {
        return page.Keep(depth, event, value);
      },
      /*allow_exceptions=*/false);
  if (!rest.is_object() || !page.listed()) {
    return absl::DataLossError(
        absl::StrCat(ToUtf8(RedactedUrl(url)), ": the answer is not a page of a package index"));
  }
  return std::move(page.files());
}

// Reads the <a> tags. The hash is in the URL's fragment, "#sha256=...", and the file's name is the
// last part of its path.
std::vector<IndexFile> ParseIndexHtml(const std::string& body, const std::string& url) {
  std::vector<IndexFile> out;
  const absl::string_view page = body;
  for (size_t at = page.find('<'); at != kNone; at = page.find('<', at + 1)) {
    if (at + 2 >= page.size() || absl::ascii_tolower(page[at + 1]) != 'a' ||
        !absl::ascii_isspace(page[at + 2])) {
      continue;
    }
    const size_t end = page.find('>', at);
    if (end == kNone || out.size() == kMaxFiles) break;
    const absl::string_view tag = page.substr(at, end - at);
    at = end;  // a tag is read once, so that a page takes time in proportion to its length
    if (tag.size() > kMaxTag) continue;
    bool present = false, yanked = false;
    const absl::StatusOr<std::string> resolved = ResolveUrl(url, Attribute(tag, "href", &present));
    if (!present || !resolved.ok()) continue;
    Attribute(tag, "data-yanked", &yanked);
    const std::string& whole = *resolved;
    const size_t hash = whole.find('#');
    IndexFile entry;
    entry.url = whole.substr(0, hash);
    absl::string_view fragment = hash == kNone ? "" : absl::string_view(whole).substr(hash + 1);
    if (absl::ConsumePrefix(&fragment, "sha256=")) {
      entry.sha256 = HashOrNothing(fragment.substr(0, fragment.find('&')));
    }
    const std::string path = entry.url.substr(0, entry.url.find('?'));
    entry.filename = PercentDecoded(BaseName(path));
    entry.yanked = yanked;
    out.push_back(std::move(entry));
  }
  return out;
}

bool AllowsPlainHttp(const std::string& index_url) {
  return absl::StartsWithIgnoreCase(index_url, "http://");
}

// NOT_FOUND: the index has no such project. The Accept header prefers JSON.
absl::StatusOr<std::vector<IndexFile>> ListProject(const std::string& index_url,
                                                   absl::string_view name, const HostPolicy& hosts,
                                                   absl::Duration timeout, const LowestRate& rate) {
  HttpRequest request;
  request.url =
      absl::StrCat(absl::StripSuffix(index_url, "/"), "/", NormalizeProjectName(name), "/");
  request.accept =
      "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
      "text/html;q=0.1";
  request.allow_http = AllowsPlainHttp(index_url);
  request.hosts = hosts;
  request.max_bytes = kMaxPage;
  request.timeout = std::min(timeout, request.timeout);
  request.rate = rate;
  ASSIGN_OR_RETURN(const HttpResponse response, HttpGet(request));
  const absl::Status status = HttpStatus(response);
  if (absl::IsNotFound(status)) {
    return absl::NotFoundError(absl::StrCat("the index has no package ", JsonString(name)));
  }
  RETURN_IF_ERROR(status);
  if (absl::StrContains(response.content_type, "json")) {
    return ParseIndexJson(response.body, response.url);
  }
  return ParseIndexHtml(response.body, response.url);
}

// Parses "name==version". Characters that could change the URL that is made of the name are
// refused.
absl::StatusOr<PackageName> ParsePackage(absl::string_view package) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(package, absl::MaxSplits("==", 1));
  const auto bad = [](absl::string_view text) {
    return text.empty() || text.find_first_of("/\\?#%:& ") != absl::string_view::npos ||
           text == "." || text == "..";
  };
  if (bad(parts.first) || bad(parts.second)) {
    return absl::InvalidArgumentError(
        absl::StrCat(JsonString(RedactedUrl(package)), ": must be name==version"));
  }
  return PackageName{std::string(parts.first), std::string(parts.second)};
}

// With a hash, files of the index with another hash are out. Files without one are tried last,
// since only their bytes can tell.
absl::StatusOr<IndexFile> ChooseWheel(const std::vector<IndexFile>& files,
                                      const PackageName& package, absl::string_view sha256) {
  std::vector<IndexFile> wheels;
  for (const IndexFile& file : files) {
    if (IsWheelOf(file.filename, package)) wheels.push_back(file);
  }
  const std::string wanted = absl::StrCat(package.name, "==", package.version);
  if (wheels.empty()) {
    return absl::NotFoundError(absl::StrCat("the index has no wheel of ", ToUtf8(wanted)));
  }
  if (!sha256.empty()) {
    // A file without a hash in the index may be the wanted one; its bytes will tell.
    const auto other = [&](const IndexFile& f) { return !f.sha256.empty() && f.sha256 != sha256; };
    wheels.erase(std::remove_if(wheels.begin(), wheels.end(), other), wheels.end());
    std::stable_sort(wheels.begin(), wheels.end(), [](const IndexFile& a, const IndexFile& b) {
      return a.sha256.size() > b.sha256.size();
    });
    if (wheels.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("wrong hash: no wheel of ", ToUtf8(wanted), " has SHA-256 ", sha256));
    }
    if (!wheels.front().sha256.empty()) return wheels.front();
  }
  return *std::min_element(wheels.begin(), wheels.end(), Better);
}

}  // namespace kernelmill::fetcher
