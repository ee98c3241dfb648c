#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_HOST_OBJECTS_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_HOST_OBJECTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::client {

using ObjectId = uint32_t;

// The objects that an expression may stand for: sorted, each once, a bounded number.
using Value = std::vector<ObjectId>;

// An object of the host program, as far as the checks need it.
struct Object {
  enum Kind : uint8_t {
    kTensor,     // a tensor, or anything unknown that may be or hold one
    kScalar,     // a number, a string, None: `name` is its literal, empty if that is unknown
    kFunction,   // a function or lambda of the answer: `node`, `scope`, `self`
    kKernel,     // a kernel: `node`
    kLaunch,     // kernel[grid]: `self` is the kernels
    kClass,      // a class of the answer: `node`
    kInstance,   // of `node`; its attributes
    kExternal,   // something imported: `name`, dotted
    kContainer,  // a list, tuple, set or dictionary: `items`, then `rest`, in no order
  };

  Kind kind = kTensor;
  python::NodeId node = python::kNoNode;
  std::string name;
  size_t scope = 0;
  Value self;  // the receiver; for a tensor, the tensors that it may be a view of
  std::vector<Value> items;
  Value rest;
  std::map<std::string, Value> attributes;   // also the values of a container's literal keys
  int run = 0;                               // the run of the entry in which it was made
  int written = 0;                           // the last run in which a kernel wrote it; 0: none did
  bool input = false;                        // the entry is given it
  bool unknown = false;                      // another file may have made or changed it
  bool launched = false;                     // it is given to a kernel
  python::NodeId emptied = python::kNoNode;  // the place at which torch replaced its values
  bool open = false;                         // others may give it arguments: a kernel or a function
  // The origin of a tensor's values: each is set if a part of them has it.
  bool kernel = false;                        // a kernel wrote it
  bool made = false;                          // a kernel did more than copy it
  python::NodeId computed = python::kNoNode;  // torch computed it: where
  python::NodeId copied = python::kNoNode;  // torch computed it, and a kernel only copied it: where
};

// A scope of names: the module's, or a call's.
struct Scope {
  absl::flat_hash_map<absl::string_view, Value> names;
  size_t around = 0;  // the scope in which the function was defined
  absl::flat_hash_set<absl::string_view> global;
  absl::flat_hash_set<absl::string_view> nonlocal;
  Value returned;
  bool may_end = false;  // the call may end without a return
};

inline constexpr size_t kMaxValue = 24;

// Adds the objects of `from`, up to kMaxValue.
inline void AddTo(const Value& from, Value* to) {
  for (const ObjectId id : from) {
    if (to->size() >= kMaxValue) return;
    const auto at = std::lower_bound(to->begin(), to->end(), id);
    if (at == to->end() || *at != id) to->insert(at, id);
  }
}

inline Value Union(Value a, const Value& b) {
  AddTo(b, &a);
  return a;
}

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_HOST_OBJECTS_H_
