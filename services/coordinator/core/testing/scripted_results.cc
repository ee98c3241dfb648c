#include "services/coordinator/core/testing/scripted_results.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/cas/digest.h"
#include "common/worker/stage.h"

namespace kernelmill::coordinator {
namespace {

class Outputs {
 public:
  explicit Outputs(const v1::Action& action) : seed_(cas::SerializeDeterministically(action)) {}

  void Add(absl::string_view name, int64_t items) {
    worker::AddOutput(result, name, cas::ComputeDigest(absl::StrCat(seed_, "/", ++count_)), items);
  }

  v1::StageResult result;

 private:
  const std::string seed_;
  int count_ = 0;
};

}  // namespace

v1::JobSpec GitJob(int sources) {
  v1::JobSpec spec;
  spec.set_name("job");
  for (int i = 0; i < sources; ++i) spec.add_sources()->set_git(absl::StrCat("r", i));
  return spec;
}

v1::Source SearchFor(const std::string& code) {
  v1::Source source;
  source.mutable_discover()->set_code(code);
  return source;
}

v1::StageResult ScriptedStages::Run(const v1::Action& action) const {
  Outputs outputs(action);
  const std::string& stage = action.stage();
  if (stage == "discover") {
    const auto at = found.find(action.params().discover().discover().code());
    if (at != found.end()) {
      for (const std::string& url : at->second) outputs.result.add_found(url);
    }
  } else if (stage == "pin") {
    *outputs.result.mutable_pinned() = action.params().pin().source();
    outputs.result.mutable_pinned()->set_ref(
        Sha256Hex(action.params().pin().source().git()).substr(0, 40));
  } else if (const auto kept = fetched.find(action.params().fetch().source().path());
             stage == "fetch" && kept != fetched.end()) {
    for (const v1::NamedDigest& output : kept->second) *outputs.result.add_outputs() = output;
  } else if (stage == "fetch") {
    const auto at = shards.find(action.params().fetch().source().git());
    outputs.Add("tree", 1);
    for (int i = 0; i < (at == shards.end() ? 2 : at->second); ++i) outputs.Add("files", 10);
    if (action.params().fetch().source().has_history()) {
      outputs.Add("history", 3);
      outputs.Add("versions", 5);
    }
    worker::AddCounter(outputs.result, "files.seen", 7);
  } else if (stage == "extract") {
    if (!action.params().extract().quarantine_reason().empty()) {
      v1::FileFailure& failure = *outputs.result.add_failures();
      failure.set_path(absl::StrCat("file ", action.params().extract().first()));
      failure.set_reason(action.params().extract().quarantine_reason());
    }
    outputs.Add("kernels", kernels);
    worker::AddCounter(outputs.result, "kernels.found", kernels);
  } else if (stage == "link") {
    const int split = action.params().link().parts_size();
    int inputs = 0;
    for (const v1::NamedDigest& input : action.inputs()) inputs += input.name() == "kernels";
    const int shards = split > 0 ? split : inputs;
    for (int i = 0; i < shards; ++i) outputs.Add("kernels", kernels);
  } else if (stage == "reference") {
    for (const v1::NamedDigest& input : action.inputs()) {
      if (input.name() == "kernels") outputs.Add("references", kernels);
    }
  } else if (stage == "history") {
    outputs.Add("changes", 4);
    for (int i = 0; i < 2; ++i) outputs.Add("version_kernels", kernels);
  } else if (stage == "compile") {
    const v1::CompileParams& params = action.params().compile();
    if (!params.quarantine_reason().empty()) {
      v1::FileFailure& failure = *outputs.result.add_failures();
      failure.set_path(absl::StrCat("file of kernel ", params.first()));
      failure.set_reason(absl::StrCat("kernel ", params.first()));
    }
    outputs.Add("compiled", params.count() > 0 ? params.count() : kernels);
    for (int i = 0; i < action.params().compile().keep_size(); ++i) outputs.Add("ir", kernels);
  } else if (stage == "validate") {
    outputs.Add("verdicts", kernels);
  } else if (stage == "sign") {
    outputs.Add("signatures", kernels);
    outputs.Add("shingles", kernels);
  } else if (stage == "pair") {
    outputs.Add("pairs", 0);
  } else if (stage == "resolve") {
    outputs.Add("clusters", 1);
  } else if (stage == "split") {
    outputs.Add("splits", 1);
  } else if (absl::StartsWith(stage, "run-")) {
    const auto results = run_results.find(action.params().run().partition());
    if (results == run_results.end()) return outputs.result;
    outputs.Add("tree", 1);
    outputs.Add("files", 1);
    outputs.result.mutable_pinned()->set_sha256(results->second);
  } else if (stage == "manifest") {
    outputs.Add("manifest", 1);
    if (!unmade.empty()) {
      v1::FileFailure& failure = *outputs.result.add_failures();
      failure.set_path("pairs[0]");
      failure.set_reason(unmade);
    }
    for (const std::string& where : unmatched) {
      v1::FileFailure& failure = *outputs.result.add_failures();
      failure.set_path("unmatched." + where);
      failure.set_reason("{}");
    }
    for (const std::string& gate : missed_gates) {
      v1::FileFailure& failure = *outputs.result.add_failures();
      failure.set_path("gates." + gate);
      failure.set_reason("missed");
    }
  }
  return outputs.result;
}

}  // namespace kernelmill::coordinator
