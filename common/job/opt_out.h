#ifndef KERNELMILL_COMMON_JOB_OPT_OUT_H_
#define KERNELMILL_COMMON_JOB_OPT_OUT_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/glob.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::job {

// Reads an opt-out list. The ending of its name gives its kind:
//   .txt    an entry a line: a URL of a repository or an owner, host/owner, host/owner/name,
//           owner/name at GitHub, or a SHA-256; '#' begins a comment
//   .csv    RFC 4180; the first row has the columns' names: repository, owner, path and sha256
//   .jsonl  a JSON object a line, with these keys
// Other columns and keys (who asked, and when) are ignored. A repeated entry is dropped.
//
// INVALID_ARGUMENT (FileError): another kind of file; a row that names nothing; no row; more rows
// than a job may have.
absl::StatusOr<std::vector<v1::OptOut>> ParseOptOutList(absl::string_view text,
                                                        const std::string& path);

// Reads the list at `path`. Errors: as ParseOptOutList and ReadFile.
absl::StatusOr<std::vector<v1::OptOut>> ReadOptOutList(const std::string& path);

// The reason of a verdict that rejects a kernel that is opted out, or a copy of one. A kernel that
// only includes opted-out text has "opt_out:module" and the like.
inline constexpr char kOptOutReason[] = "opt_out";

// Returns the reason by which reports count a verdict that does not accept: an opt-out if there is
// one, else the first reason, else "unspecified".
absl::string_view GravestReason(const v1::Verdict& verdict);

// The most entries that a job may have.
inline constexpr size_t kMaxOptOuts = 10'000;

// Checks that the entry names something. INVALID_ARGUMENT begins with `where`.
absl::Status CheckOptOut(const std::string& where, const v1::OptOut& entry);

// Returns one spelling for a repository or an owner, however it is written: without scheme, user,
// port, ".git" and a final slash, and in lower case, as hosts compare names:
//   https://user@GitHub.com:443/Owner/Name.git/, git@github.com:owner/name -> github.com/owner/name
// Empty for a path on a disk, and for a name without a host.
std::string CanonicalRepository(absl::string_view text);

// An index of a job's entries by the sources that they name. Keeps no reference to them. Immutable.
class OptOutIndex {
 public:
  explicit OptOutIndex(const google::protobuf::RepeatedPtrField<v1::OptOut>& entries);

  // Returns the indexes, ascending, of the entries that name the source by its name, its git URL,
  // its `url` or its owner, and of those that name no source but a hash. The time depends on their
  // number only, not on that of all entries.
  std::vector<int> Naming(const v1::Source& source) const;

 private:
  using Places = absl::flat_hash_map<std::string, std::vector<int>>;

  Places by_name_;        // the source's name in records, or a package without its version
  Places by_repository_;  // as CanonicalRepository writes it
  Places by_owner_;
  std::vector<int> of_all_;
};

// The opted-out files and kernels of one source, by the paths and hashes of the entries that name
// the source. An entry with neither names all of it. Immutable.
class SourceOptOut {
 public:
  // INVALID_ARGUMENT: a path is not a valid glob.
  static absl::StatusOr<SourceOptOut> Compile(
      const google::protobuf::RepeatedPtrField<v1::OptOut>& entries);

  bool empty() const { return by_path_.empty() && by_hash_.empty(); }
  // Returns the indexes, ascending, of the entries that name the path and one of the hashes.
  std::vector<int> Naming(absl::string_view path, absl::Span<const absl::string_view> sha256) const;
  bool Names(absl::string_view path, absl::Span<const absl::string_view> sha256) const {
    return !Naming(path, sha256).empty();
  }

 private:
  struct Entry {
    int place = 0;
    bool any_path = true;
    Glob path;
  };

  std::vector<Entry> by_path_;  // the entries without a hash
  absl::flat_hash_map<std::string, std::vector<Entry>> by_hash_;
};

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_OPT_OUT_H_
