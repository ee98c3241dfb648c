#include "dataset/rows/row_schemas.h"

#include <utility>

#include "dataset/rows/field_builders.h"
#include "dataset/rows/kernel_fields.h"
#include "dataset/training/conversations.h"

namespace kernelmill::dataset {
namespace {

RowSchema Kernels() {
  Fields fields = IdentityFields();
  Append({String("name", "of the function"),
          String("qualname", "with enclosing classes and functions"),
          OrNull(String("found_by", "the name that makes it a kernel: triton.jit; null of CUDA")),
          OrNull(String("applied_by",
                        "of a kernel without a decorator: the statement that makes it one")),
          String("category", "the source's, from the job file"),
          Integer("source_tier", "the source's `tier` in the job file; 1 is best"),
          Number("weight", "the source's sampling weight"), SplitField(),
          String("cluster", "its own id"),
          ListOf(String("duplicates", "ids of the kernels that are duplicates of it"))},
         &fields);
  Append(TextFields(), &fields);
  Append(DerivedFields(), &fields);
  Append(
      {LicenseField(), ChecksField(),
       ListOf(Struct("check_reasons",
                     {String("check", "its name"), String("reason", "why it failed or is exempt")},
                     "of the checks that failed or are exempt")),
       QualityField(),
       Word("kind", {"operation", "helper", "test", "example", "benchmark", "broken", "generated"},
            "what the kernel is there for"),
       String("kind_rule", "the rule that gave it"),
       String("target", "whose hardware it is written for"),
       OrNull(String("target_rule", "the rule that gave it; null of generic")), CompileField()},
      &fields);
  Append(ContaminationFields(), &fields);
  Append({OrNull(Number(
              "word_overlap",
              "Jaccard of the words of prompt and completion, 0.8 to 1; null where it is less")),
          NotUtf8()},
         &fields);
  return {"kernels.jsonl", "The kept kernels, by source, path and line.", std::move(fields)};
}

RowSchema WholeFiles() {
  Field sensitive;
  for (const Field& field : QualityField().fields) {
    if (field.name == "sensitive") sensitive = field;
  }
  Fields fields = {
      String("id", "32 hexadecimal digits over repository, commit, path and SHA-256"),
      String("repository", "the source's name"),
      OrNull(String("repository_url", "where the source is on the web")),
      String("commit", "40 digits; of a package or a folder sha256:..."),
      OrNull(String("url", "the file on the web, at the commit")),
      String("path", "from the root of the source"),
      String("sha256", "of the file as the source has it"),
      OrNull(String("language", "by the file's name: python, c++, ...; null where it tells none")),
      String("category", "the source's, from the job file"),
      Integer("source_tier", "the source's `tier` in the job file; 1 is best"),
      Number("weight", "the source's sampling weight"),
      SplitField(),
      String("text", "all of the file"),
      Integer("bytes", "of the file"),
      Integer("lines", "of the file"),
      TokensField("tokens", "of `text`"),
      LicenseField(),
      OrNull(String("generated", "what says that a program wrote it")),
      std::move(sensitive),
      ListOf(String("kernels", "ids of the kept kernels that stand in it")),
      ListOf(String("duplicates", "ids of the files that are duplicates of it"))};
  Append(ContaminationFields(), &fields);
  fields.push_back(NotUtf8());
  return {"files.jsonl", "Whole files, of sources that keep files, by source and path.",
          std::move(fields)};
}

RowSchema Ledger() {
  Fields fields = IdentityFields(Rows::kKernelsAndFiles);
  Append({Word("fate", {"kept", "rejected", "duplicate", "contaminated"}, "what became of it"),
          OrNull(String("reason", "why; null of what is kept")),
          OrNull(String(
              "of",
              "the id of the kernel that it repeats, of the holdout's that it matches, or of the "
              "opted-out one for whose sake it goes")),
          OrNull(Number("similarity", "to that kernel, 0 to 1"))},
         &fields);
  Append(ContaminationFields(), &fields);
  fields.push_back(NotUtf8());
  return {
      "ledger.jsonl",
      "Every kernel found, and every whole file of sources that keep files, by source, path and "
      "line.",
      std::move(fields)};
}

RowSchema Notices() {
  return {"notices.jsonl",
          "The licence and NOTICE files that must go along, once for each source.",
          {String("repository", "the source's name"),
           OrNull(String("repository_url", "where the source is on the web")),
           String("commit", "as in kernels.jsonl"), String("path", "from the root of the source"),
           OrNull(String("url", "the file on the web, at the commit")),
           String("sha256", "of the file"), String("text", "all of it"), NotUtf8()}};
}

RowSchema IrTexts() {
  return {
      "ir.jsonl",
      "What compilers made of kept kernels on the way to machine code, of jobs that keep it, by "
      "source, path, line, toolchain, target and form.",
      {String("kernel_id", "of the kernel, as in kernels.jsonl"),
       String("repository", "the source's name"), String("name", "of the function"),
       String("toolchain", "the compiler"), String("target", "cuda:90, hip:gfx942, ..."),
       String("form", "ttir, ttgir, llir, ptx or amdgcn"),
       String("sha256", "of the text as the compiler made it"), String("text", "all of it"),
       String("license", "of the kernel: an SPDX expression"),
       String("category", "the source's, from the job file"),
       Number("weight", "the source's sampling weight"), SplitField(), NotUtf8()}};
}

RowSchema Pairs() {
  Fields side = IdentityFields();
  side.push_back(String("name", "of the function"));
  return {
      "cuda_triton_pairs.jsonl",
      "CUDA kernels and the Triton kernels that do the same.",
      {Struct("cuda", side, "the CUDA kernel"), Struct("triton", side, "the Triton kernel"),
       Boolean("curated", "it is of the job's list of pairs, or a review accepted it"),
       SplitField(), OrNull(Number("score", "0 to 1; null where the two are of different sources")),
       OrNull(Struct("signals",
                     {OrNull(Number("names", "0 to 1")), OrNull(Number("operations", "0 to 1")),
                      OrNull(Number("parameters", "0 to 1"))},
                     "that the score is made of; null where it is")),
       OrNull(Struct(
           "shared",
           {ListOf(String("words", "of the names")), ListOf(String("tags", "of the operations")),
            ListOf(String("parameters", "by name"))},
           "what the two have in common; null where the score is")),
       OrNull(Number("word_overlap",
                     "of a curated one: Jaccard of the words of its two texts, 0.8 to 1; null "
                     "where it is less")),
       NotUtf8()}};
}

// What any row that is trained on ends with.
Fields TrainingFields() {
  return {String("id", "of the kernel, as in kernels.jsonl"),
          String("repository", "the source's name"),
          String("license", "of the kernel: an SPDX expression"),
          String("category", "the source's, from the job file"),
          Number("weight", "the source's sampling weight"),
          SplitField()};
}

RowSchema Fim() {
  Fields fields = {
      String("prompt", "a kernel up to its body, with what it uses above it"),
      String("completion", "the body"),
      String("prefix", "the same text, cut at statements of the body: what stands before the gap"),
      String("middle", "what fills the gap; never empty"),
      String("suffix", "what follows it"),
      String("sha1", "the identity: SHA-1 of normalized prompt, |||, normalized completion")};
  Append(TrainingFields(), &fields);
  return {"fim.jsonl", "Kernels with a gap to fill, by source, path and line; equal ones once.",
          std::move(fields)};
}

RowSchema Instruct() {
  Fields fields = {Word("template", TemplateNames(), "which template made the question"),
                   ListOf(Struct("messages",
                                 {Word("role", {"system", "user", "assistant"}, "who says it"),
                                  String("content", "what is said")},
                                 "a conversation: system, user, assistant"))};
  Append(TrainingFields(), &fields);
  return {"instruct.jsonl",
          "Questions about kernels and the answers that their repositories give, by source, path, "
          "line and template.",
          std::move(fields)};
}

}  // namespace

const std::vector<RowSchema>& RowSchemas() {
  static const auto* const schemas = new std::vector<RowSchema>{
      Kernels(), Fim(), Instruct(), Pairs(), WholeFiles(), IrTexts(), Ledger(), Notices()};
  return *schemas;
}

}  // namespace kernelmill::dataset
