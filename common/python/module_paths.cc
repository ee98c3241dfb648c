#include "common/python/module_paths.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/dsl/dialects.h"

namespace kernelmill::python {

// clang-format off
// Examples, for files in a source whose folder lib/pkg has an __init__.py and whose folder lib has
// none:
//
//   importer        import          file             found by
//   lib/pkg/m.py    from .n         lib/pkg/n.py     FindRelative
//   lib/pkg/m.py    pkg.n           lib/pkg/n.py     FindInOwnPackage
//   tools/run.py    util            tools/util.py    beside the script
//   tools/run.py    pkg.n           lib/pkg/n.py     FindFromRoots
// clang-format on

namespace {

// If more folders than this hold a package of the name, the import is in doubt.
constexpr size_t kMaxRoots = 64;

std::string Join(absl::string_view folder, absl::string_view rest) {
  if (folder.empty() || rest.empty()) return absl::StrCat(folder, rest);
  return absl::StrCat(folder, "/", rest);
}

}  // namespace

bool IsInstalledModule(absl::string_view module) {
  const absl::string_view root = module.substr(0, module.find('.'));
  return root == "triton" || root == "torch" || root == "jax" || root == "jaxlib" ||
         IsStandardModule(root) || dsl::IsDialectModule(module);
}

// Collects all folders, packages and modules; then the top-level folders: those whose parent is no
// package. For each of these the parent may be on sys.path.
ModulePaths::ModulePaths(const std::vector<std::string>& paths) {
  absl::flat_hash_set<std::string> folders;
  for (const std::string& path : paths) {
    absl::string_view module = path;
    if (!absl::ConsumeSuffix(&module, ".py")) continue;
    // If a folder is known, so are the folders around it.
    for (absl::string_view at = ParentFolder(path); !at.empty() && folders.emplace(at).second;) {
      at = ParentFolder(at);
    }
    if (BaseName(module) == "__init__") {
      packages_.emplace(ParentFolder(module));
      files_[ParentFolder(module)] = path;  // before a module of the same name
    } else {
      files_.try_emplace(module, path);
    }
  }
  for (const std::string& folder : folders) {
    const absl::string_view parent = ParentFolder(folder);
    if (!IsPackage(parent)) roots_[BaseName(folder)].emplace_back(parent);
  }
  for (auto& [name, parents] : roots_) std::sort(parents.begin(), parents.end());
}

std::string ModulePaths::FileAt(absl::string_view folder, absl::string_view module) const {
  const auto found = files_.find(Join(folder, module));
  return found == files_.end() ? "" : found->second;
}

bool ModulePaths::IsPackage(absl::string_view folder) const { return packages_.contains(folder); }

// The first way that leads into the source decides, in the order of the class comment.
ModulePaths::Found ModulePaths::Find(absl::string_view importer, int level,
                                     absl::string_view module) const {
  const std::string path = absl::StrReplaceAll(module, {{".", "/"}});
  if (level > 0) return FindRelative(importer, level, path);
  if (module.empty() || IsInstalledModule(module)) return {};
  Found own = FindInOwnPackage(importer, path);
  if (own.in_source) return own;
  const absl::string_view folder = ParentFolder(importer);
  if (!IsPackage(folder)) {
    std::string beside = FileAt(folder, path);
    if (!beside.empty()) return {true, std::move(beside)};
  }
  return FindFromRoots(path);
}

// One dot is the importer's folder, each further dot the folder around. Dots that lead out of the
// source give no file.
ModulePaths::Found ModulePaths::FindRelative(absl::string_view importer, int level,
                                             const std::string& module) const {
  absl::string_view folder = ParentFolder(importer);
  for (; level > 1; --level) {
    if (folder.empty()) return {true, ""};
    folder = ParentFolder(folder);
  }
  return {true, FileAt(folder, module)};
}

// Looks for the first part of the module among the folders around the importer, from the outermost
// on. A folder in a package is not top-level and does not count.
ModulePaths::Found ModulePaths::FindInOwnPackage(absl::string_view importer,
                                                 const std::string& module) const {
  const absl::string_view root = absl::string_view(module).substr(0, module.find('/'));
  for (size_t begin = 0; begin < importer.size();) {
    const size_t end = importer.find('/', begin);
    if (end == absl::string_view::npos) break;
    const absl::string_view parent = importer.substr(0, begin == 0 ? 0 : begin - 1);
    if (importer.substr(begin, end - begin) == root && !IsPackage(parent)) {
      return {true, FileAt(parent, module)};
    }
    begin = end + 1;
  }
  return {};
}

// If no top-level folder has the name, or too many have it, only a module at the top of the source
// counts. If two roots have the module, it is in the source but has no file.
ModulePaths::Found ModulePaths::FindFromRoots(const std::string& module) const {
  const absl::string_view name = absl::string_view(module).substr(0, module.find('/'));
  const auto roots = roots_.find(name);
  if (roots == roots_.end() || roots->second.size() > kMaxRoots) {
    std::string top = FileAt("", module);
    return {!top.empty(), std::move(top)};
  }
  Found found;
  for (const std::string& root : roots->second) {
    std::string path = FileAt(root, module);
    if (path.empty()) continue;
    if (found.in_source) return {true, ""};
    found = {true, std::move(path)};
  }
  return found;
}

namespace {

// Sorted. From CPython 3.11: sys.stdlib_module_names without the private ones.
constexpr absl::string_view kStandardModules[] = {
    "__future__",   "abc",          "aifc",         "antigravity", "argparse",    "array",
    "ast",          "asynchat",     "asyncio",      "asyncore",    "atexit",      "audioop",
    "base64",       "bdb",          "binascii",     "bisect",      "builtins",    "bz2",
    "cProfile",     "calendar",     "cgi",          "cgitb",       "chunk",       "cmath",
    "cmd",          "code",         "codecs",       "codeop",      "collections", "colorsys",
    "compileall",   "concurrent",   "configparser", "contextlib",  "contextvars", "copy",
    "copyreg",      "crypt",        "csv",          "ctypes",      "curses",      "dataclasses",
    "datetime",     "dbm",          "decimal",      "difflib",     "dis",         "distutils",
    "doctest",      "email",        "encodings",    "ensurepip",   "enum",        "errno",
    "faulthandler", "fcntl",        "filecmp",      "fileinput",   "fnmatch",     "fractions",
    "ftplib",       "functools",    "gc",           "genericpath", "getopt",      "getpass",
    "gettext",      "glob",         "graphlib",     "grp",         "gzip",        "hashlib",
    "heapq",        "hmac",         "html",         "http",        "idlelib",     "imaplib",
    "imghdr",       "imp",          "importlib",    "inspect",     "io",          "ipaddress",
    "itertools",    "json",         "keyword",      "lib2to3",     "linecache",   "locale",
    "logging",      "lzma",         "mailbox",      "mailcap",     "marshal",     "math",
    "mimetypes",    "mmap",         "modulefinder", "msilib",      "msvcrt",      "multiprocessing",
    "netrc",        "nis",          "nntplib",      "nt",          "ntpath",      "nturl2path",
    "numbers",      "opcode",       "operator",     "optparse",    "os",          "ossaudiodev",
    "pathlib",      "pdb",          "pickle",       "pickletools", "pipes",       "pkgutil",
    "platform",     "plistlib",     "poplib",       "posix",       "posixpath",   "pprint",
    "profile",      "pstats",       "pty",          "pwd",         "py_compile",  "pyclbr",
    "pydoc",        "pydoc_data",   "pyexpat",      "queue",       "quopri",      "random",
    "re",           "readline",     "reprlib",      "resource",    "rlcompleter", "runpy",
    "sched",        "secrets",      "select",       "selectors",   "shelve",      "shlex",
    "shutil",       "signal",       "site",         "smtpd",       "smtplib",     "sndhdr",
    "socket",       "socketserver", "spwd",         "sqlite3",     "sre_compile", "sre_constants",
    "sre_parse",    "ssl",          "stat",         "statistics",  "string",      "stringprep",
    "struct",       "subprocess",   "sunau",        "symtable",    "sys",         "sysconfig",
    "syslog",       "tabnanny",     "tarfile",      "telnetlib",   "tempfile",    "termios",
    "textwrap",     "this",         "threading",    "time",        "timeit",      "tkinter",
    "token",        "tokenize",     "tomllib",      "trace",       "traceback",   "tracemalloc",
    "tty",          "turtle",       "turtledemo",   "types",       "typing",      "unicodedata",
    "unittest",     "urllib",       "uu",           "uuid",        "venv",        "warnings",
    "wave",         "weakref",      "webbrowser",   "winreg",      "winsound",    "wsgiref",
    "xdrlib",       "xml",          "xmlrpc",       "zipapp",      "zipfile",     "zipimport",
    "zlib",         "zoneinfo",
};

}  // namespace

bool IsStandardModule(absl::string_view name) {
  return std::binary_search(std::begin(kStandardModules), std::end(kStandardModules), name);
}

}  // namespace kernelmill::python
