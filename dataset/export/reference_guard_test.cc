#include "dataset/export/reference_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/cas/testing/memory_blob_store.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {
namespace {

// Returns a text of so many words, which no text with another name has.
std::string Words(absl::string_view name, int count, int first = 0) {
  std::string text;
  for (int i = first; i < first + count; ++i) absl::StrAppend(&text, name, "_", i, " ");
  return text;
}

// A dataset of a source with references, and of a holdout.
class ReferenceGuardTest : public ::testing::Test {
 protected:
  ReferenceGuardTest() {
    v1::ManifestSource* source = manifest_.add_sources();
    source->mutable_source()->set_name("kernels");
    *source->add_references() = Put(v1::ReferenceShard());
    v1::SourceTree tree;
    v1::FileShard shard;
    for (const auto& [path, hash] : {std::pair("ops.py", "11"), std::pair("test.py", "22")}) {
      v1::FileEntry* entry = tree.add_files();
      entry->set_path(path);
      entry->set_sha256(hash);
      v1::SourceFile* file = shard.add_files();
      file->set_path(path);
      file->set_content(Words(path, 90));
    }
    *source->mutable_tree() = Put(tree);
    *source->add_files() = Put(shard);
    manifest_.mutable_dedup()->mutable_contamination()->set_overlap(0.5);
  }

  template <typename Message>
  cas::Digest Put(const Message& message) {
    return *cas::PutMessage(store_, message);
  }

  void AddHoldout(const std::string& path, const std::string& text) {
    v1::KernelShard shard;
    v1::Kernel* file = shard.add_kernels();
    file->set_form(v1::KERNEL_FORM_FILE);
    file->set_path(path);
    file->set_source(text);
    v1::ManifestSource* source = manifest_.add_sources();
    source->mutable_source()->set_role(v1::SOURCE_ROLE_HOLDOUT);
    *source->add_kernels() = Put(shard);
  }

  bool Withholds(const std::string& text) {
    const auto guard = ReferenceGuard::Make(store_, manifest_);
    EXPECT_TRUE(guard.ok()) << guard.status();
    return guard->Withholds(text);
  }

  // Applies the guard to one kernel of the source, which has two files.
  v1::KernelReferences Apply(v1::KernelReferences references) {
    v1::ReferenceShard shard;
    *shard.add_kernels() = std::move(references);
    const auto guard = ReferenceGuard::Make(store_, manifest_);
    EXPECT_TRUE(guard.ok()) << guard.status();
    guard->Apply(0, &shard);
    return shard.kernels(0);
  }

  cas::MemoryBlobStore store_;
  v1::DatasetManifest manifest_;
};

v1::KernelReferences TwoTests() {
  v1::KernelReferences references;
  for (const char* path : {"ops.py", "other.py"}) {
    v1::TestReference* test = references.add_tests();
    test->set_status("reference");
    test->set_path("test.py");
    test->add_comparisons()->set_text("assert");
    test->mutable_reference()->set_path(path);
    test->mutable_reference()->set_text(path);
  }
  references.mutable_launcher()->set_path("ops.py");
  return references;
}

TEST_F(ReferenceGuardTest, ATextWithHalfOfItsRunsInHoldoutsIsLikeThem) {
  AddHoldout("a.py", Words("w", 100));
  EXPECT_TRUE(Withholds(Words("w", 60)));
  EXPECT_TRUE(Withholds(absl::StrCat(Words("w", 80), Words("own", 40))));
  EXPECT_FALSE(Withholds(absl::StrCat(Words("w", 50), Words("own", 200))));
  EXPECT_FALSE(Withholds(Words("own", 100)));
}

TEST_F(ReferenceGuardTest, ATextThatHoldsAHoldoutIsLikeIt) {
  AddHoldout("a.py", Words("w", 60));
  EXPECT_TRUE(Withholds(absl::StrCat(Words("own", 500), Words("w", 60))));
}

TEST_F(ReferenceGuardTest, AShortTextIsAnybodys) {
  AddHoldout("a.py", Words("w", 100));
  EXPECT_FALSE(Withholds(Words("w", 30)));
}

TEST_F(ReferenceGuardTest, RunsThatManyHoldoutsHaveDoNotCount) {
  for (int i = 0; i < 25; ++i) {
    AddHoldout(absl::StrCat(i, ".py"), absl::StrCat(Words("frame", 80), Words(absl::StrCat(i), 9)));
  }
  EXPECT_FALSE(Withholds(Words("frame", 80)));
}

TEST_F(ReferenceGuardTest, StringsOfJsonAreRead) {
  AddHoldout("a.jsonl",
             absl::StrCat("{\"code\": \"", Words("w", 30), "\\n", Words("w", 30, 30), "\"}\n"));
  EXPECT_TRUE(Withholds(Words("w", 60)));
}

TEST_F(ReferenceGuardTest, AJobThatLabelsWithholdsNothing) {
  AddHoldout("a.py", Words("w", 100));
  manifest_.mutable_dedup()->mutable_contamination()->set_action(v1::CONTAMINATION_ACTION_LABEL);
  EXPECT_FALSE(Withholds(Words("w", 100)));
}

TEST_F(ReferenceGuardTest, AReferenceOfAnOptedOutFileIsWithheldAndOthersComeFirst) {
  v1::OptOut* entry = manifest_.add_opt_out();
  entry->set_repository("kernels");
  entry->set_path("ops.py");
  const v1::KernelReferences left = Apply(TwoTests());
  EXPECT_EQ(left.tests(0).reference().path(), "other.py");
  EXPECT_EQ(left.tests(1).status(), "no_reference");
  EXPECT_FALSE(left.tests(1).has_reference());
  EXPECT_EQ(left.tests(1).comparisons_size(), 1);
  EXPECT_FALSE(left.has_launcher());
}

TEST_F(ReferenceGuardTest, ATestOfAFileThatAHashNamesLosesItsText) {
  manifest_.add_opt_out()->set_sha256("22");
  const v1::KernelReferences left = Apply(TwoTests());
  for (const v1::TestReference& test : left.tests()) {
    EXPECT_FALSE(test.has_reference());
    EXPECT_EQ(test.comparisons_size(), 0);
  }
  EXPECT_TRUE(left.has_launcher());
}

TEST_F(ReferenceGuardTest, AModuleWithAPieceOfAnOptedOutFileIsWithheld) {
  EXPECT_FALSE(Withholds(absl::StrCat(Words("own", 500), Words("ops", 60))));
  manifest_.add_opt_out()->set_sha256("11");
  EXPECT_TRUE(Withholds(absl::StrCat(Words("own", 500), Words("ops.py", 60))));
  EXPECT_FALSE(Withholds(absl::StrCat(Words("own", 500), Words("ops.py", 10))));
  EXPECT_FALSE(Withholds(Words("test.py", 60)));
}

TEST_F(ReferenceGuardTest, NothingElseChanges) {
  AddHoldout("a.py", Words("w", 100));
  const v1::KernelReferences references = TwoTests();
  EXPECT_EQ(Apply(references).SerializeAsString(), references.SerializeAsString());
}

}  // namespace
}  // namespace kernelmill::dataset
