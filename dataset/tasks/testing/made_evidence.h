#ifndef KERNELMILL_DATASET_TASKS_TESTING_MADE_EVIDENCE_H_
#define KERNELMILL_DATASET_TASKS_TESTING_MADE_EVIDENCE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "dataset/output/json.h"

namespace kernelmill::dataset {

// Makes lines of evidence, as kernelmill.execution writes them.

// A case of a kernel that adds two vectors of `size` elements.
inline Json MakeCase(const std::string& module_sha256, const std::string& kernel, int size) {
  const auto tensor = [&](const char* name, int storage) {
    return Json{{"name", name},
                {"tensor",
                 {{"dtype", "float32"},
                  {"shape", Json::array({size})},
                  {"strides", Json::array({1})},
                  {"offset", 0},
                  {"storage", storage}}}};
  };
  return {
      {"type", "case"},
      {"module_sha256", module_sha256},
      {"kernel", kernel},
      {"arguments", Json::array({tensor("x", 0),
                                 tensor("out", 1),
                                 {{"name", "n"}, {"scalar", {{"type", "int"}, {"value", size}}}},
                                 {{"name", "BLOCK"}, {"constexpr", "64"}},
                                 Json{{"name", "bias"}}})},
      {"storages",
       Json::array(
           {{{"bytes", 4 * size},
             {"recipe", {{"kind", "normal"}, {"seed", 7}, {"mean", 0.0}, {"deviation", 1.0}}}},
            {{"bytes", 4 * size}, {"recipe", Json{{"kind", "poison"}}}}})},
      {"grid", {(size + 63) / 64, 1, 1}},
      {"options", Json{{"num_warps", 4}}},
      {"environment", Json::object()},
      {"outputs", Json::array({{{"storage", 1}, {"sha256", std::string(64, '5')}}})},
      {"tolerance", Json{{"float32", 0.0002}}},
      {"ragged", size % 64 != 0},
      {"origin", Json{{"made", Json{{"seed", 7}}}}}};
}

// Returns the case with its id, which is the hash of its content.
inline Json WithId(Json row) {
  Json content = row;
  content.erase("id");
  content.erase("origin");
  row["id"] = Sha256Hex(Canonical(content));
  return row;
}

inline Json MakeResult(const Json& of_case, const std::string& device, const std::string& outcome) {
  return {{"type", "result"},
          {"case", of_case["id"]},
          {"module_sha256", of_case["module_sha256"]},
          {"device", device},
          {"toolchain", {{"triton", "3.5.1"}, {"numpy", "2.3.4"}}},
          {"environment", Json::object()},
          {"outcome", outcome},
          {"absolute", outcome == "exact" ? 0.0 : 0.5},
          {"relative", outcome == "exact" ? 0.0 : 0.25},
          {"share", 0.0},
          {"out_of_bounds", 0},
          {"message", ""}};
}

inline Json MakeAdequacy(const std::string& module_sha256, const std::string& kernel,
                         double score) {
  return {{"type", "adequacy"},
          {"module_sha256", module_sha256},
          {"kernel", kernel},
          {"cases", 4},
          {"device", "cpu"},
          {"mutants", Json{{"mask", {{"total", 10}, {"caught", 8}, {"equivalent", 1}}}}},
          {"score", score}};
}

inline Json MakeSpeed(const Json& of_case, const std::string& device, double median) {
  return {{"type", "speed"},
          {"module_sha256", of_case["module_sha256"]},
          {"kernel", of_case["kernel"]},
          {"case", of_case["id"]},
          {"device", device},
          {"toolchain", Json{{"triton", "3.5.1"}}},
          {"median_us", median},
          {"roofline", 0.5}};
}

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TASKS_TESTING_MADE_EVIDENCE_H_
