#ifndef KERNELMILL_CLIENT_CATALOG_TESTING_CATALOG_ROWS_H_
#define KERNELMILL_CLIENT_CATALOG_TESTING_CATALOG_ROWS_H_

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::client::testing {

// Returns a row of kernels.jsonl for a small softmax, for tests to change.
inline nlohmann::json SoftmaxRow() {
  return nlohmann::json::parse(R"json({
    "id": "0123456789abcdef0123456789abcdef", "repository": "a/kernels",
    "repository_url": "https://github.com/a/kernels", "commit": "c0ffee",
    "url": "https://github.com/a/kernels/blob/c0ffee/ops/softmax.py#L3-L9",
    "path": "ops/softmax.py", "first_line": 3, "last_line": 9, "json_pointer": null,
    "sha256": "ab", "dsl": "triton", "role": "kernel", "form": "decorated",
    "found_by": "triton.jit", "applied_by": null, "name": "softmax_kernel",
    "qualname": "softmax_kernel", "category": "ops", "source_tier": 1, "weight": 1.0,
    "split": "train", "cluster": "0123456789abcdef0123456789abcdef",
    "duplicates": ["ffffffffffffffffffffffffffffffff"],
    "source": "@triton.jit\ndef softmax_kernel(out, x, stride, n, BLOCK: tl.constexpr):\n    \"\"\"Row-wise softmax.\"\"\"\n    row = tl.program_id(0)\n    cols = tl.arange(0, BLOCK)\n    v = tl.load(x + row * stride + cols, mask=cols < n, other=-float('inf'))\n    tl.store(out + row * stride + cols, tl.exp(v - tl.max(v, 0)), mask=cols < n)\n",
    "module": "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef softmax_kernel(out, x, stride, n, BLOCK: tl.constexpr):\n    pass\n",
    "signature": "def softmax_kernel(out, x, stride, n, BLOCK: tl.constexpr):",
    "docstring": "Row-wise softmax.", "decorators": ["@triton.jit"],
    "calls": ["triton.language.program_id", "triton.language.load", "triton.language.max"],
    "self_contained": true, "unresolved_names": [],
    "parameters": [
      {"name": "out", "annotation": null, "default": null, "role": "pointer", "rule": "stored"},
      {"name": "BLOCK", "annotation": "tl.constexpr", "default": "64", "role": "constexpr",
       "rule": "annotation"}],
    "autotune": {"decorator": "@triton.autotune(...)", "resolved": true, "expression": null,
      "configs": [{"kwargs": [{"name": "BLOCK", "value": "128"}],
                   "options": [{"name": "num_warps", "value": "4"}]}],
      "key": ["n"], "key_expression": null},
    "heuristics": {"names": ["EVEN"], "expressions": []},
    "launcher": {"path": "ops/softmax.py", "qualname": "softmax", "first_line": 12,
      "last_line": 16, "count": 2, "text": "def softmax(x):\n    out = torch.empty_like(x)\n    softmax_kernel[(x.shape[0],)](out, x, x.stride(0), x.shape[1], BLOCK=128)\n    return out\n"},
    "requires_triton": ">=2.1.0", "requires_triton_path": "setup.py",
    "tags": ["softmax"], "tag_rules": [{"name": "softmax", "rule": "name:softmax"}],
    "features": ["masks"], "tokens": {"cl100k_base": 120, "o200k_base": 118},
    "license": {"expression": "MIT", "evidence": "file:LICENSE", "confidence": 0.98,
      "vendored": null, "copyrights": ["Copyright (c) 2024 Ada Lovelace"], "notices": ["NOTICE"],
      "found": [{"expression": "MIT", "rule": "text", "path": "LICENSE", "first_line": 1,
                 "last_line": 21, "score": 0.98, "text": null}],
      "adapted_from": [{"origin": "b/origin", "path": "ops/softmax.py", "line": 1}]},
    "checks": {"has_bounds_masking": "pass", "has_docstring": "pass", "parses": "fail"},
    "check_reasons": [{"check": "parses", "reason": "a syntax error in line 2"}],
    "quality": {"score": 0.82, "tier": 1, "loads": 1, "masked_loads": 1, "stores": 1,
      "masked_stores": 1, "comment_ratio": 0.1, "generated": null},
    "kind": "operation", "target": "generic"
  })json");
}

// Returns the row as the catalog reads it.
inline v1::KernelRow ToKernel(const nlohmann::json& row) {
  return *dataset::ParseRow<v1::KernelRow>(row.dump());
}

// Replaces the elements of a list of texts.
inline void SetTexts(const std::vector<std::string>& texts,
                     google::protobuf::RepeatedPtrField<std::string>* list) {
  list->Assign(texts.begin(), texts.end());
}

// Returns SoftmaxRow with another id, whose last digits are `number`.
inline nlohmann::json NumberedRow(int number) {
  nlohmann::json row = SoftmaxRow();
  std::string id = "0123456789abcdef0123456789000000";
  const std::string digits = std::to_string(number);
  id.replace(id.size() - digits.size(), digits.size(), digits);
  row["id"] = id;
  return row;
}

// Writes the rows as kernels.jsonl of the folder, beside an empty ledger and empty notices.
inline void WriteKernels(const std::string& folder, const std::vector<nlohmann::json>& rows) {
  std::ofstream file(folder + "/kernels.jsonl", std::ios::binary);
  for (const nlohmann::json& row : rows) file << row.dump() << "\n";
  std::ofstream(folder + "/ledger.jsonl", std::ios::app);
  std::ofstream(folder + "/notices.jsonl", std::ios::app);
}

}  // namespace kernelmill::client::testing

#endif  // KERNELMILL_CLIENT_CATALOG_TESTING_CATALOG_ROWS_H_
