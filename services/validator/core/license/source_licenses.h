#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SOURCE_LICENSES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SOURCE_LICENSES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/finder.h"
#include "services/validator/core/license/words/origins.h"

namespace kernelmill::validator {

// Tells whether a tree keeps the licence or notice of others whose code it contains: whether the
// text or the name of one of its licence and NOTICE files names them (FindNames in origins.h).
// Keeps a pointer to the tree. Not thread-safe: the result for an origin is kept. Origins after the
// first 4,096 count as not named.
class OthersNotices {
 public:
  explicit OthersNotices(const v1::SourceTree& tree) : tree_(tree) {}

  // Returns whether the adaptation is covered: by such a file, by a copyright line of the origin's,
  // or by a licence that the file itself names on the line of the adaptation or in a notice on the
  // next two.
  bool Cover(const v1::Adaptation& adaptation, const v1::License& license);

 private:
  bool TreeNames(const std::string& origin);

  const v1::SourceTree& tree_;
  bool read_ = false;
  // the texts and names of all its licence and NOTICE files, normalized, at most 2 MiB
  std::string words_;
  std::map<std::string, bool> known_;
};

// A job's policy for licences. It admits an expression that can be fulfilled with the allowed
// licences only. A term also counts as allowed with "+" or WITH a known exception, since both only
// grant more; "*" allows everything. Immutable.
class LicensePolicy {
 public:
  // An empty list allows the licences that the proto names as the default.
  explicit LicensePolicy(const v1::LicensePolicy& policy);

  // Returns whether the expression is admitted. False for NOASSERTION and for invalid expressions,
  // unless everything is.
  bool Allows(absl::string_view expression) const;

  // Returns whether the tree must have the licence or notice of code that comes from others.
  bool rejects_adapted() const { return rejects_adapted_; }

 private:
  std::set<std::string> allowed_;  // canonical terms
  bool allows_any_ = false;
  bool rejects_adapted_ = false;
};

// The files of a tree, by their names and by the last two parts of their paths.
class TreeFiles : public OwnFiles {
 public:
  explicit TreeFiles(const v1::SourceTree& tree) : tree_(tree) {}
  bool Has(absl::string_view path) const override;

 private:
  const v1::SourceTree& tree_;
  mutable bool filled_ = false;
  mutable absl::flat_hash_set<absl::string_view> ends_;
};

// The licences of the kernels of one source. The licence of each file, and the origins that it
// states, are found once. Keeps pointers into the tree. Not thread-safe.
class SourceLicenses {
 public:
  SourceLicenses(const v1::SourceTree& tree, const StatedLicenses& stated);

  // Returns the licence of a kernel; `content` is its file's. At most 16 origins are kept.
  v1::License Of(const v1::Kernel& kernel, const std::string& content);

  // Returns the first origin of a licence that neither OthersNotices covers nor its own line gives
  // a copyright for; empty if all are covered.
  std::string OriginWithoutNotice(const v1::License& license);

 private:
  struct FileFacts {
    v1::License license;
    std::vector<OriginStatement> origins;
  };

  bool NamesHolders(const v1::Adaptation& adaptation) const;
  void AddOriginsOfString(const v1::Kernel& kernel, absl::string_view content,
                          v1::License* license) const;
  const FileFacts& FindFacts(const v1::Kernel& kernel, const std::string& content);

  const v1::SourceTree& tree_;
  const TreeFiles own_;
  LicenseFinder finder_;
  OthersNotices notices_;
  std::map<std::string, FileFacts> facts_;  // by path
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SOURCE_LICENSES_H_
