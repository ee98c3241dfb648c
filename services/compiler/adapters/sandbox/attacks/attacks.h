#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_ATTACKS_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_ATTACKS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::compiler {

// What must come of an attack; the beginning of its name says it.
enum class Fate {
  kRefused,    // the sandbox refuses it
  kSilenced,   // it can say nothing any more, which is an error of its own
  kEnded,      // a bound ends its process
  kOverrun,    // a bound ends the whole confined process
  kContained,  // it may do it, and nobody else notices
};

// A function of a Python file beside this header.
struct Attack {
  std::string name;    // "refused_tcp"
  std::string module;  // text of a module that attacks when it is loaded
  Fate fate;
};

// Those of a file ("network"), with what they are to harm (Victim::Description) before them.
std::vector<Attack> AttacksOf(absl::string_view file, const std::string& victim);

// All files, by name.
std::vector<std::string> AttackFiles();

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_ATTACKS_ATTACKS_H_
