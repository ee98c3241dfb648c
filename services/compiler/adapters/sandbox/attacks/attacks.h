#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_ATTACKS_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_ATTACKS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"

namespace kernelmill::compiler {

// The required outcome of an attack; its name begins with it.
enum class Fate {
  kRefused,    // the sandbox refuses the attack
  kSilenced,   // it cannot answer any more, which is reported as its own error
  kEnded,      // a bound ends its process
  kOverrun,    // a bound ends the whole confined process
  kContained,  // it succeeds, but affects only itself
  kForged,     // it must not make a kernel compile that does not
};

// An attack: a function of a Python file beside this header.
struct Attack {
  std::string name;  // "refused_tcp"
  // A module that attacks when it is loaded; of kForged, the functions alone.
  std::string module;
  Fate fate;
};

// Lists the attacks of a file ("network"). `victim` (Victim::Description) goes before each of them.
std::vector<Attack> ListAttacks(absl::string_view file, const std::string& victim);

// Lists all files, by name, but "forge", whose attacks are on Triton.
std::vector<std::string> AttackFiles();

// The things that attacks try to harm: servers that wait for connections, a world-writable file and
// folder, and a process of the user that compilers run as. They end with this object.
class Victim {
 public:
  static absl::StatusOr<std::unique_ptr<Victim>> Create();
  ~Victim();

  // Returns Python code that describes it: VICTIM = {...}
  std::string Description() const;

  // Returns INTERNAL if it was harmed, and says how.
  absl::Status Unharmed() const;

 private:
  explicit Victim(TempDir folder) : folder_(std::move(folder)) {}
  absl::Status Listen();
  absl::Status StartProcess();

  TempDir folder_;
  FileDescriptor tcp_, udp_, unix_, abstract_;
  int tcp_port_ = 0, udp_port_ = 0;
  pid_t process_ = -1;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_ATTACKS_H_
