#ifndef KERNELMILL_CLIENT_CONSOLE_TESTING_DONE_JOB_H_
#define KERNELMILL_CLIENT_CONSOLE_TESTING_DONE_JOB_H_

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/manifest/unmatched.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// Sets a counter, also one that the status has.
inline void SetCounter(const std::string& name, int64_t value, v1::JobStatus* status) {
  for (v1::Counter& counter : *status->mutable_counters()) {
    if (counter.name() != name) continue;
    counter.set_value(value);
    return;
  }
  v1::Counter* counter = status->add_counters();
  counter->set_name(name);
  counter->set_value(value);
}

// Returns the status of a job that is done, with a little of everything.
inline v1::JobStatus DoneJob() {
  v1::JobStatus status;
  status.set_job("j1");
  status.set_name("seeds");
  status.set_state(v1::JOB_STATE_DONE);
  status.mutable_dataset()->set_hash(std::string(64, 'a'));
  status.mutable_dataset()->set_size_bytes(7);
  const std::pair<const char*, int> kCounters[] = {
      {"dataset.kernels", 10},         {"dataset.kept", 4},
      {"dataset.rejected.license", 2}, {"dataset.rejected.quality", 1},
      {"dataset.duplicate.exact", 2},  {"dataset.contaminated.near", 1},
      {"dataset.keptx", 99},           {"dataset.files.seen", 5},
      {"dataset.files.extracted", 5}};
  for (const auto& [name, value] : kCounters) SetCounter(name, value, &status);
  v1::StageProgress* stage = status.add_stages();
  stage->set_stage("extract");
  stage->set_total(8);
  stage->set_done(7);
  stage->set_cached(3);
  stage->set_failed(1);
  return status;
}

// Adds something that matches nothing.
inline v1::Failure& AddUnmatched(const manifest::Unmatched& one, v1::JobStatus* status) {
  v1::Failure& failure = *status->add_failures();
  failure.set_stage("manifest");
  failure.set_code("NOT_FOUND");
  failure.set_path(absl::StrCat(manifest::kUnmatchedPrefix, one.where));
  failure.set_message(manifest::ToJson(one));
  SetCounter("dataset.unmatched", status->failures_size(), status);
  return failure;
}

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_TESTING_DONE_JOB_H_
