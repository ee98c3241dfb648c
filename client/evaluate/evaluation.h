#ifndef KERNELMILL_CLIENT_EVALUATE_EVALUATION_H_
#define KERNELMILL_CLIENT_EVALUATE_EVALUATION_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/evaluate/generations.h"
#include "client/evaluate/kernel_services.h"
#include "client/evaluate/sample_result.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {

struct EvaluationOptions {
  // Nothing is compiled without it. It names its toolchains and targets.
  std::optional<v1::CompilePolicy> compile;
  bool dataset = false;  // whether kernels are looked for in one
  // Called now and then with how many samples are done, of how many.
  std::function<void(size_t, size_t)> progress = [](size_t, size_t) {};
  std::function<bool()> interrupted = [] { return false; };  // asked as often
};

// What one model's generations come to.
struct EvaluatedModel {
  Generations generations;
  std::vector<std::vector<SampleResult>> results;  // by task, then by sample
  // By task: the match of its reference in the dataset, which a model then cannot be blamed for.
  std::vector<std::optional<DatasetMatch>> references;
};

// Measures all samples, as sample_result.h lists the measures. Depends on the generations, the
// options and the services' answers alone. CANCELLED: it was interrupted; else the services'
// errors.
absl::StatusOr<EvaluatedModel> Evaluate(Generations generations, const EvaluationOptions& options,
                                        KernelServices& services);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_EVALUATION_H_
