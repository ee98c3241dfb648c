#include "services/exporter/core/kernel_rows.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/config/csv.h"
#include "common/dataset/fim.h"
#include "common/tokens/encoding.h"
#include "services/exporter/core/output/json.h"
#include "services/exporter/core/records.h"
#include "services/exporter/core/training/conversations.h"
#include "services/exporter/core/training/infill.h"

namespace kernelmill::exporter {
namespace {

// An element of the list in triton_functions.json, indented as the list's other lines are.
std::string FunctionText(const v1::Kernel& kernel) {
  std::string text = Pretty(FunctionRecord(kernel));
  text.pop_back();
  return absl::StrCat("  ", absl::StrReplaceAll(text, {{"\n", "\n  "}}));
}

// A line of fim_sft.csv, with what a trainer selects and weighs rows by.
std::string FimCsvRow(const DatasetIndex& index, uint32_t number, const dataset::FimPair& pair,
                      const v1::Verdict& verdict) {
  const SourceEntry& source = index.SourceOf(number);
  return config::CsvRow({config::CsvText(pair.prompt), config::CsvText(pair.completion),
                         index.kernels[number].id(), verdict.license().expression(),
                         Canonical(Number(source.weight)), config::CsvText(source.category),
                         std::string(index.SplitOf(number))});
}

// What a trainer selects and weighs any row by.
Json TrainingRow(const DatasetIndex& index, uint32_t number, const v1::Verdict& verdict) {
  const SourceEntry& source = index.SourceOf(number);
  return {
      {"id", index.kernels[number].id()},          {"repository", Text(source.repository)},
      {"license", verdict.license().expression()}, {"weight", Number(source.weight)},
      {"category", Text(source.category)},         {"split", std::string(index.SplitOf(number))}};
}

std::string FimRow(const DatasetIndex& index, uint32_t number, const dataset::FimPair& pair,
                   absl::string_view sha1, const v1::Verdict& verdict) {
  const Infill infill = CutInfill(pair, sha1);
  Json row = TrainingRow(index, number, verdict);
  row["prompt"] = Text(pair.prompt);
  row["completion"] = Text(pair.completion);
  row["prefix"] = Text(infill.prefix);
  row["middle"] = Text(infill.middle);
  row["suffix"] = Text(infill.suffix);
  row["sha1"] = absl::BytesToHexString(sha1);
  return Canonical(row) + "\n";
}

std::string InstructRow(const DatasetIndex& index, uint32_t number,
                        const Conversation& conversation, const v1::Verdict& verdict) {
  Json row = TrainingRow(index, number, verdict);
  row["template"] = std::string(conversation.template_name);
  row["messages"] = {{{"role", "system"}, {"content", Text(conversation.system)}},
                     {{"role", "user"}, {"content", Text(conversation.user)}},
                     {{"role", "assistant"}, {"content", Text(conversation.assistant)}}};
  return Canonical(row) + "\n";
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
  const dataset::FimPair pair = dataset::MakeFimPair(kernel);
  rows.fim_excluded = pair.excluded;
  if (pair.excluded.empty()) rows.fim_sha1 = dataset::FimPairSha1(pair);
  rows.tokens[kKernelRows] = {KernelTokens(kernel, verdict)};
  rows.Append(kKernelRows, Canonical(KernelRecord(index, number, kernel, verdict, rows.fim_sha1,
                                                  rows.fim_excluded)));
  rows.Append(kKernelRows, "\n");
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
  rows.Append(kFileRows, Canonical(FileRecord(index, number, file, verdict, kernels)));
  rows.Append(kFileRows, "\n");
  return rows;
}

}  // namespace kernelmill::exporter
