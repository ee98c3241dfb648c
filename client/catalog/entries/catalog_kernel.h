#ifndef KERNELMILL_CLIENT_CATALOG_ENTRIES_CATALOG_KERNEL_H_
#define KERNELMILL_CLIENT_CATALOG_ENTRIES_CATALOG_KERNEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernelmill::client {

// A row of kernels.jsonl as the catalog shows it; docs/dataset.md says what each field means. A
// text that is null there is empty here. All texts are UTF-8, and are as the repository has them:
// whoever shows one escapes it.

struct CatalogParameter {
  std::string name;
  std::string annotation;
  std::string default_value;
  std::string role;
  std::string rule;
};

using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct CatalogConfig {
  NamedValues kwargs;
  NamedValues options;
};

struct CatalogAutotune {
  bool resolved = false;
  std::string expression;
  std::vector<CatalogConfig> configs;
  std::vector<std::string> key;
};

struct CatalogLauncher {
  std::string path;
  std::string qualname;
  std::string text;
  int first_line = 0;
  int last_line = 0;
  int count = 0;  // of functions that launch the kernel
};

struct CatalogLicense {
  struct Found {
    std::string expression;
    std::string rule;
    std::string path;
    int first_line = 0;
    int last_line = 0;
  };
  struct Origin {
    std::string origin;
    std::string path;
    int line = 0;
  };

  std::string expression;
  std::string evidence;
  double confidence = 0;
  std::string vendored;
  std::vector<std::string> copyrights;
  std::vector<std::string> notices;
  std::vector<Found> found;
  std::vector<Origin> adapted_from;
};

// What a compiler said of a kernel. Numbers that it did not tell are absent.
struct CompileResult {
  std::string toolchain;
  std::string target;
  std::string status;  // ok, error, unknown
  std::string stage;
  std::string message;
  std::string missing;
  std::optional<int64_t> line;  // of the module
  std::optional<int64_t> registers;
  std::optional<int64_t> shared_bytes;
  std::optional<int64_t> spill_bytes;
  std::optional<int64_t> instructions;
};

struct CompileImport {
  std::string toolchain;
  bool ok = false;
  std::string error;
  std::optional<int64_t> line;
};

struct CompileEvidence {
  std::string not_attempted;  // why nothing was compiled; empty: it was
  std::vector<CompileImport> imports;
  std::vector<std::string> signatures;  // on one line each
  std::vector<CompileResult> results;
};

struct CatalogKernel {
  // Identity and place.
  std::string id;
  std::string repository;
  std::string repository_url;
  std::string url;
  std::string commit;
  std::string path;
  std::string json_pointer;
  std::string sha256;
  int first_line = 0;
  int last_line = 0;
  std::string dsl;
  std::string role;
  std::string form;
  std::string found_by;
  std::string kind;
  std::string target;
  std::string category;
  std::string split;
  std::string name;
  std::string qualname;
  std::vector<std::string> duplicates;

  // Text.
  std::string source;
  std::string module;
  std::string signature;
  std::string docstring;
  std::vector<std::string> decorators;
  std::vector<std::string> calls;
  bool self_contained = false;
  NamedValues unresolved_names;  // and the reason

  // Derived.
  std::vector<CatalogParameter> parameters;
  std::optional<CatalogAutotune> autotune;
  std::vector<std::string> heuristics;
  std::optional<CatalogLauncher> launcher;
  std::string requires_triton;
  std::string requires_triton_path;
  std::vector<std::string> tags;
  NamedValues tag_rules;
  std::vector<std::string> features;
  std::string generated;  // what says that a program wrote it
  int64_t tokens = 0;     // in cl100k_base
  CatalogLicense license;
  NamedValues checks;         // and the outcome
  NamedValues check_reasons;  // of those that failed or are exempt
  double score = 0;
  int tier = 0;
  int loads = 0;
  int masked_loads = 0;
  int stores = 0;
  int masked_stores = 0;
  double comment_ratio = 0;
  std::optional<CompileEvidence> compile;
  // Files of tests that launch it, as far as the row says.
  std::vector<std::string> tests;

  int lines() const { return last_line - first_line + 1; }
  bool HasTag(const std::string& tag) const;
  bool is_backward() const { return HasTag("backward"); }
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_ENTRIES_CATALOG_KERNEL_H_
