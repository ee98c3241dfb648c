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

// Why a kernel that is opted out is rejected, or is like one that is. One that only comes with such
// text has it as "opt_out:module" and the like.
inline constexpr char kOptOutReason[] = "opt_out";

// The reason that a verdict which does not accept is known by: that somebody opted out before all
// others, else the first. "unspecified": it gives none.
absl::string_view GravestReason(const v1::Verdict& verdict);

// The entries that a job may have.
inline constexpr size_t kMaxOptOuts = 10'000;

// INVALID_ARGUMENT, naming `where`, unless the entry names something.
absl::Status CheckOptOut(const std::string& where, const v1::OptOut& entry);

// A repository or an owner of some as one text, however it is written: scheme, user, port, ".git"
// and a slash at the end are left out, and all is in lower case, as the hosts compare it:
//   https://user@GitHub.com:443/Owner/Name.git/, git@github.com:owner/name -> github.com/owner/name
// Empty: a path on a disk, or a name that stands for no host.
std::string CanonicalRepository(absl::string_view text);

// Which entries of a job concern a source. Keeps no reference to them. Immutable.
class OptOutIndex {
 public:
  explicit OptOutIndex(const google::protobuf::RepeatedPtrField<v1::OptOut>& entries);

  // The places of the entries that name the source by its name, its git URL, its `url` or its
  // owner, or name no source but a hash; ascending. In time that grows with these alone.
  std::vector<int> Naming(const v1::Source& source) const;

 private:
  using Places = absl::flat_hash_map<std::string, std::vector<int>>;

  Places by_name_;        // as records have it, or a package without its version
  Places by_repository_;  // canonical
  Places by_owner_;
  std::vector<int> of_all_;
};

// What of one source is opted out, by the paths and hashes of the entries that name it. An entry
// with neither names all of it. Immutable.
class SourceOptOut {
 public:
  // INVALID_ARGUMENT: a path is no glob.
  static absl::StatusOr<SourceOptOut> Compile(
      const google::protobuf::RepeatedPtrField<v1::OptOut>& entries);

  bool empty() const { return by_path_.empty() && by_hash_.empty(); }
  // The places of the entries that name what stands at the path and has one of the hashes;
  // ascending.
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

  std::vector<Entry> by_path_;  // those without a hash
  absl::flat_hash_map<std::string, std::vector<Entry>> by_hash_;
};

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_OPT_OUT_H_
