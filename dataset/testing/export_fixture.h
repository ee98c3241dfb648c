#ifndef KERNELMILL_DATASET_TESTING_EXPORT_FIXTURE_H_
#define KERNELMILL_DATASET_TESTING_EXPORT_FIXTURE_H_

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/dsl/names.h"
#include "common/job/job_spec.h"
#include "common/manifest/testing/write_files.h"
#include "common/manifest/walk.h"
#include "common/testing/status_matchers.h"
#include "dataset/export/exporter.h"
#include "dataset/output/json.h"
#include "dataset/rows/row_schema.h"
#include "dataset/rows/testing/row_check.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {

// Bodies that fim_sft.csv takes: the same with either line end. Others are too short for it.
inline constexpr char kBody[] = "    y = tl.load(x + tl.arange(0, 64))\n    tl.store(x, y)\n";
inline constexpr char kDosBody[] =
    "    y = tl.load(x + tl.arange(0, 64))\r\n    tl.store(x, y)\r\n";

inline v1::Kernel MakeKernel(int n, const std::string& path, int line, const std::string& body,
                             const std::string& name = "") {
  v1::Kernel kernel;
  kernel.set_id(absl::StrCat(n));  // until the shard is stored: Id()
  kernel.set_name(name.empty() ? absl::StrCat("load", n) : name);
  kernel.set_qualname(kernel.name());
  kernel.set_dsl(dsl::kTriton);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_form(v1::KERNEL_FORM_DECORATED);
  kernel.set_path(path);
  kernel.set_first_line(line);
  const std::string head = absl::StrCat("@triton.jit\r\ndef ", kernel.name(), "(x):\r\n");
  kernel.set_source(head + body);
  kernel.set_body_offset(static_cast<int>(head.size()));
  kernel.set_module(absl::StrCat("import triton\n\n", kernel.source()));
  return kernel;
}

// A whole file: WriteFiles makes its text of the kernels that stand in it, or takes this one.
inline v1::Kernel MakeFile(int n, const std::string& path, const std::string& text) {
  v1::Kernel file;
  file.set_id(absl::StrCat(n));
  file.set_name(path);
  file.set_path(path);
  file.set_form(v1::KERNEL_FORM_FILE);
  file.set_source(text);
  return file;
}

// A dataset by hand: two candidate sources, one holdout and one that failed. The first has two
// shards whose paths interleave.
class ExporterTest : public ::testing::Test {
 protected:
  ExporterTest() : root_(*TempDir::Create()) {
    manifest_.set_schema(manifest::kManifestSchema);
    manifest_.set_name("hand");
    AddStage("extract", 3);
    request_.out_dir = root_.path() + "/out";
    request_.lock.set_name("hand");
    request_.lock.add_sources()->set_git("https://example.org/a");

    StartSource("a", v1::SOURCE_ROLE_CANDIDATE, 1'700'000'000);
    AddShard({MakeKernel(1, "z.py", 9, kDosBody), MakeKernel(2, "b.py", 1, "    x\n")});
    AddShard({MakeKernel(3, "a.py", 5, "    \"\xff\"\n"), MakeKernel(4, "a.py", 50, "    y, z\n")});
    EndSource();
    StartSource("b", v1::SOURCE_ROLE_CANDIDATE, 1'600'000'000);
    AddShard({MakeKernel(5, "\xfe.py", 1, kBody, "load1"), MakeKernel(6, "g.py", 1, "    g\n")});
    EndSource();
    StartSource("h", v1::SOURCE_ROLE_HOLDOUT, 1'500'000'000);
    AddShard({MakeKernel(7, "h.py", 1, "    y, z\n")});
    EndSource();
    v1::ManifestSource* failed = manifest_.add_sources();
    failed->mutable_source()->set_git("https://example.org/gone");
    failed->set_failed(true);

    Decide(v1::FATE_KEPT, "", 0, 1);
    Decide(v1::FATE_REJECTED, "license:GPL-3.0-only", 1, 1);
    Decide(v1::FATE_KEPT, "", 2, 1);
    Decide(v1::FATE_CONTAMINATED, "near", 6, 0.875);
    v1::Contamination* match = clusters_.mutable_decisions(3)->add_contamination();
    match->set_holdout(6);
    match->set_rule("near");
    match->set_score(0.875);
    match->set_decisive(true);
    match->set_text("module");
    match->set_holdout_text("source");
    match->set_copies(4);
    Decide(v1::FATE_DUPLICATE, "exact", 0, 1);
    Decide(v1::FATE_KEPT, "", 5, 1);
    Decide(v1::FATE_HOLDOUT, "", 6, 1);
  }

  void AddStage(const std::string& name, int version) {
    v1::StageVersion* stage = manifest_.add_stages();
    stage->set_stage(name);
    stage->set_version(version);
  }

  void StartSource(const std::string& name, v1::SourceRole role, int64_t time) {
    v1::Source* source = manifest_.add_sources()->mutable_source();
    source->set_git("https://example.org/" + name);
    source->set_ref(std::string(40, name[0]));
    if (name == "a") source->set_url("https://github.com/example/a.git");
    source->set_role(role);
    source->set_category("cat-" + name);
    source->set_tier(2);
    source->set_weight(0.5);
    tree_.Clear();
    tree_.set_repository(source->git());
    tree_.set_commit(source->ref());
    tree_.set_commit_time(time);
    for (const char* path : {"LICENSE", "NOTICE", "other/LICENSE"}) {
      v1::SourceFile* file = tree_.add_license_files();
      file->set_path(path);
      file->set_content(absl::StrCat(path, " of ", name));
    }
    v1::FileEntry* link = tree_.add_files();
    link->set_path("link.py");
    link->set_fate(v1::FILE_FATE_SKIPPED);
    link->set_reason("symlink");
  }

  void AddShard(const std::vector<v1::Kernel>& kernels) {
    v1::KernelShard shard;
    v1::VerdictShard verdicts;
    for (const v1::Kernel& kernel : kernels) {
      *shard.add_kernels() = kernel;
      shard.mutable_kernels()->rbegin()->clear_id();
    }
    const v1::FileShard files = manifest::WriteFiles(&shard);
    v1::KernelShard named = shard;
    manifest::SetKernelIds(tree_, &named);
    for (size_t i = 0; i < kernels.size(); ++i) {
      ids_[kernels[i].id()] = named.kernels(static_cast<int>(i)).id();
    }
    for (v1::ExtractedFile& file : *shard.mutable_files()) {
      v1::FileEntry* entry = tree_.add_files();
      entry->set_path(file.path());
      entry->set_fate(v1::FILE_FATE_SHARDED);
      entry->set_support(file.path() == "z.py");
      file.set_has_triton_jit(true);
      v1::OtherDsl* dsl = file.add_other_dsls();
      dsl->set_name("cute");
      dsl->set_functions(file.kernels());
    }
    for (const v1::Kernel& kernel : kernels) {
      v1::Verdict* verdict = verdicts.add_verdicts();
      verdict->set_accepted(true);
      verdict->mutable_license()->set_expression("MIT");
      verdict->mutable_license()->set_evidence("file:LICENSE");
      verdict->mutable_license()->set_confidence(0.9);
      v1::LicenseEvidence& found = *verdict->mutable_license()->add_found();
      found.set_expression("MIT");
      found.set_path("LICENSE");
      found.set_first_line(1);
      found.set_last_line(19);
      found.set_rule("text");
      found.set_text("MIT");
      found.set_score(0.98);
      verdict->mutable_license()->add_copyrights("Copyright (c) 2020 X");
      verdict->mutable_license()->add_notices("NOTICE");
      v1::Adaptation& adapted = *verdict->mutable_license()->add_adapted_from();
      adapted.set_origin("a/b");
      adapted.set_path("z.py");
      adapted.set_line(3);
      verdict->set_kind("operation");
      verdict->set_kind_rule("role:kernel");
      verdict->set_target("generic");
      AddRules(kernel.id() == "1", verdict);
      verdict->mutable_quality()->set_score(0.75);
      verdict->mutable_quality()->set_tier(2);
      verdict->mutable_source_tokens()->set_cl100k_base(10);
      verdict->mutable_source_tokens()->set_o200k_base(9);
      verdict->mutable_module_tokens()->set_cl100k_base(100);
    }
    v1::ManifestSource* source = manifest_.mutable_sources(manifest_.sources_size() - 1);
    *source->add_files() = *cas::PutMessage(store_, files);
    *source->add_kernels() = *cas::PutMessage(store_, shard);
    if (source->source().role() != v1::SOURCE_ROLE_HOLDOUT) {
      *source->add_verdicts() = *cas::PutMessage(store_, verdicts);
    }
  }

  // All pass but that on a docstring, and that on a program's id, which is exempt.
  static void AddRules(bool docstring, v1::Verdict* verdict) {
    const auto& checks = *v1::Checks::descriptor();
    for (int i = 0; i < checks.field_count(); ++i) {
      if (job::IsCompilerCheck(checks.field(i)->name())) continue;
      v1::RuleResult& result = *verdict->add_rules();
      result.set_rule(checks.field(i)->name());
      result.set_outcome(v1::RuleResult::OUTCOME_PASS);
      if (result.rule() == "has_program_id") {
        result.set_outcome(v1::RuleResult::OUTCOME_EXEMPT);
        result.set_reason("a device function");
      } else if (result.rule() == "has_docstring" && !docstring) {
        result.set_outcome(v1::RuleResult::OUTCOME_FAIL);
        result.set_reason("no docstring");
      }
    }
  }

  // Returns the id of the kernel that was made with this number; zeros if there is no such kernel.
  std::string Id(int n) const {
    const auto id = ids_.find(absl::StrCat(n));
    return id == ids_.end() ? std::string(32, '0') : id->second;
  }

  void EndSource() {
    *manifest_.mutable_sources(manifest_.sources_size() - 1)->mutable_tree() =
        *cas::PutMessage(store_, tree_);
  }

  void Decide(v1::Fate fate, const std::string& reason, uint32_t leader, double similarity) {
    v1::Decision* decision = clusters_.add_decisions();
    decision->set_fate(fate);
    decision->set_reason(reason);
    decision->set_leader(leader);
    decision->set_similarity(similarity);
  }

  absl::Status Export() {
    *manifest_.mutable_clusters() = *cas::PutMessage(store_, clusters_);
    request_.dataset = *cas::PutMessage(store_, manifest_);
    const absl::StatusOr<Exported> exported = ExportDataset(store_, request_);
    warnings_ = exported.value_or(Exported()).warnings;
    notes_ = exported.value_or(Exported()).notes;
    return exported.status();
  }

  std::string File(const std::string& name) {
    const auto text = ReadFile(absl::StrCat(request_.out_dir, "/", name), 1 << 20);
    EXPECT_THAT(text, kernelmill::testing::IsOk());
    return text.value_or("");
  }

  std::vector<Json> Lines(const std::string& name) {
    std::vector<Json> lines;
    const std::string text = File(name);
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      const std::string exact(line);
      lines.push_back(Json::parse(exact));
      EXPECT_EQ(Canonical(lines.back()), exact);
      EXPECT_THAT(ProblemsOf(lines.back(), name), ::testing::IsEmpty());
    }
    return lines;
  }

  // Lists the differences of a line from the schema of its file.
  static std::vector<std::string> ProblemsOf(const Json& row, const std::string& file) {
    for (const RowSchema& schema : RowSchemas()) {
      if (schema.file == file) return RowProblems(row, schema);
    }
    return {file + " has no schema"};
  }

  std::vector<std::string> Strings(const std::vector<Json>& lines, const std::string& key) {
    std::vector<std::string> values;
    for (const Json& line : lines) values.push_back(line.at(key));
    return values;
  }

  std::map<std::string, std::string> AllFiles() {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(request_.out_dir)) {
      const std::string name = entry.path().lexically_relative(request_.out_dir);
      if (entry.is_regular_file()) files[name] = File(name);
    }
    return files;
  }

  TempDir root_;
  cas::MemoryBlobStore store_;
  v1::DatasetManifest manifest_;
  v1::SourceTree tree_;
  v1::Clusters clusters_;
  std::map<std::string, std::string> ids_;
  ExportRequest request_;
  std::vector<std::string> warnings_;  // of the last export
  std::vector<std::string> notes_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TESTING_EXPORT_FIXTURE_H_
