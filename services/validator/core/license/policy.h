#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_POLICY_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_POLICY_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::validator {

// Which licence expressions a job admits: those that hold when one abides by the allowed licences
// alone. A term counts as allowed with "+" or WITH an exception too, since both only grant more.
// Immutable.
class LicensePolicy {
 public:
  // An empty list allows what the proto names as the default.
  explicit LicensePolicy(const v1::LicensePolicy& policy);

  // False for NOASSERTION and for what is no expression.
  bool Allows(absl::string_view expression) const;

  // Whether code that others wrote needs their licence or notice in the tree.
  bool rejects_adapted() const { return rejects_adapted_; }

 private:
  std::set<std::string> allowed_;  // canonical terms
  bool rejects_adapted_ = false;
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_POLICY_H_
