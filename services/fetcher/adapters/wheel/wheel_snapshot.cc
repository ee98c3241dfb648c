#include "services/fetcher/adapters/wheel/wheel_snapshot.h"

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/http/http_client.h"
#include "services/fetcher/adapters/wheel/package_index.h"
#include "services/fetcher/adapters/wheel/wheel_choice.h"
#include "services/fetcher/adapters/wheel/wheel_metadata.h"
#include "services/fetcher/core/path_policy.h"

namespace kernelmill::fetcher {
namespace {

// The folder of the wheel's own records, name-version.dist-info, at its top.
bool IsInDistInfo(absl::string_view path) {
  return absl::EndsWith(path.substr(0, path.find('/')), ".dist-info") &&
         absl::StrContains(path, "/");
}

bool IsMetadata(absl::string_view path) {
  return IsInDistInfo(path) && path.substr(path.find('/')) == "/METADATA";
}

// Holds the unpacked members; the archive itself is not needed any more.
class WheelSnapshot : public Snapshot {
 public:
  absl::Status Load(absl::string_view wheel, const GlobSet& globs, const WheelOptions& options);

  const Listing& listing() const override { return listing_; }

  absl::StatusOr<int64_t> Size(const Entry& entry) override {
    ASSIGN_OR_RETURN(const absl::StatusOr<std::string>* content, Find(entry));
    // One that was too large to unpack has at least this size.
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

std::set<size_t> WheelSnapshot::Wanted() const {
  std::set<size_t> wanted;
  for (const std::vector<Entry>* entries :
       {&listing_.files, &listing_.licenses, &listing_.requirements}) {
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
    if (!metadata.has_value() && IsMetadata(member.path)) metadata = member.number;
    return selection.AddFile(member.path, member.kind, absl::StrCat(member.number));
  }));
  selection.Finish(listing_, &IsInDistInfo);
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
  ASSIGN_OR_RETURN(const std::vector<IndexFile> files, ListProject(options.index_url, name.name));
  return ChooseWheel(files, name, sha256);
}

absl::StatusOr<std::string> Download(const IndexFile& file, const WheelOptions& options) {
  HttpRequest request;
  request.url = file.url;
  request.allow_http = AllowsPlainHttp(options.index_url);
  request.max_bytes = options.download_bytes;
  request.timeout = options.timeout;
  ASSIGN_OR_RETURN(HttpResponse response, HttpGet(request));
  RETURN_IF_ERROR(HttpStatus(response));
  if (!file.sha256.empty() && Sha256Hex(response.body) != file.sha256) {
    return absl::DataLossError(absl::StrCat(
        ToUtf8(file.filename), ": its bytes do not have the hash that the index gives"));
  }
  return std::move(response.body);
}

}  // namespace

absl::StatusOr<std::string> PinWheel(absl::string_view package, const WheelOptions& options) {
  ASSIGN_OR_RETURN(const IndexFile file, FindWheel(package, "", options));
  if (!file.sha256.empty()) return file.sha256;
  ASSIGN_OR_RETURN(const std::string wheel, Download(file, options));
  return Sha256Hex(wheel);
}

absl::StatusOr<std::unique_ptr<Snapshot>> OpenWheel(absl::string_view wheel, const GlobSet& globs,
                                                    const WheelOptions& options) {
  auto snapshot = std::make_unique<WheelSnapshot>();
  RETURN_IF_ERROR(snapshot->Load(wheel, globs, options));
  return std::unique_ptr<Snapshot>(std::move(snapshot));
}

absl::StatusOr<std::unique_ptr<Snapshot>> FetchWheel(absl::string_view package,
                                                     const std::string& sha256,
                                                     const GlobSet& globs,
                                                     const WheelOptions& options) {
  ASSIGN_OR_RETURN(const IndexFile file, FindWheel(package, sha256, options));
  ASSIGN_OR_RETURN(const std::string wheel, Download(file, options));
  if (Sha256Hex(wheel) != sha256) {
    return absl::FailedPreconditionError(absl::StrCat("wrong hash: ", ToUtf8(file.filename),
                                                      " has ", Sha256Hex(wheel), ", not ", sha256));
  }
  return OpenWheel(wheel, globs, options);
}

}  // namespace kernelmill::fetcher
