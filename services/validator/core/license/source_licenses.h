#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SOURCE_LICENSES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SOURCE_LICENSES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/finder.h"
#include "services/validator/core/license/tree/others_notices.h"
#include "services/validator/core/license/words/origins.h"

namespace kernelmill::validator {

// Which files a tree has, by their last two parts and by their names.
class TreeFiles : public OwnFiles {
 public:
  explicit TreeFiles(const v1::SourceTree& tree) : tree_(tree) {}
  bool Has(absl::string_view path) const override;

 private:
  const v1::SourceTree& tree_;
  mutable bool filled_ = false;
  mutable absl::flat_hash_set<absl::string_view> ends_;
};

// The licences of the kernels of one source: what holds for their files, found once a file, and
// where they say that they come from. Keeps pointers into the tree. Not thread-safe.
class SourceLicenses {
 public:
  // `stated`: the job file's word, an SPDX expression; empty: none.
  SourceLicenses(const v1::SourceTree& tree, absl::string_view stated);

  // `content` of the kernel's file. At most 16 origins are kept.
  v1::License Of(const v1::Kernel& kernel, const std::string& content);

  // The first origin of a licence whose own licence or notice nothing has (others_notices.h), nor
  // the line itself a copyright of theirs; empty if there is none.
  std::string OriginWithoutNotice(const v1::License& license);

 private:
  struct FileFacts {
    v1::License license;
    std::vector<OriginStatement> origins;
  };

  bool NamesHolders(const v1::Adaptation& adaptation) const;
  const FileFacts& FactsOf(const v1::Kernel& kernel, const std::string& content);

  const v1::SourceTree& tree_;
  const TreeFiles own_;
  LicenseFinder finder_;
  OthersNotices notices_;
  std::map<std::string, FileFacts> facts_;  // by path
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_SOURCE_LICENSES_H_
