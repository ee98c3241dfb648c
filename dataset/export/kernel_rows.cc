#include "dataset/export/kernel_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/job/csv.h"
#include "common/manifest/fim.h"
#include "common/tokens/encoding.h"
#include "dataset/export/fill_rows.h"
#include "dataset/output/json.h"
#include "dataset/rows/row_json.h"
#include "dataset/training/conversations.h"

namespace kernelmill::dataset {
namespace {

// Returns an element of triton_functions.json, the shape that text completion trainers read: the
// self-contained text, fenced as Python; indented as the list's other lines are.
std::string FunctionText(const v1::KernelRow& kernel) {
  const std::string& text = kernel.module().empty() ? kernel.source() : kernel.module();
  const bool ended = !text.empty() && text.back() == '\n';
  std::string element = "  {\n    \"input\": ";
  AppendJsonText(absl::StrCat("```python\n", text, ended ? "" : "\n", "```"), &element);
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

int64_t CountTokens(const Conversation& conversation) {
  return CountTokens(conversation.system) + CountTokens(conversation.user) +
         CountTokens(conversation.assistant);
}

// Returns the tokens of what is trained on: the module, or the source of a kernel without one.
int64_t KernelTokens(const v1::Kernel& kernel, const v1::Verdict& verdict) {
  return kernel.module().empty() ? verdict.source_tokens().cl100k_base()
                                 : verdict.module_tokens().cl100k_base();
}

template <typename Row>
bool AddParsed(absl::string_view serialized, Row* row, RenderedRows* out) {
  if (!row->ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) return false;
  out->Add(SchemaOf<Row>(), *row, serialized);
  return true;
}

}  // namespace

void AppendRecord(KernelFile file, const google::protobuf::Message& row, std::string* records) {
  records->push_back(static_cast<char>(file));
  const auto size = static_cast<uint32_t>(row.ByteSizeLong());
  records->append(reinterpret_cast<const char*>(&size), sizeof(size));
  row.AppendToString(records);
}

KernelRows MakeKernelRows(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                          const v1::Verdict& verdict, const RowTokens& count) {
  KernelRows rows;
  const manifest::FimPair pair = manifest::MakeFimPair(kernel);
  rows.fim_excluded = pair.excluded;
  if (pair.excluded.empty()) rows.fim_sha1 = manifest::FimPairSha1(pair);
  rows.tokens[kKernelRows] = {KernelTokens(kernel, verdict)};
  v1::KernelRow record;
  FillKernelRow(index, number, kernel, verdict, rows.fim_sha1, rows.fim_excluded, &record);
  FillNotUtf8(SchemaOf<v1::KernelRow>(), &record);
  AppendRecord(kKernelRows, record, &rows.records);
  if (pair.excluded.empty()) {
    v1::FimRow row;
    FillFimRow(index, number, pair, rows.fim_sha1, verdict, &row);
    AppendRecord(kFimRows, row, &rows.records);
    if (count[kFimRows]) {
      rows.tokens[kFimRows] = {CountTokens(pair.prompt) + CountTokens(pair.completion)};
    }
  }
  for (const Conversation& conversation : Conversations(kernel, pair)) {
    v1::InstructRow row;
    FillInstructRow(index, number, conversation, verdict, &row);
    AppendRecord(kInstructRows, row, &rows.records);
    rows.templates.push_back(conversation.template_name);
    if (count[kInstructRows]) rows.tokens[kInstructRows].push_back(CountTokens(conversation));
  }
  return rows;
}

KernelRows MakeFileRows(const DatasetIndex& index, uint32_t number, const v1::Kernel& file,
                        const v1::Verdict& verdict, const std::vector<std::string>& kernels) {
  KernelRows rows;
  rows.tokens[kFileRows] = {verdict.source_tokens().cl100k_base()};
  v1::FileRow row;
  FillFileRow(index, number, file, verdict, kernels, &row);
  FillNotUtf8(SchemaOf<v1::FileRow>(), &row);
  AppendRecord(kFileRows, row, &rows.records);
  return rows;
}

absl::Status KernelRenderer::Add(absl::string_view records, bool repeated, RenderedKernels* out) {
  constexpr size_t kHead = 1 + sizeof(uint32_t);
  while (!records.empty()) {
    uint32_t size = 0;
    if (records.size() >= kHead) __builtin_memcpy(&size, records.data() + 1, sizeof(size));
    if (records.size() < kHead + size) return absl::DataLossError("a waiting row is cut off");
    RETURN_IF_ERROR(
        AddRow(static_cast<KernelFile>(records[0]), records.substr(kHead, size), repeated, out));
    records.remove_prefix(kHead + size);
  }
  return absl::OkStatus();
}

absl::Status KernelRenderer::AddRow(KernelFile file, absl::string_view serialized, bool repeated,
                                    RenderedKernels* out) {
  bool parsed = false;
  switch (file) {
    case kKernelRows:
      parsed = AddParsed(serialized, &kernel_, &out->rows[file]);
      if (kernel_.dsl() == v1::DSL_TRITON || kernel_.dsl() == v1::DSL_GLUON) {
        absl::StrAppend(&out->functions, ",\n", FunctionText(kernel_));
      }
      break;
    case kFimRows:
      if (repeated) return absl::OkStatus();
      parsed = AddParsed(serialized, &fim_, &out->rows[file]);
      absl::StrAppend(&out->fim_csv, FimCsvRow(fim_));
      break;
    case kInstructRows:
      parsed = AddParsed(serialized, &instruct_, &out->rows[file]);
      break;
    case kFileRows:
      parsed = AddParsed(serialized, &file_, &out->rows[file]);
      break;
    case kIrRows:
      parsed = AddParsed(serialized, &ir_, &out->rows[file]);
      break;
    case kKernelFileCount:
      break;
  }
  return parsed ? absl::OkStatus() : absl::DataLossError("a waiting row cannot be parsed");
}

}  // namespace kernelmill::dataset
