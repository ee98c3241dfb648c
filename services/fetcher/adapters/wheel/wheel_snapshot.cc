// Wheels: a zip archive that is downloaded as a whole, since its directory is at its end and its
// hash is over all of it, and read in two passes. The first lists the members and selects; the
// second unpacks only the selected ones, in memory. The archive is in a file without a name, mapped
// into memory, because those with compiled code have hundreds of MiB, few of them Python. No
// code of the package runs.
#include "services/fetcher/adapters/wheel/wheel_snapshot.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/source_files/source_files.h"
#include "services/fetcher/adapters/http/http_client.h"
#include "services/fetcher/adapters/wheel/package_index.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::fetcher {
namespace {

// A wheel's unpacked members. The archive itself is no longer needed.
class WheelSnapshot : public Snapshot {
 public:
  absl::Status Load(absl::string_view wheel, const GlobSet& globs, const WheelOptions& options);

  const Listing& listing() const override { return listing_; }

  absl::StatusOr<int64_t> Size(const Entry& entry) override {
    ASSIGN_OR_RETURN(const absl::StatusOr<std::string>* content, Find(entry));
    // A member that was too large to unpack has at least this size.
    if (absl::IsOutOfRange(content->status())) return member_bytes_ + 1;
    RETURN_IF_ERROR(content->status());
    return static_cast<int64_t>((*content)->size());
  }
  absl::StatusOr<std::string> Read(const Entry& entry) override {
    ASSIGN_OR_RETURN(const absl::StatusOr<std::string>* content, Find(entry));
    return *content;
  }

 private:
  absl::StatusOr<const absl::StatusOr<std::string>*> Find(const Entry& entry) const {
    size_t number = 0;
    const bool numbered = absl::SimpleAtoi(entry.id, &number);
    const auto found = numbered ? contents_.find(number) : contents_.end();
    if (found == contents_.end()) return absl::NotFoundError(ToUtf8(entry.path));
    return &found->second;
  }
  std::set<size_t> Wanted() const;

  Listing listing_;
  MemberContents contents_;
  int64_t member_bytes_ = 0;
};

// Returns the numbers of the members to unpack: everything that the listing names and that has a
// safe path.
std::set<size_t> WheelSnapshot::Wanted() const {
  std::set<size_t> wanted;
  for (const std::vector<Entry>* entries :
       {&listing_.files, &listing_.headers, &listing_.licenses, &listing_.requirements}) {
    for (const Entry& entry : *entries) {
      size_t number = 0;
      const bool read = entry.kind == EntryKind::kFile && !IsUnsafePath(entry.path);
      if (read && absl::SimpleAtoi(entry.id, &number)) wanted.insert(number);
    }
  }
  return wanted;
}

absl::Status WheelSnapshot::Load(absl::string_view wheel, const GlobSet& globs,
                                 const WheelOptions& options) {
  member_bytes_ = options.archive.member_bytes;
  TreeSelection selection(&globs, options.tree);
  std::optional<size_t> metadata;
  RETURN_IF_ERROR(ListArchive(wheel, options.archive, [&](const ArchiveMember& member) {
    if (!metadata.has_value() && source_files::IsWheelMetadata(member.path))
      metadata = member.number;
    return selection.AddFile(member.path, member.kind, absl::StrCat(member.number));
  }));
  selection.Finish(listing_, &source_files::IsInDistInfo);
  std::set<size_t> wanted = Wanted();
  if (metadata.has_value()) wanted.insert(*metadata);
  ASSIGN_OR_RETURN(contents_, ReadMembers(wheel, options.archive,
                                          [&](size_t number) { return wanted.count(number) > 0; }));
  const auto declared = metadata.has_value() ? contents_.find(*metadata) : contents_.end();
  if (declared != contents_.end() && declared->second.ok()) {
    listing_.declared_licenses = DeclaredLicenses(*declared->second);
  }
  listing_.commit = absl::StrCat("sha256:", Sha256Hex(wheel));
  listing_.commit_time = NewestMemberTime(wheel);
  listing_.bytes_received = static_cast<int64_t>(wheel.size());
  return absl::OkStatus();
}

absl::StatusOr<IndexFile> FindWheel(absl::string_view package, absl::string_view sha256,
                                    const WheelOptions& options) {
  ASSIGN_OR_RETURN(const PackageName name, ParsePackage(package));
  ASSIGN_OR_RETURN(
      const std::vector<IndexFile> files,
      ListProject(options.index_url, name.name, WithEndpoint(options.hosts, options.index_url),
                  options.timeout, options.rate));
  return ChooseWheel(files, name, sha256);
}

// A downloaded archive: a file without a name that is mapped into memory.
class DownloadedFile {
 public:
  // Creates an empty file in `folder`.
  static absl::StatusOr<DownloadedFile> Create(const std::string& folder) {
    ASSIGN_OR_RETURN(const TempDir around, TempDir::Create(folder));
    const std::string path = around.path() + "/wheel";
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open()) return ErrnoStatus(errno, path);
    return DownloadedFile(std::move(file));
  }
  DownloadedFile(DownloadedFile&& other) noexcept
      : file_(std::move(other.file_)), bytes_(std::exchange(other.bytes_, {})) {}
  DownloadedFile& operator=(DownloadedFile&&) = delete;
  ~DownloadedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }

  int descriptor() const { return file_.get(); }

  // Maps what was written. Call it once.
  absl::Status Map() {
    struct stat status;
    if (::fstat(file_.get(), &status) != 0) return ErrnoStatus(errno, "a temporary file");
    const size_t size = static_cast<size_t>(status.st_size);
    if (size == 0) return absl::OkStatus();
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file_.get(), 0);
    if (at == MAP_FAILED) return ErrnoStatus(errno, "a temporary file");
    bytes_ = absl::string_view(static_cast<const char*>(at), size);
    return absl::OkStatus();
  }
  absl::string_view bytes() const { return bytes_; }

 private:
  explicit DownloadedFile(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
  absl::string_view bytes_;
};

// Downloads a wheel, and checks it against the hash that the index gives.
absl::StatusOr<DownloadedFile> Download(const IndexFile& file, const WheelOptions& options) {
  ASSIGN_OR_RETURN(DownloadedFile wheel, DownloadedFile::Create(options.temp_dir));
  HttpRequest request;
  request.body_file = wheel.descriptor();
  request.url = file.url;
  request.allow_http = AllowsPlainHttp(options.index_url);
  request.hosts = WithEndpoint(options.hosts, options.index_url);
  request.max_bytes = options.download_bytes;
  request.timeout = options.timeout;
  request.rate = options.rate;
  ASSIGN_OR_RETURN(const HttpResponse response, HttpGet(request));
  RETURN_IF_ERROR(HttpStatus(response));
  RETURN_IF_ERROR(wheel.Map());
  if (!file.sha256.empty() && Sha256Hex(wheel.bytes()) != file.sha256) {
    return absl::DataLossError(absl::StrCat(
        ToUtf8(file.filename), ": the downloaded bytes do not have the hash that the index gives"));
  }
  return wheel;
}

constexpr size_t kMaxValue = 64 << 10;
constexpr size_t kMaxHeaders = 100'000;

using Header = std::pair<std::string, std::string>;

// Parses the headers up to the first empty line. A line that begins with a blank continues the
// header before it.
std::vector<Header> ParseHeaders(absl::string_view text) {
  std::vector<Header> headers;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty() || headers.size() == kMaxHeaders) break;
    if (line[0] == ' ' || line[0] == '\t') {
      if (headers.empty() || headers.back().second.size() + line.size() > kMaxValue) continue;
      absl::StrAppend(&headers.back().second, "\n", absl::StripAsciiWhitespace(line));
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    headers.emplace_back(absl::AsciiStrToLower(line.substr(0, colon)), value.substr(0, kMaxValue));
  }
  return headers;
}

}  // namespace

// Returns the wheel's SHA-256. The index usually has it; otherwise the wheel is downloaded for it.
absl::StatusOr<WheelPin> PinWheel(absl::string_view package, bool require_hash,
                                  const WheelOptions& options) {
  ASSIGN_OR_RETURN(const IndexFile file, FindWheel(package, "", options));
  if (!file.sha256.empty()) return WheelPin{file.sha256};
  if (require_hash) {
    return absl::FailedPreconditionError(
        absl::StrCat("the index gives no hash for ", ToUtf8(file.filename),
                     ", and the job has require_hashes: set the source's sha256"));
  }
  ASSIGN_OR_RETURN(const DownloadedFile wheel, Download(file, options));
  return WheelPin{Sha256Hex(wheel.bytes()), /*computed=*/true};
}

absl::StatusOr<std::unique_ptr<Snapshot>> OpenWheel(absl::string_view wheel, const GlobSet& globs,
                                                    const WheelOptions& options) {
  auto snapshot = std::make_unique<WheelSnapshot>();
  RETURN_IF_ERROR(snapshot->Load(wheel, globs, options));
  return std::unique_ptr<Snapshot>(std::move(snapshot));
}

// The bytes must have the pinned hash, whatever the index says now. FAILED_PRECONDITION: they do
// not.
absl::StatusOr<std::unique_ptr<Snapshot>> FetchWheel(absl::string_view package,
                                                     const std::string& sha256,
                                                     const GlobSet& globs,
                                                     const WheelOptions& options) {
  ASSIGN_OR_RETURN(const IndexFile file, FindWheel(package, sha256, options));
  ASSIGN_OR_RETURN(const DownloadedFile wheel, Download(file, options));
  const std::string hash = Sha256Hex(wheel.bytes());
  if (hash != sha256) {
    return absl::FailedPreconditionError(
        absl::StrCat("wrong hash: ", ToUtf8(file.filename), " has ", hash, ", not ", sha256));
  }
  return OpenWheel(wheel.bytes(), globs, options);
}

// Returns the licences in METADATA: the SPDX expression first, then the free text, then the
// classifiers.
std::vector<std::string> DeclaredLicenses(absl::string_view metadata) {
  const std::vector<Header> headers = ParseHeaders(metadata);
  std::vector<std::string> declared;
  for (const char* wanted : {"license-expression", "license", "classifier"}) {
    for (const auto& [name, value] : headers) {
      const bool classifier = name == "classifier";
      if (name != wanted || value.empty() || value == "UNKNOWN") continue;
      if (!classifier || absl::StartsWith(value, "License ::")) declared.push_back(value);
    }
  }
  return declared;
}

}  // namespace kernelmill::fetcher
