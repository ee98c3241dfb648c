#include "dataset/export/kernel_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/dsl/languages.h"
#include "common/job/csv.h"
#include "common/manifest/fim.h"
#include "common/tokens/encoding.h"
#include "dataset/export/redact.h"
#include "dataset/output/json.h"
#include "dataset/rows/row_json.h"
#include "dataset/tasks/task_row.h"
#include "kernelmill/v1/compile.pb.h"

// Rows are made in two steps. KernelRowMaker fills the messages where the shard is prepared and
// serializes them as records, which wait until their source has ended. KernelRenderer parses the
// records again in the order of the export and renders lines of JSON, CSV and framed messages. A
// record is cheaper to keep than its rendered forms, and the repeats among examples are known only
// in that order.
//
//   record := file (1 byte, KernelFile) size (4 bytes, little-endian) message
namespace kernelmill::dataset {
namespace {

// Bytes before the message of a record: the file and the size.
constexpr size_t kRecordHead = 1 + sizeof(uint32_t);

// Returns an element of triton_functions.json, the shape that text completion trainers read: the
// self-contained text, fenced as Python; indented as the list's other lines are.
std::string FunctionText(const v1::KernelRow& kernel) {
  const std::string& text = kernel.module().empty() ? kernel.source() : kernel.module();
  std::string element = "  {\n    \"input\": ";
  AppendJsonText(Fenced(text, "python"), &element);
  return absl::StrCat(element, "\n  }");
}

// Returns a line of fim_sft.csv, with what a trainer selects and weighs rows by.
std::string FimCsvRow(const v1::FimRow& row) {
  return job::CsvRow({job::CsvText(row.prompt()), job::CsvText(row.completion()), row.id(),
                      row.license(), Canonical(Number(row.weight())), job::CsvText(row.category()),
                      row.split()});
}

int64_t CountTokens(absl::string_view text) {
  return static_cast<int64_t>(bpe::Cl100kBase().Count(text));
}

// Returns the tokens of what is trained on: the module, or the source of a kernel without one.
int64_t KernelTokens(const v1::Kernel& kernel, const v1::Verdict& verdict) {
  return kernel.module().empty() ? verdict.source_tokens().cl100k_base()
                                 : verdict.module_tokens().cl100k_base();
}

template <typename Row>
bool AddParsed(absl::string_view serialized, Row* row, RenderedRows* out) {
  if (!row->ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) return false;
  out->Add(GetSchema<Row>(), *row, serialized);
  return true;
}

// Returns the test whose reference proves most: code without kernels of the library before another
// path of the library. Null if none has a reference. Tests with a reference come first.
const v1::TestReference* FindBestTest(const v1::KernelReferences* references) {
  if (references == nullptr) return nullptr;
  const v1::TestReference* best = nullptr;
  for (const v1::TestReference& test : references->tests()) {
    if (!test.has_reference()) break;
    if (test.reference().kind() != "library_path") return &test;
    if (best == nullptr) best = &test;
  }
  return best;
}

}  // namespace

void AppendRecord(KernelFile file, const google::protobuf::Message& row, std::string* records) {
  const size_t begin = records->size();
  // The head is filled with the file's number; the size overwrites the rest of it below.
  records->append(kRecordHead, static_cast<char>(file));
  row.AppendToString(records);
  const auto size = static_cast<uint32_t>(records->size() - begin - kRecordHead);
  __builtin_memcpy(records->data() + begin + 1, &size, sizeof(size));
}

// Tokens are counted only for files that a mix draws from, except those of kernels, which the
// verdict has. Runs on many threads, one maker each.
KernelRows KernelRowMaker::Make(uint32_t number, const v1::Kernel& kernel,
                                const v1::Verdict& verdict, const Siblings& siblings,
                                const v1::KernelReferences* references) {
  KernelRows rows;
  const KeptKernel kept = {index_, number, kernel, verdict};
  const manifest::FimPair pair = manifest::MakeFimPair(kernel);
  rows.fim_excluded = pair.excluded;
  if (pair.excluded.empty()) rows.fim_sha1 = manifest::FimPairSha1(pair);
  rows.tokens[kKernelRows] = {KernelTokens(kernel, verdict)};
  messages_.kernel.Clear();
  FillKernelRow(kept, rows.fim_sha1, rows.fim_excluded, &messages_.kernel);
  FillNotUtf8(GetSchema<v1::KernelRow>(), &messages_.kernel);
  AppendRecord(kKernelRows, messages_.kernel, &rows.records);
  if (pair.excluded.empty()) {
    messages_.fim.Clear();
    FillFimRow(kept, pair, rows.fim_sha1, &messages_.fim);
    AppendRecord(kFimRows, messages_.fim, &rows.records);
    if (count_[kFimRows]) {
      rows.tokens[kFimRows] = {CountTokens(pair.prompt) + CountTokens(pair.completion)};
    }
  }
  AddConversations(kept, MakeConversations(kernel, pair, verdict.target(), siblings), &rows);
  AddTask(kept, references, &rows);
  return rows;
}

// A kernel whose cases were never replayed has no row; the report and the ledger say so.
void KernelRowMaker::AddTask(const KeptKernel& kept, const v1::KernelReferences* references,
                             KernelRows* rows) {
  rows->evidence = evidence_.Find(kept.kernel);
  const v1::TestReference* test = FindBestTest(references);
  rows->has_reference = test != nullptr;
  if (rows->evidence == nullptr || !IsTask(*rows->evidence)) return;
  messages_.task.Clear();
  FillTaskRow(kept, &messages_.task);
  if (rows->has_reference) {
    messages_.reference.Clear();
    FillReferenceRow(kept, *references, test, &messages_.reference);
    RedactTexts(index_.manifest.quality(), &messages_.reference);
    *messages_.task.mutable_reference() = messages_.reference.reference();
  }
  FillEvidence(*rows->evidence, kept.kernel, evidence_.min_adequacy(), &messages_.task);
  FillTaskTokens(&messages_.task);
  FillNotUtf8(GetSchema<v1::TaskRow>(), &messages_.task);
  AppendRecord(kTaskRows, messages_.task, &rows->records);
}

void KernelRowMaker::AddConversations(const KeptKernel& kept, const Conversations& conversations,
                                      KernelRows* rows) {
  for (const Conversation& conversation : conversations.asked) {
    messages_.instruct.Clear();
    FillInstructRow(kept, conversation, &messages_.instruct);
    AppendRecord(kInstructRows, messages_.instruct, &rows->records);
    rows->instruct.push_back(MakeInstructKey(conversation));
    if (count_[kInstructRows]) rows->tokens[kInstructRows].push_back(CountTokens(conversation));
  }
  rows->not_asked = conversations.not_asked;
}

// Makes the row of a whole file. `kernels` are the ids of the kept kernels within it.
KernelRows KernelRowMaker::MakeOfFile(uint32_t number, const v1::Kernel& file,
                                      const v1::Verdict& verdict,
                                      const std::vector<std::string>& kernels) {
  KernelRows rows;
  rows.tokens[kFileRows] = {verdict.source_tokens().cl100k_base()};
  messages_.file.Clear();
  FillFileRow({index_, number, file, verdict}, kernels, &messages_.file);
  FillNotUtf8(GetSchema<v1::FileRow>(), &messages_.file);
  AppendRecord(kFileRows, messages_.file, &rows.records);
  return rows;
}

// Renders all records of one kernel. A repeated row is left out; its kernel stays a row. DATA_LOSS:
// the records were damaged while they waited.
absl::Status KernelRenderer::Add(absl::string_view records, const RepeatedRows& repeated,
                                 RenderedKernels* out) {
  size_t conversation = 0;
  while (!records.empty()) {
    uint32_t size = 0;
    if (records.size() >= kRecordHead) __builtin_memcpy(&size, records.data() + 1, sizeof(size));
    if (records.size() < kRecordHead + size) return absl::DataLossError("a waiting row is cut off");
    const auto file = static_cast<KernelFile>(records[0]);
    const bool left_out = (file == kFimRows && repeated.fim) ||
                          (file == kInstructRows && (repeated.instruct >> conversation++ & 1) != 0);
    if (!left_out) RETURN_IF_ERROR(AddRow(file, records.substr(kRecordHead, size), out));
    records.remove_prefix(kRecordHead + size);
  }
  return absl::OkStatus();
}

absl::Status KernelRenderer::AddRow(KernelFile file, absl::string_view serialized,
                                    RenderedKernels* out) {
  bool parsed = false;
  switch (file) {
    case kKernelRows:
      parsed = AddParsed(serialized, &messages_.kernel, &out->rows[file]);
      if (dsl::CompilesAsTriton(messages_.kernel.dsl())) {
        absl::StrAppend(&out->functions, ",\n", FunctionText(messages_.kernel));
      }
      break;
    case kFimRows:
      parsed = AddParsed(serialized, &messages_.fim, &out->rows[file]);
      absl::StrAppend(&out->fim_csv, FimCsvRow(messages_.fim));
      break;
    case kInstructRows:
      parsed = AddParsed(serialized, &messages_.instruct, &out->rows[file]);
      break;
    case kFileRows:
      parsed = AddParsed(serialized, &messages_.file, &out->rows[file]);
      break;
    case kIrRows:
      parsed = AddParsed(serialized, &messages_.ir, &out->rows[file]);
      break;
    case kReferenceRows:
      parsed = AddParsed(serialized, &messages_.reference, &out->rows[file]);
      break;
    case kTaskRows:
      parsed = AddParsed(serialized, &messages_.task, &out->rows[file]);
      break;
    case kKernelFileCount:
      break;
  }
  return parsed ? absl::OkStatus() : absl::DataLossError("a waiting row cannot be parsed");
}
namespace {

// Which text of a kernel: toolchain, target and form.
using TextKey = std::tuple<std::string, std::string, std::string>;
using TextHashes = std::map<TextKey, std::string>;

std::string ToName(const TextKey& key) {
  return absl::StrCat(std::get<0>(key), ", ", std::get<1>(key), ", ", std::get<2>(key));
}

// The texts that the job keeps of a kernel, with their SHA-256, by its evidence.
TextHashes ReadHashes(const v1::CompiledKernel& compiled, const v1::CompilePolicy& policy) {
  TextHashes hashes;
  for (const v1::CompileResult& result : compiled.results()) {
    for (const v1::IrForm& form : result.forms()) {
      const auto& keep = policy.keep();
      if (std::find(keep.begin(), keep.end(), form.form()) == keep.end()) continue;
      hashes[{result.toolchain(), result.target(), form.form()}] = form.sha256();
    }
  }
  return hashes;
}

// Joins the compilers' texts of a shard with the evidence of its kernels. The invariant: awaited_
// has exactly the texts that the evidence names and that have not come yet. A text that is not
// awaited, or has another hash, and a text that never comes are DATA_LOSS.
class IrRowMaker {
 public:
  IrRowMaker(const DatasetIndex& index, const manifest::ShardView& view, IrSink sink)
      : index_(index), view_(view), sink_(sink) {
    for (int i = 0; i < view.kernels->kernels_size(); ++i) {
      if (index.DecisionOn(GetNumber(i)).fate() != v1::FATE_KEPT || index.IsFile(GetNumber(i))) {
        continue;
      }
      TextHashes hashes =
          ReadHashes(view.verdicts->verdicts(i).compiled(), index.manifest.compile());
      if (!hashes.empty()) awaited_[GetNumber(i)] = std::move(hashes);
    }
  }

  absl::Status Add(const v1::IrText& text) {
    if (text.kernel() >= static_cast<uint32_t>(view_.kernels->kernels_size())) {
      return absl::DataLossError(absl::StrCat("a compiler's text is of kernel ", text.kernel(),
                                              " of a shard of ", view_.kernels->kernels_size()));
    }
    const auto place = static_cast<int>(text.kernel());
    const uint32_t number = GetNumber(place);
    const bool kept = index_.DecisionOn(number).fate() == v1::FATE_KEPT && !index_.IsFile(number);
    if (!kept) return absl::OkStatus();
    const TextKey key(text.toolchain(), text.target(), text.form());
    const std::string sha256 = Sha256Hex(text.text());
    const auto kernel = awaited_.find(number);
    // A text may be named once only: it is erased when it comes.
    const bool known = kernel != awaited_.end() && kernel->second.contains(key);
    if (!known || kernel->second.at(key) != sha256) {
      return absl::DataLossError(
          absl::StrCat("kernel ", index_.kernels[number].id(),
                       ": its evidence speaks of another text: ", ToName(key)));
    }
    kernel->second.erase(key);
    return sink_(number, MakeRow(place, text, sha256));
  }

  // Once all have come.
  absl::Status Finish() const {
    for (const auto& [number, hashes] : awaited_) {
      if (hashes.empty()) continue;
      return absl::DataLossError(absl::StrCat(
          "kernel ", index_.kernels[number].id(),
          ": a text that its evidence speaks of is lost: ", ToName(hashes.begin()->first)));
    }
    return absl::OkStatus();
  }

 private:
  uint32_t GetNumber(int place) const { return view_.first_number + static_cast<uint32_t>(place); }

  // The text is redacted by the findings in the kernel's own texts, which compilers may repeat.
  v1::IrRow MakeRow(int place, const v1::IrText& text, const std::string& sha256) const {
    const uint32_t number = GetNumber(place);
    const v1::Kernel& kernel = view_.kernels->kernels(place);
    const v1::Verdict& verdict = view_.verdicts->verdicts(place);
    const SourceEntry& source = index_.GetSource(number);
    v1::IrRow row;
    row.set_kernel_id(kernel.id());
    row.set_repository(source.repository);
    row.set_name(kernel.name());
    row.set_toolchain(text.toolchain());
    row.set_target(text.target());
    row.set_form(text.form());
    row.set_sha256(sha256);
    row.set_text(RedactedText(text.text(), kernel, verdict.quality(), index_.manifest.quality()));
    row.set_license(verdict.license().expression());
    row.set_category(source.category);
    row.set_weight(source.weight);
    row.set_split(std::string(index_.GetSplit(number)));
    FillNotUtf8(GetSchema<v1::IrRow>(), &row);
    return row;
  }

  const DatasetIndex& index_;
  const manifest::ShardView& view_;
  const IrSink sink_;
  std::map<uint32_t, TextHashes> awaited_;  // by the kernel's number, till they have come
};

}  // namespace

// The manifest lists the blobs of all shards of a source in one list; ir_parts says how many of
// them each shard has.
absl::Status MakeIrRows(cas::BlobStore& store, const DatasetIndex& index,
                        const manifest::ShardView& view, IrSink sink) {
  IrRowMaker maker(index, view, sink);
  const v1::ManifestSource& source = index.manifest.sources(view.source);
  if (view.shard < source.ir_parts_size()) {
    const auto parts = source.ir_parts().begin();
    const int first = std::accumulate(parts, parts + view.shard, 0);
    const int end = first + source.ir_parts(view.shard);
    if (first < 0 || end < first || end > source.ir_size()) {
      return absl::DataLossError("the manifest names other blobs of compilers' texts than it says");
    }
    for (int i = first; i < end; ++i) {
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::IrShard>(store, source.ir(i)));
      for (const v1::IrText& text : shard.texts()) RETURN_IF_ERROR(maker.Add(text));
    }
  }
  return maker.Finish();
}

// A job without references has no blobs of them.
absl::StatusOr<v1::ReferenceShard> ReadReferences(cas::BlobStore& store, const DatasetIndex& index,
                                                  const ReferenceGuard& guard,
                                                  const manifest::ShardView& view) {
  const v1::ManifestSource& source = index.manifest.sources(view.source);
  if (view.shard >= source.references_size()) return v1::ReferenceShard();
  ASSIGN_OR_RETURN(auto shard,
                   cas::GetMessage<v1::ReferenceShard>(store, source.references(view.shard)));
  if (shard.kernels_size() != view.kernels->kernels_size()) {
    return absl::DataLossError(absl::StrCat("references of ", shard.kernels_size(),
                                            " kernels for a shard of ",
                                            view.kernels->kernels_size()));
  }
  guard.Apply(view.source, &shard);
  return shard;
}

absl::Status MakeReferenceRows(cas::BlobStore& store, const DatasetIndex& index,
                               const ReferenceGuard& guard, const manifest::ShardView& view,
                               ReferenceSink sink) {
  ASSIGN_OR_RETURN(const v1::ReferenceShard shard, ReadReferences(store, index, guard, view));
  for (int i = 0; i < shard.kernels_size(); ++i) {
    const uint32_t number = view.first_number + static_cast<uint32_t>(i);
    if (index.DecisionOn(number).fate() != v1::FATE_KEPT || index.IsFile(number)) continue;
    const KeptKernel kept = {index, number, view.kernels->kernels(i), view.verdicts->verdicts(i)};
    const v1::KernelReferences& references = shard.kernels(i);
    for (int test = 0; test < std::max(references.tests_size(), 1); ++test) {
      v1::ReferenceRow row;
      FillReferenceRow(kept, references,
                       references.tests().empty() ? nullptr : &references.tests(test), &row);
      RedactTexts(index.manifest.quality(), &row);
      FillNotUtf8(GetSchema<v1::ReferenceRow>(), &row);
      RETURN_IF_ERROR(sink(number, row));
    }
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
