#include "dataset/export/kernel_rows.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/job/csv.h"
#include "common/manifest/fim.h"
#include "common/tokens/encoding.h"
#include "dataset/export/records.h"
#include "dataset/output/json.h"
#include "dataset/output/row_writer.h"
#include "dataset/training/conversations.h"
#include "dataset/training/infill.h"

namespace kernelmill::dataset {
namespace {

// An element of triton_functions.json, the shape that text completion trainers read: the
// self-contained text, fenced as Python; indented as the list's other lines are.
std::string FunctionText(const v1::Kernel& kernel) {
  const std::string& text = kernel.module().empty() ? kernel.source() : kernel.module();
  const bool ended = !text.empty() && text.back() == '\n';
  std::string element = "  {\n    \"input\": ";
  AppendJsonText(absl::StrCat("```python\n", text, ended ? "" : "\n", "```"), &element);
  return absl::StrCat(element, "\n  }");
}

// A line of fim_sft.csv, with what a trainer selects and weighs rows by.
std::string FimCsvRow(const DatasetIndex& index, uint32_t number, const manifest::FimPair& pair,
                      const v1::Verdict& verdict) {
  const SourceEntry& source = index.SourceOf(number);
  return job::CsvRow({job::CsvText(pair.prompt), job::CsvText(pair.completion),
                      index.kernels[number].id(), verdict.license().expression(),
                      Canonical(Number(source.weight)), job::CsvText(source.category),
                      std::string(index.SplitOf(number))});
}

// What a trainer selects and weighs any row by.
void WriteTrainingFields(const DatasetIndex& index, uint32_t number, const v1::Verdict& verdict,
                         RowWriter& row) {
  const SourceEntry& source = index.SourceOf(number);
  row.Text("id", index.kernels[number].id());
  row.Text("repository", source.repository);
  row.Text("license", verdict.license().expression());
  row.Number("weight", source.weight);
  row.Text("category", source.category);
  row.Text("split", index.SplitOf(number));
}

std::string FimRow(const DatasetIndex& index, uint32_t number, const manifest::FimPair& pair,
                   absl::string_view sha1, const v1::Verdict& verdict) {
  const Infill infill = CutInfill(pair, sha1);
  std::string line;
  RowWriter row(&line);
  row.Text("prompt", pair.prompt);
  row.Text("completion", pair.completion);
  row.Text("prefix", infill.prefix);
  row.Text("middle", infill.middle);
  row.Text("suffix", infill.suffix);
  row.Text("sha1", absl::BytesToHexString(sha1));
  WriteTrainingFields(index, number, verdict, row);
  row.End();
  return line + "\n";
}

std::string InstructRow(const DatasetIndex& index, uint32_t number,
                        const Conversation& conversation, const v1::Verdict& verdict) {
  const std::pair<absl::string_view, const std::string&> messages[] = {
      {"system", conversation.system},
      {"user", conversation.user},
      {"assistant", conversation.assistant}};
  std::string line;
  RowWriter row(&line);
  row.Text("template", conversation.template_name);
  row.StructList("messages", messages, [&](const auto& message) {
    row.Text("role", message.first);
    row.Text("content", message.second);
  });
  WriteTrainingFields(index, number, verdict, row);
  row.End();
  return line + "\n";
}

int64_t TokensIn(absl::string_view text) {
  return static_cast<int64_t>(bpe::Cl100kBase().Count(text));
}

int64_t TokensIn(const Conversation& conversation) {
  return TokensIn(conversation.system) + TokensIn(conversation.user) +
         TokensIn(conversation.assistant);
}

// Of what is trained on of a record: the module, of a kernel without one the source.
int64_t KernelTokens(const v1::Kernel& kernel, const v1::Verdict& verdict) {
  return kernel.module().empty() ? verdict.source_tokens().cl100k_base()
                                 : verdict.module_tokens().cl100k_base();
}

}  // namespace

KernelRows RenderKernel(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                        const v1::Verdict& verdict, const RowTokens& count) {
  KernelRows rows;
  const manifest::FimPair pair = manifest::MakeFimPair(kernel);
  rows.fim_excluded = pair.excluded;
  if (pair.excluded.empty()) rows.fim_sha1 = manifest::FimPairSha1(pair);
  rows.tokens[kKernelRows] = {KernelTokens(kernel, verdict)};
  std::string record;
  AppendKernelRow(index, number, kernel, verdict, rows.fim_sha1, rows.fim_excluded, &record);
  rows.Append(kKernelRows, record);
  if (pair.excluded.empty()) {
    rows.Append(kFimRows, FimRow(index, number, pair, rows.fim_sha1, verdict));
    if (count[kFimRows]) {
      rows.tokens[kFimRows] = {TokensIn(pair.prompt) + TokensIn(pair.completion)};
    }
    rows.Append(kFimCsv, FimCsvRow(index, number, pair, verdict));
  }
  for (const Conversation& conversation : Conversations(kernel, pair)) {
    rows.templates.push_back(conversation.template_name);
    if (count[kInstructRows]) rows.tokens[kInstructRows].push_back(TokensIn(conversation));
    rows.Append(kInstructRows, InstructRow(index, number, conversation, verdict));
  }
  if (kernel.dsl() == v1::DSL_TRITON || kernel.dsl() == v1::DSL_GLUON) {
    rows.Append(kFunctionRows, FunctionText(kernel));
  }
  return rows;
}

KernelRows RenderFile(const DatasetIndex& index, uint32_t number, const v1::Kernel& file,
                      const v1::Verdict& verdict, const std::vector<std::string>& kernels) {
  KernelRows rows;
  rows.tokens[kFileRows] = {verdict.source_tokens().cl100k_base()};
  std::string record;
  AppendFileRow(index, number, file, verdict, kernels, &record);
  rows.Append(kFileRows, record);
  return rows;
}

}  // namespace kernelmill::dataset
