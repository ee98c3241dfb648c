#include "client/evaluate/honesty/patches.h"

#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/evaluate/honesty/name_origins.h"
#include "common/python/syntax/calls.h"

namespace kernelmill::client {
namespace {

using python::Field;
using python::Kind;
using python::kNoNode;
using python::NodeId;

// Returns whether an answer must not change what the name stands for.
bool IsGuarded(absl::string_view dotted) {
  static constexpr absl::string_view kPackages[] = {
      "torch",      "triton",     "time",     "builtins",  "sys",      "os",
      "numpy",      "math",       "random",   "gc",        "inspect",  "types",
      "importlib",  "timeit",     "unittest", "pytest",    "operator", "functools",
      "statistics", "subprocess", "ctypes",   "threading", "datetime", "__main__"};
  // Settings, which everybody may choose.
  static constexpr absl::string_view kSettings[] = {
      "torch.backends.", "torch._dynamo.",     "torch._inductor.", "torch.cuda.matmul",
      "triton.knobs.",   "torch.distributed.", "sys.path",         "os.path"};
  for (const absl::string_view setting : kSettings) {
    if (absl::StartsWith(dotted, setting)) return false;
  }
  const absl::string_view package = dotted.substr(0, dotted.find('.'));
  return absl::StrContains(dotted, ".") && absl::c_linear_search(kPackages, package);
}

// An effect of a call on the surroundings, by a prefix of its dotted name that ends at a dot or the
// end.
struct Deed {
  absl::string_view name;
  absl::string_view what;
  bool warning = false;
};

constexpr Deed kCalls[] = {
    {"sys._getframe", "reads the frames of its caller"},
    {"sys._current_frames", "reads the frames of its caller"},
    {"inspect.stack", "reads the frames of its caller"},
    {"inspect.currentframe", "reads the frames of its caller"},
    {"inspect.getouterframes", "reads the frames of its caller"},
    {"inspect.getinnerframes", "reads the frames of its caller"},
    {"inspect.trace", "reads the frames of its caller"},
    {"gc.get_objects", "reads the objects of its caller"},
    {"gc.get_referrers", "reads the objects of its caller"},
    {"sys.settrace", "traces its caller"},
    {"sys.setprofile", "traces its caller"},
    {"unittest.mock", "patches"},
    {"mock.patch", "patches"},
    {"importlib.reload", "reloads a module"},
    {"os.putenv", "changes the environment"},
    {"os.unsetenv", "changes the environment"},
    {"os.environ.update", "changes the environment"},
    {"os.environ.setdefault", "changes the environment"},
    {"os.environ.pop", "changes the environment"},
    {"os.environ.clear", "changes the environment"},
    {"os.environ.get", "reads the environment", true},
    {"os.getenv", "reads the environment", true},
    {"os.system", "starts a process"},
    {"os.popen", "starts a process"},
    {"os.fork", "starts a process"},
    {"os.execv", "starts a process"},
    {"os.execvp", "starts a process"},
    {"os.spawnl", "starts a process"},
    {"os.kill", "ends a process"},
    {"os._exit", "ends its process"},
    {"os.remove", "changes files"},
    {"os.unlink", "changes files"},
    {"os.rename", "changes files"},
    {"os.replace", "changes files"},
    {"os.open", "opens a file"},
    {"os.walk", "lists files"},
    {"os.listdir", "lists files"},
    {"subprocess", "starts a process"},
    {"multiprocessing", "starts a process"},
    {"threading.Thread", "starts a thread"},
    {"threading.Timer", "starts a thread"},
    {"concurrent.futures", "starts a thread"},
    {"_thread", "starts a thread"},
    {"ctypes", "calls C functions"},
    {"cffi", "calls C functions"},
    {"socket", "opens a connection"},
    {"requests", "opens a connection"},
    {"urllib", "opens a connection"},
    {"shutil", "changes files"},
    {"mmap.mmap", "opens a file"},
    {"io.open", "opens a file"},
    {"open", "opens a file"},
    {"torch.load", "opens a file"},
    {"torch.save", "opens a file"},
    {"numpy.load", "opens a file"},
    {"numpy.save", "opens a file"},
    {"numpy.fromfile", "opens a file"},
    {"pickle.load", "opens a file"},
    {"pickle.loads", "runs code in data"},
    {"exec", "runs code in a string"},
    {"eval", "runs code in a string"},
    {"compile", "compiles code in a string"},
    {"__import__", "imports a computed name"},
    {"atexit.register", "runs code when the caller ends"},
    {"signal.signal", "changes what signals do"},
    {"torch.Tensor._make_subclass", "makes a tensor of another class"},
    {"torch.Tensor._make_wrapper_subclass", "makes a tensor of another class"},
};

// Attributes that lead out of the answer, whatever they are asked of.
constexpr Deed kAttributes[] = {
    {"f_back", "reads the frames of its caller"},
    {"f_locals", "reads the frames of its caller"},
    {"f_globals", "reads the frames of its caller"},
    {"tb_frame", "reads the frames of its caller"},
    {"__subclasses__", "reads the classes of its caller"},
    {"__cuda_array_interface__", "makes a tensor of an address"},
};

// Methods by which work on another stream is waited for.
constexpr absl::string_view kWaits[] = {"synchronize", "wait_stream", "wait_event", "wait"};

constexpr absl::string_view kFileMethods[] = {"read_text", "write_text", "read_bytes",
                                              "write_bytes"};

constexpr absl::string_view kClasses[] = {"torch.Tensor", "torch.overrides.TorchFunctionMode",
                                          "torch.utils._python_dispatch.TorchDispatchMode",
                                          "torch.nn.Parameter"};

class PatchFinder {
 public:
  explicit PatchFinder(const python::ParsedText& text)
      : text_(text), tree_(text.tree()), origins_(text) {
    for (const NodeId node : tree_.Of(Kind::kIfStatement)) {
      const absl::string_view head = tree_.GetText(node).substr(0, 60);
      if (absl::StrContains(head.substr(0, head.find('\n')), "__name__")) mains_.push_back(node);
    }
  }

  std::vector<Finding> Find() && {
    for (const Kind kind : {Kind::kAssignment, Kind::kAugmentedAssignment}) {
      for (const NodeId node : tree_.Of(kind)) {
        const NodeId left = tree_.Child(node, Field::kLeft);
        if (left != kNoNode) ReadTarget(left);
      }
    }
    for (const python::Call& call : text_.calls().In(0)) ReadCall(call);
    for (const NodeId stream : streams_) {
      Add(stream,
          waits_ ? "works on another stream" : "works on another stream, and waits for nothing",
          /*warning=*/waits_);
    }
    for (const NodeId node : tree_.Of(Kind::kAttribute)) {
      const NodeId name = tree_.Child(node, Field::kAttribute);
      if (name == kNoNode) continue;
      for (const Deed& deed : kAttributes) {
        if (tree_.GetText(name) == deed.name) Add(node, deed.what, deed.warning);
      }
    }
    for (const NodeId node : tree_.Of(Kind::kClassDefinition)) ReadClass(node);
    // The grammar reads type(x).y = z so.
    for (const NodeId node : tree_.Of(Kind::kTypeAliasStatement)) {
      if (absl::StartsWith(tree_.GetText(node), "type(")) Add(node, "assigns to parts of a class");
    }
    return std::move(findings_);
  }

 private:
  std::string Resolve(NodeId node) const { return origins_.Resolve(node); }

  // Returns whether a variable of the environment is a switch of a vendor's compiler, which neither
  // Triton nor a harness reads.
  static bool IsOwnVariable(absl::string_view text) {
    static constexpr absl::string_view kRead[] = {"TRITON_", "CUDA_", "TORCH", "PYTORCH_", "PYTHON",
                                                  "NVIDIA_", "HIP_",  "ROCR_", "LD_",      "PATH"};
    if (text.size() < 2 || (text[0] != '"' && text[0] != '\'')) return false;
    return absl::c_none_of(
        kRead, [&](absl::string_view name) { return absl::StartsWith(text.substr(1), name); });
  }

  void ReadTarget(NodeId target) {
    const Kind kind = tree_.GetKind(target);
    if (kind == Kind::kAttribute) {
      const std::string origin = Resolve(target);
      if (IsGuarded(origin)) Add(target, absl::StrCat("assigns to ", origin));
      const NodeId object = tree_.Child(target, Field::kObject);
      if (origin.empty() && object != kNoNode && !FindClass(object).empty()) {
        Add(target, absl::StrCat("assigns to ", tree_.GetText(target)));
      }
      const absl::string_view text = tree_.GetText(target);
      if (absl::EndsWith(text, ".__code__") || absl::EndsWith(text, ".__globals__")) {
        Add(target, absl::StrCat("assigns to ", text));
      }
    } else if (kind == Kind::kSubscript) {
      const NodeId of = tree_.Child(target, Field::kValue);
      if (of == kNoNode) return;
      const std::string origin = Resolve(of);
      const absl::string_view text = tree_.GetText(of);
      if (origin == "os.environ") {
        NodeId key = tree_.NextSibling(of);
        while (key != kNoNode && python::IsLayout(tree_.GetKind(key))) key = tree_.NextSibling(key);
        return Add(target, "changes the environment",
                   key != kNoNode && IsOwnVariable(tree_.GetText(key)));
      }
      if (IsUnder(origin, "sys.modules")) return Add(target, "assigns to sys.modules");
      if (text == "__builtins__" || !FindNamespace(of).empty()) {
        Add(target, absl::StrCat("assigns to ", text));
      }
    } else if (kind == Kind::kPatternList || kind == Kind::kTuplePattern || kind == Kind::kTuple) {
      for (NodeId part = tree_.FirstChild(target); part != kNoNode;
           part = tree_.NextSibling(part)) {
        if (!python::IsLayout(tree_.GetKind(part))) ReadTarget(part);
      }
    }
  }

  void ReadCall(const python::Call& call) {
    if (call.function == kNoNode) return;
    const python::Arguments arguments = python::GetArguments(tree_, call.node);
    const std::string origin = Resolve(call.function);
    if ((origin == "setattr" || origin == "delattr") && !arguments.empty()) {
      const std::string of = FindClass(arguments[0].value);
      if (!of.empty()) Add(call.node, absl::StrCat("assigns to parts of ", of));
      return;
    }
    if (IsUnder(origin, "torch.library") && absl::StrContains(tree_.GetText(call.node), "aten")) {
      return Add(call.node, "replaces an operator of torch");
    }
    if (origin == "torch.cuda.Stream") streams_.push_back(call.node);
    if (ReadUpdate(call, arguments, origin)) return;
    for (const Deed& deed : kCalls) {
      if (origin.empty() || !IsUnder(origin, deed.name)) continue;
      const bool own = absl::StartsWith(origin, "os.environ") && !arguments.empty() &&
                       IsOwnVariable(tree_.GetText(arguments[0].value));
      return Add(call.node, deed.what, deed.warning || own);
    }
    if (tree_.GetKind(call.function) != Kind::kAttribute) return;
    const NodeId attribute = tree_.Child(call.function, Field::kAttribute);
    if (attribute == kNoNode) return;
    const absl::string_view method = tree_.GetText(attribute);
    if (absl::c_linear_search(kFileMethods, method)) Add(call.node, "opens a file");
    waits_ |= absl::c_linear_search(kWaits, method);
    if (method == "as_strided" && arguments.size() > 2 &&
        absl::StrContains(tree_.GetText(arguments[2].value), "numel")) {
      Add(call.node, "reads memory behind a tensor");
    }
  }

  // torch.cuda.__dict__.update(...), vars(torch).update(...)
  bool ReadUpdate(const python::Call& call, const python::Arguments& arguments,
                  absl::string_view origin) {
    if (tree_.GetKind(call.function) != Kind::kAttribute || arguments.empty()) return false;
    const NodeId method = tree_.Child(call.function, Field::kAttribute);
    const NodeId object = tree_.Child(call.function, Field::kObject);
    if (method == kNoNode || object == kNoNode) return false;
    const absl::string_view name = tree_.GetText(method);
    if (name != "update" && name != "setdefault" && name != "__setitem__") return false;
    const std::string of = FindNamespace(object);
    if (of.empty() || origin == "os.environ.update") return false;
    Add(call.node, absl::StrCat("assigns to parts of ", of));
    return true;
  }

  // Returns the guarded module or class whose names an expression holds: x.__dict__, vars(x); empty
  // for others.
  std::string FindNamespace(NodeId node) const {
    node = tree_.StripParentheses(node);
    std::string of;
    if (tree_.GetKind(node) == Kind::kAttribute) {
      const NodeId name = tree_.Child(node, Field::kAttribute);
      const NodeId object = tree_.Child(node, Field::kObject);
      if (name != kNoNode && object != kNoNode && tree_.GetText(name) == "__dict__") {
        of = FindClass(object);
      }
    } else if (tree_.GetKind(node) == Kind::kCall) {
      const python::Arguments arguments = python::GetArguments(tree_, node);
      const bool vars = Resolve(text_.calls().At(node).function) == "vars";
      if (vars && arguments.size() == 1) of = FindClass(arguments[0].value);
    }
    return of;
  }

  // Returns the guarded module or class that an expression is: torch.cuda, type(x), x.__class__;
  // empty for others.
  std::string FindClass(NodeId node) const {
    node = tree_.StripParentheses(node);
    const std::string origin = Resolve(node);
    if (!origin.empty()) return IsGuarded(absl::StrCat(origin, ".")) ? origin : "";
    if (tree_.GetKind(node) == Kind::kCall) {
      const python::Arguments arguments = python::GetArguments(tree_, node);
      if (Resolve(text_.calls().At(node).function) == "type" && arguments.size() == 1 &&
          tree_.GetText(arguments[0].value) != "self") {
        return std::string(tree_.GetText(node));
      }
    }
    const absl::string_view text = tree_.GetText(node);
    const bool other = absl::EndsWith(text, ".__class__") && text != "self.__class__";
    return other ? std::string(text) : "";
  }

  // A subclass can lie to the functions that compare it.
  void ReadClass(NodeId node) {
    const NodeId bases = tree_.Child(node, Kind::kArgumentList);
    if (bases == kNoNode) return;
    for (NodeId part = tree_.FirstChild(bases); part != kNoNode; part = tree_.NextSibling(part)) {
      const Kind kind = tree_.GetKind(part);
      if (kind != Kind::kIdentifier && kind != Kind::kAttribute) continue;
      const std::string origin = Resolve(part);
      if (absl::c_linear_search(kClasses, origin)) {
        Add(node, absl::StrCat("derives a class from ", origin));
      }
    }
  }

  void Add(NodeId at, absl::string_view what, bool warning = false) {
    const bool main = absl::c_any_of(
        mains_, [&](NodeId node) { return at > node && at < tree_[node].subtree_end; });
    const int line = text_.lines().LineAt(tree_[at].start);
    if (main || !reported_.emplace(line, std::string(what)).second) return;
    findings_.push_back({kPatches, line, std::string(what), warning});
  }

  const python::ParsedText& text_;
  const python::SyntaxTree& tree_;
  const NameOrigins origins_;
  std::vector<NodeId> streams_;  // the calls that make them
  bool waits_ = false;           // a call waits for such work
  std::vector<NodeId> mains_;    // if __name__ == "__main__"
  std::set<std::pair<int, std::string>> reported_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindPatches(const python::ParsedText& text) {
  return PatchFinder(text).Find();
}

}  // namespace kernelmill::client
