#ifndef KERNELMILL_DATASET_TASKS_OBSERVATION_H_
#define KERNELMILL_DATASET_TASKS_OBSERVATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// The kernel that an observation is of, by content: it holds for every commit with that module.
struct ObservedKernel {
  std::string module_sha256;
  std::string qualname;

  friend auto operator<=>(const ObservedKernel&, const ObservedKernel&) = default;
};

// An argument of a launch. Texts are empty where they do not apply.
struct CaseArgument {
  std::string name;  // the parameter's; the place among the arguments says it as well
  std::string kind;  // tensor, scalar, constexpr, none, tuple, descriptor or other
  std::string dtype;
  std::string shape;    // "[4, 128]"
  std::string strides;  // likewise
  std::string value;
  bool written = false;   // the launch changes its storage
  bool in_place = false;  // it also needs what the storage held before
  int64_t storage = -1;   // a tensor's: tensors with the same one share memory
  int64_t offset = 0;     // of a tensor in it, in elements
};

// The inputs of one launch and what came of it.
struct ObservedCase {
  std::string id;
  ObservedKernel kernel;
  std::vector<CaseArgument> arguments;
  std::string grid;                                          // "[4, 1, 1]"
  std::vector<std::pair<std::string, std::string>> options;  // by name: num_warps and the like
  std::map<std::string, double> tolerances;                  // by element type
  bool ragged = false;
  std::string origin;  // recorded or made; empty if it is not said
  std::string line;    // all of it, as canonical JSON
};

enum class Outcome : uint8_t { kExact, kClose, kDifferent, kError, kUnknown };

// One execution of a case.
struct ObservedResult {
  std::string case_id;
  std::string module_sha256;
  std::string device;
  std::string toolchain;  // "torch 2.9.0, triton 3.5.1"
  Outcome outcome = Outcome::kUnknown;
  double absolute = 0;
  double relative = 0;
  int64_t out_of_bounds = 0;  // bytes
};

// How many mutants of a kernel its cases tell from it.
struct ObservedAdequacy {
  struct Mutants {
    int64_t total = 0;
    int64_t caught = 0;
    int64_t equivalent = 0;
  };
  ObservedKernel kernel;
  double score = 0;
  std::map<std::string, Mutants> mutants;  // by kind
};

// Times of a kernel's launches, in microseconds.
struct ObservedSpeed {
  ObservedKernel kernel;
  std::string device;
  std::string toolchain;
  std::string hardware;  // the device's name; empty: it is not said
  std::string case_id;   // the case that was timed or grown; empty: of no single case
  double median = 0;
  std::optional<double> spread, eager, compiled, roofline, eager_spread, compiled_spread;
  bool fills = false;  // the case fills the device
  std::string sizes;   // what was grown
  std::string grown;   // the steps, as canonical JSON; empty: none
  std::string reason;  // why it does not fill the device
  bool checked = false;
  bool noisy = false;
  int64_t launches = 0;
  std::optional<int64_t> bytes, operations;
  std::string bound;                          // memory, compute, or empty
  std::optional<int64_t> sm_mhz, memory_mhz;  // clocks
};

using Observation = std::variant<ObservedCase, ObservedResult, ObservedAdequacy, ObservedSpeed>;

// A line of an evidence file.
struct EvidenceLine {
  std::string type;                        // safe to show
  bool known = false;                      // the type is one of evidence
  std::optional<Observation> observation;  // of the types that tasks are made of
  std::vector<std::string> unknown_fields;
};

// Reads a line. INVALID_ARGUMENT says which field is wrong: evidence is what others wrote, and all
// of it is checked here. Texts that could deceive a reader (control characters, bidirectional
// marks) are errors too. The texts of the result are safe, except `line` of a case, which is JSON.
absl::StatusOr<EvidenceLine> ReadEvidenceLine(absl::string_view line);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TASKS_OBSERVATION_H_
