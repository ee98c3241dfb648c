// The basic idea: a signature is all that later stages need of a kernel, so that they never read
// texts. It has hashes for the exact rules (bytes, prompt and completion, tokens after renaming),
// sets of shingles for similarity, each with its MinHash, and runs of tokens for containment.
// Signatures are columns that pair and resolve read for a whole job; shingles and runs are larger
// and are read only for candidates.

#include "services/deduplicator/core/sign/sign.h"

#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/dsl/languages.h"
#include "common/manifest/fim.h"
#include "common/manifest/walk.h"
#include "common/source_files/whole_files.h"
#include "services/deduplicator/core/computation/computation.h"
#include "services/deduplicator/core/sign/operations.h"
#include "services/deduplicator/core/sign/shingles.h"
#include "services/deduplicator/core/sign/tokenizer.h"
#include "services/deduplicator/core/sign/words.h"

namespace kernelmill::deduplicator {
namespace {

static_assert(std::endian::native == std::endian::little, "MinHash values are little-endian");

constexpr size_t kMinHashBytes = sizeof(MinHashValues);

// Adds a set's summary to the columns: its hash, its size and its MinHash.
void AddSet(const std::vector<uint64_t>& shingles, v1::TokenSets* sets) {
  sets->add_hashes(SetHash(shingles));
  sets->add_sizes(static_cast<uint32_t>(shingles.size()));
  const MinHashValues values = MinHash(shingles);
  sets->mutable_minhash()->append(reinterpret_cast<const char*>(values.data()), kMinHashBytes);
}

// Returns true if each column has an entry for each kernel.
bool Fits(const v1::TokenSets& sets, int kernels) {
  return sets.hashes_size() == kernels && sets.sizes_size() == kernels &&
         sets.minhash().size() == kernels * kMinHashBytes;
}

// Adds the runs of 13 tokens of a text that `known` does not contain: sorted, each once.
void AddRuns(absl::string_view text, Language language, std::vector<uint64_t> known,
             google::protobuf::RepeatedField<uint64_t>* runs) {
  if (text.empty()) return;
  std::vector<uint64_t> found = Runs(TokenHashes(Tokenize(text, language)));
  MakeSet(&found);
  MakeSet(&known);
  std::set_difference(found.begin(), found.end(), known.begin(), known.end(),
                      google::protobuf::RepeatedFieldBackInserter(runs));
}

constexpr uint64_t kFileSalt = 0x6b6d2d66696c6573;  // "km-files"

// Returns the value of a file's pair column. No pair of prompt and completion has it.
std::string FileSha1(const v1::Kernel& file) {
  return Sha1(absl::StrCat(absl::string_view("\0file\0", 6), Sha256(file.source())));
}

// Returns a hash of what the kernel computes; 0 if that is not known. One that only moves data is
// also known by the operations of its addresses.
uint64_t HashComputation(const v1::Kernel& kernel, Language language,
                         const std::vector<uint64_t>& operations) {
  Computation computation = FindComputation(kernel.source(), language, kernel.name());
  if (computation.hashes.empty()) return 0;
  if (computation.only_moves) computation.hashes.push_back(SetHash(operations));
  return SetHash(computation.hashes);
}

// Returns no tokens for a file that cannot be trained on: it is rejected without a comparison.
std::vector<uint64_t> FileTokens(const v1::Kernel& file) {
  if (!source_files::WholeFileProblem(file.source()).empty()) return {};
  return TokenHashes(Tokenize(file.source(), source_files::LexedAs(file)));
}

// Signs a whole file. It has no structural set: files are duplicates only by their tokens.
void SignFile(const v1::Kernel& file, SignedShard* shard) {
  v1::SignatureShard& signatures = shard->signatures;
  signatures.mutable_sha256()->append(Sha256(file.source()));
  signatures.mutable_pair_sha1()->append(FileSha1(file));
  signatures.add_words_common(0);
  signatures.add_words_total(0);
  signatures.add_paths(file.path());
  signatures.add_first_lines(0);
  signatures.add_names(0);
  signatures.add_computations(0);
  signatures.add_renamed(StableHash64(file.source(), kFileSalt));
  std::vector<uint64_t> hashes = FileTokens(file);
  std::vector<uint64_t> runs = Runs(hashes);
  MakeSet(&runs);
  for (uint64_t& hash : hashes) hash ^= kFileSalt;
  const std::vector<uint64_t> near = Shingles(hashes);
  AddSet(near, signatures.mutable_near());
  AddSet({}, signatures.mutable_structural());
  v1::KernelShingles* shingles = shard->shingles.add_kernels();
  shingles->mutable_near()->Add(near.begin(), near.end());
  shingles->mutable_module_runs()->Add(runs.begin(), runs.end());
  AddFileWords(file, shingles);
}

}  // namespace

// Returns 0 for a kernel whose name was not chosen by an author: Inductor's, and those in strings.
uint64_t NameHash(const v1::Kernel& kernel) {
  const bool own = !kernel.name().empty() && !kernel.has_inductor() && !kernel.has_json_pointer() &&
                   kernel.form() != v1::KERNEL_FORM_STRING;
  return own ? StableHash64(kernel.name()) : 0;
}

Overlap WordOverlap(const manifest::FimPair& pair) {
  const manifest::WordCounts words = manifest::CountWords(pair);
  return {words.common, words.total};
}

// Adds one entry to every column, so that all columns stay equally long.
void Sign(const v1::Kernel& kernel, SignedShard* shard) {
  if (manifest::IsFile(kernel)) return SignFile(kernel, shard);
  v1::SignatureShard& signatures = shard->signatures;
  const manifest::FimPair pair = manifest::MakeFimPair(kernel);
  signatures.mutable_sha256()->append(Sha256(kernel.source()));
  signatures.mutable_pair_sha1()->append(manifest::FimPairSha1(pair));
  const Overlap words = WordOverlap(pair);
  signatures.add_words_common(words.common);
  signatures.add_words_total(words.total);
  signatures.add_paths(kernel.path());
  signatures.add_first_lines(kernel.first_line());

  const Language language = dsl::GetSyntax(kernel.dsl());
  const std::vector<Token> tokens = Tokenize(kernel.source(), language);
  const std::vector<uint64_t> hashes = TokenHashes(tokens);
  const std::vector<uint64_t> near = Shingles(hashes);
  const std::vector<bool> local = MarkLocalNames(tokens, language, kernel.name());
  const std::vector<uint64_t> structural = StructuralShingles(tokens, hashes, local);
  const std::vector<uint64_t> operations = Operations(tokens, language, kernel.name());
  const std::vector<uint64_t> runs = Runs(hashes);
  signatures.add_names(NameHash(kernel));
  signatures.add_computations(HashComputation(kernel, language, operations));
  // A text without tokens equals only itself.
  signatures.add_renamed(hashes.empty() ? StableHash64(kernel.source())
                                        : RenamedHash(hashes, local));
  AddSet(near, signatures.mutable_near());
  AddSet(structural, signatures.mutable_structural());
  v1::KernelShingles* shingles = shard->shingles.add_kernels();
  shingles->mutable_near()->Add(near.begin(), near.end());
  shingles->mutable_structural()->Add(structural.begin(), structural.end());
  shingles->mutable_runs()->Add(runs.begin(), runs.end());
  shingles->mutable_operations()->Add(operations.begin(), operations.end());
  AddRuns(kernel.module(), language, runs, shingles->mutable_module_runs());
  AddRuns(kernel.launcher().text(), language, {}, shingles->mutable_launcher_runs());
  AddKernelWords(kernel, shingles);
}

SignedShard SignShard(const v1::KernelShard& kernels) {
  SignedShard shard;
  shard.shingles.mutable_kernels()->Reserve(kernels.kernels_size());
  for (const v1::Kernel& kernel : kernels.kernels()) Sign(kernel, &shard);
  return shard;
}

MinHashValues GetMinHash(const v1::TokenSets& sets, int i) {
  MinHashValues values;
  std::memcpy(values.data(), sets.minhash().data() + i * kMinHashBytes, kMinHashBytes);
  return values;
}

absl::Status CheckSignatures(const v1::SignatureShard& shard) {
  const int kernels = KernelsIn(shard);
  const bool fits = shard.sha256().size() % 32 == 0 &&
                    shard.pair_sha1().size() == static_cast<size_t>(kernels) * 20 &&
                    shard.words_common_size() == kernels && shard.words_total_size() == kernels &&
                    shard.paths_size() == kernels && shard.first_lines_size() == kernels &&
                    shard.names_size() == kernels && shard.renamed_size() == kernels &&
                    shard.computations_size() == kernels;
  if (fits && Fits(shard.near(), kernels) && Fits(shard.structural(), kernels)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("signature shard: all columns must have the same length");
}

absl::Status CheckSet(absl::Span<const uint64_t> shingles) {
  if (std::adjacent_find(shingles.begin(), shingles.end(), std::greater_equal<>()) ==
      shingles.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("a kernel's shingles must be sorted, each once");
}

}  // namespace kernelmill::deduplicator
