#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_OTHERS_NOTICES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_OTHERS_NOTICES_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::validator {

// Whether a tree keeps the licence or notice of others whose code it has: the text or the name of
// one of its licence and NOTICE files names them (NamesOf in origins.h). Keeps a pointer to the
// tree. Not thread-safe: an origin is looked for once. Of
// more than 4,096 origins the others are taken as not named.
class OthersNotices {
 public:
  explicit OthersNotices(const v1::SourceTree& tree) : tree_(tree) {}

  // The file itself may do it too: by a copyright line of theirs, or by a licence that it names
  // where it says so: on that line, or by a notice in words on the next two.
  bool Cover(const v1::Adaptation& adaptation, const v1::License& license);

 private:
  bool TreeNames(const std::string& origin);

  const v1::SourceTree& tree_;
  bool read_ = false;
  std::string words_;  // of all its licence and NOTICE files, normalized, at most 2 MiB of them
  std::map<std::string, bool> known_;
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_OTHERS_NOTICES_H_
