#include "tests/bench/late/made_results.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/worker/stage.h"
#include "kernelmill/v1/action.pb.h"
#include "services/deduplicator/server/deduplicator_stages.h"
#include "services/extractor/server/extractor_stages.h"
#include "services/validator/server/validator_stages.h"

namespace kernelmill::bench {
namespace {

constexpr size_t kDigits = 10;                     // a placeholder has: 770NNNNN77
constexpr absl::string_view kPrefix = "kernels_";  // begins a file's name
constexpr int kTen = 10;
constexpr int kCopies = 3;  // in ten kernels

// Returns the number of the placeholder at the beginning of `text`; -1 for another text.
int ReadPlaceholder(absl::string_view text) {
  if (text.size() < kDigits || text.substr(0, 3) != "770" || text.substr(8, 2) != "77") return -1;
  int number = 0;
  return absl::SimpleAtoi(text.substr(3, 5), &number) ? number : -1;
}

uint64_t Hash(int64_t shard, int64_t place) {
  return StableHash64(absl::StrCat(shard, "/", place));
}

// The digits in the place of a placeholder: three are drawn, since constants are mostly short.
std::string MakeDigits(int64_t shard, int placeholder) {
  if (placeholder == 0) return absl::StrFormat("%010d", shard);
  return absl::StrFormat("1000000%03d", Hash(shard, placeholder) % 1000);
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Runs the early stages on the template, in memory.
class TemplateRun {
 public:
  TemplateRun() {
    for (auto* list : {&extractor_, &validator_, &deduplicator_}) {
      for (const auto& stage : *list) stages_.push_back(stage.get());
    }
  }

  template <typename Message>
  void Put(const std::string& name, const Message& message) {
    digests_.emplace_back(name, *cas::PutMessage(store_, message));
  }

  // Runs a stage on the newest blob of each name, and keeps its outputs.
  absl::Status Run(const std::string& stage, const std::vector<std::string>& inputs,
                   const v1::StageParams& params = {}) {
    v1::Action action;
    action.set_stage(stage);
    *action.mutable_params() = params;
    for (const std::string& name : inputs) {
      v1::NamedDigest* input = action.add_inputs();
      input->set_name(name);
      *input->mutable_digest() = Find(name);
    }
    const auto found = std::find_if(stages_.begin(), stages_.end(),
                                    [&](auto* one) { return one->info().name == stage; });
    ASSIGN_OR_RETURN(const v1::StageResult result, (*found)->Run(action, store_));
    for (const v1::NamedDigest& output : result.outputs()) {
      digests_.emplace_back(output.name(), output.digest());
    }
    return absl::OkStatus();
  }

  template <typename Message>
  absl::StatusOr<Message> Get(const std::string& name) {
    return cas::GetMessage<Message>(store_, Find(name));
  }

 private:
  cas::Digest Find(const std::string& name) const {
    const auto found = std::find_if(digests_.rbegin(), digests_.rend(),
                                    [&](const auto& one) { return one.first == name; });
    return found == digests_.rend() ? cas::Digest() : found->second;
  }

  cas::MemoryBlobStore store_;
  std::vector<std::unique_ptr<worker::Stage>> extractor_ = extractor::NewExtractorStages();
  std::vector<std::unique_ptr<worker::Stage>> validator_ = validator::NewValidatorStages();
  std::vector<std::unique_ptr<worker::Stage>> deduplicator_ =
      deduplicator::NewDeduplicatorStages({});
  std::vector<worker::Stage*> stages_;
  std::vector<std::pair<std::string, cas::Digest>> digests_;
};

v1::FileEntry MakeEntry(const v1::SourceFile& file) {
  v1::FileEntry entry;
  entry.set_path(file.path());
  entry.set_size_bytes(static_cast<int64_t>(file.content().size()));
  entry.set_sha256(Sha256Hex(file.content()));
  entry.set_fate(v1::FILE_FATE_SHARDED);
  return entry;
}

}  // namespace

template <typename Message>
MadeResults::Template<Message> MadeResults::Cut(const Message& message) {
  Template<Message> cut;
  cut.bytes = cas::SerializeDeterministically(message);
  for (size_t at = cut.bytes.find("770"); at != std::string::npos;
       at = cut.bytes.find("770", at + 1)) {
    const int number = ReadPlaceholder(absl::string_view(cut.bytes).substr(at));
    if (number >= 0) cut.places.emplace_back(at, number);
  }
  return cut;
}

// Digits do not change a text's length, so the message's frame stays as it is.
template <typename Message>
Message MadeResults::Fill(const Template<Message>& cut, int64_t shard) {
  std::string bytes = cut.bytes;
  for (const auto& [at, number] : cut.places) {
    bytes.replace(at, kDigits, MakeDigits(shard, number));
  }
  Message message;
  message.ParseFromString(bytes);
  return message;
}

absl::StatusOr<MadeResults> MadeResults::Create(const std::string& folder) {
  v1::FileShard files;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".py") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    v1::SourceFile* file = files.add_files();
    file->set_path(path.filename().string());
    file->set_content(ReadFile(path));
  }
  MadeResults made;
  made.license_.set_path("LICENSE");
  made.license_.set_content(ReadFile(std::filesystem::path(folder) / "LICENSE"));
  v1::SourceTree tree;
  tree.set_repository("template");
  *tree.add_license_files() = made.license_;
  for (const v1::SourceFile& file : files.files()) *tree.add_files() = MakeEntry(file);

  TemplateRun run;
  run.Put("tree", tree);
  run.Put("files", files);
  RETURN_IF_ERROR(run.Run("extract", {"files"}));
  RETURN_IF_ERROR(run.Run("link", {"tree", "kernels"}));
  v1::StageParams validate;
  validate.mutable_validate()->mutable_licenses()->add_allow("MIT");
  RETURN_IF_ERROR(run.Run("validate", {"kernels", "files", "tree"}, validate));
  RETURN_IF_ERROR(run.Run("sign", {"kernels"}));
  ASSIGN_OR_RETURN(made.kernels_, run.Get<v1::KernelShard>("kernels"));
  if (made.kernels_.kernels().empty()) return absl::NotFoundError("the template has no kernels");
  ASSIGN_OR_RETURN(const auto verdicts, run.Get<v1::VerdictShard>("verdicts"));
  ASSIGN_OR_RETURN(const auto signatures, run.Get<v1::SignatureShard>("signatures"));
  made.file_cut_ = Cut(files);
  made.kernel_cut_ = Cut(made.kernels_);
  made.verdict_cut_ = Cut(verdicts);
  made.signature_cut_ = Cut(signatures);
  return made;
}

v1::SourceTree MadeResults::MakeTree(const v1::Source& source, int64_t first_shard,
                                     int shards) const {
  v1::SourceTree tree;
  tree.set_repository(source.name().empty() ? source.git() : source.name());
  tree.set_commit(source.ref());
  tree.set_commit_time(1'700'000'000);
  *tree.add_license_files() = license_;
  for (int i = 0; i < shards; ++i) {
    const v1::FileShard files = MakeFiles(first_shard + i);
    for (const v1::SourceFile& file : files.files()) *tree.add_files() = MakeEntry(file);
  }
  return tree;
}

v1::FileShard MadeResults::MakeFiles(int64_t shard) const { return Fill(file_cut_, shard); }

v1::KernelShard MadeResults::MakeKernels(int64_t shard) const {
  v1::KernelShard kernels = Fill(kernel_cut_, shard);
  const v1::FileShard files = MakeFiles(shard);
  for (int i = 0; i < kernels.files_size(); ++i) {
    kernels.mutable_files(i)->set_sha256(Sha256Hex(files.files(i).content()));
  }
  for (v1::Kernel& kernel : *kernels.mutable_kernels()) {
    kernel.set_sha256(Sha256Hex(kernel.source()));
  }
  return kernels;
}

// Verdicts have few texts of their own: the number of tokens makes those of shards unlike.
v1::VerdictShard MadeResults::MakeVerdicts(int64_t shard) const {
  v1::VerdictShard verdicts = Fill(verdict_cut_, shard);
  for (int i = 0; i < verdicts.verdicts_size(); ++i) {
    v1::TokenCounts& tokens = *verdicts.mutable_verdicts(i)->mutable_source_tokens();
    tokens.set_cl100k_base(tokens.cl100k_base() + static_cast<int64_t>(Hash(shard, i) % 64));
  }
  return verdicts;
}

// The least values of orders stay the template's: only `pair` reads them.
v1::SignatureShard MadeResults::MakeSignatures(int64_t shard) const {
  v1::SignatureShard signatures = Fill(signature_cut_, shard);
  const v1::KernelShard kernels = MakeKernels(shard);
  signatures.clear_sha256();
  signatures.clear_pair_sha1();
  for (int i = 0; i < kernels.kernels_size(); ++i) {
    const std::string sha256 = absl::HexStringToBytes(kernels.kernels(i).sha256());
    signatures.mutable_sha256()->append(sha256);
    signatures.mutable_pair_sha1()->append(Sha1(sha256));
    signatures.set_renamed(i, Hash(shard, i));
  }
  return signatures;
}

v1::PairSet MadeResults::MakePairs(int shards) const {
  v1::PairSet pairs;
  for (int shard = 0; shard < shards; ++shard) {
    for (int i = 0; i < kernels(); ++i) {
      if (i % kTen < kTen - kCopies) continue;
      v1::Pair* pair = pairs.add_pairs();
      pair->set_a(static_cast<uint32_t>(shard * kernels() + i - kCopies));
      pair->set_b(static_cast<uint32_t>(shard * kernels() + i));
      pair->set_common(90);
      pair->set_total(100);
    }
  }
  return pairs;
}

absl::StatusOr<int64_t> MadeResults::FindShard(absl::string_view blob) const {
  const size_t at = blob.find(kPrefix);
  int64_t shard = 0;
  if (at == absl::string_view::npos ||
      !absl::SimpleAtoi(blob.substr(at + kPrefix.size(), kDigits), &shard)) {
    return absl::InvalidArgumentError("the blob does not belong to a made shard");
  }
  return shard;
}

}  // namespace kernelmill::bench
