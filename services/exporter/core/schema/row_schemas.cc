#include "services/exporter/core/schema/row_schemas.h"

#include <google/protobuf/descriptor.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/config/compile_policy.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/training/conversations.h"

namespace kernelmill::exporter {
namespace {

Field String(std::string name, std::string description) {
  return {std::move(name), Field::Type::kString, std::move(description)};
}
Field Integer(std::string name, std::string description) {
  return {std::move(name), Field::Type::kInteger, std::move(description)};
}
Field Number(std::string name, std::string description) {
  return {std::move(name), Field::Type::kNumber, std::move(description)};
}
Field Boolean(std::string name, std::string description) {
  return {std::move(name), Field::Type::kBoolean, std::move(description)};
}
// One of these words.
Field Word(std::string name, std::vector<std::string> words, std::string description) {
  Field field = String(std::move(name), std::move(description));
  field.words = std::move(words);
  return field;
}
Field Struct(std::string name, Fields fields, std::string description) {
  return {std::move(name), Field::Type::kStruct, std::move(description), std::move(fields)};
}
Field OrNull(Field field) {
  field.nullable = true;
  return field;
}
Field ListOf(Field field) {
  field.list = true;
  return field;
}

// The words of an enum's values but "unspecified", which rows have as null.
std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor* type,
                                 absl::string_view prefix) {
  std::vector<std::string> words;
  for (int i = 0; i < type->value_count(); ++i) {
    if (type->value(i)->number() == 0) continue;
    words.push_back(absl::AsciiStrToLower(absl::StripPrefix(type->value(i)->name(), prefix)));
  }
  return words;
}

void Append(const Fields& more, Fields* fields) {
  fields->insert(fields->end(), more.begin(), more.end());
}

Field NotUtf8() {
  return ListOf(Struct(
      "not_utf8",
      {String("field", "the field, an RFC 6901 pointer into the row: /source, /launcher/text"),
       String("base64", "its exact bytes")},
      "the paths and whole texts of the row that are not UTF-8: a field has U+FFFD for broken "
      "bytes"));
}

// Where a kernel stands, by which any row names one.
Fields PlaceFields() {
  return {String("id",
                 "32 hexadecimal digits over repository, commit, path, first line, SHA-256 and "
                 "JSON pointer"),
          String("repository", "the source's name"),
          OrNull(String("repository_url", "where the source is on the web")),
          String("commit", "40 digits; of a package or a folder sha256:..."),
          String("path", "from the root of the source"),
          Integer("first_line", "from 1; the first decorator's"),
          Integer("last_line", "inclusive"),
          OrNull(String("json_pointer",
                        "of a kernel in a string of a JSON file: which string; lines and texts are "
                        "then the string's")),
          OrNull(String("url", "the lines on the web, at the commit; of a JSON file the file"))};
}

enum class Rows : bool { kKernels, kKernelsAndFiles };

// What every row about a kernel begins with.
Fields IdentityFields(Rows rows = Rows::kKernels) {
  Fields fields = PlaceFields();
  Field dsl = Word("dsl", WordsOf(v1::Dsl_descriptor(), "DSL_"), "the kernel language");
  if (rows == Rows::kKernelsAndFiles) {
    dsl.description += "; null of a whole file";
    dsl.nullable = true;
  }
  Append({String("sha256", "of `source`, as the file has it"), std::move(dsl),
          OrNull(Word("role", WordsOf(v1::KernelRole_descriptor(), "KERNEL_ROLE_"),
                      "launched from the host, or called by kernels; null of a template")),
          Word("form", WordsOf(v1::KernelForm_descriptor(), "KERNEL_FORM_"),
               "how it was recognized as a kernel; file: it is none, but a whole file")},
         &fields);
  return fields;
}

Fields ContaminationFields() {
  return {ListOf(Struct("contamination",
                        {Struct("holdout", PlaceFields(), "the holdout's kernel"),
                         Word("rule", {"exact", "near", "structural", "overlap", "contained"},
                              "by which it matches"),
                         Number("score", "0 to 1"),
                         Word("text", WordsOf(v1::Sensitive::Text_descriptor(), "TEXT_"),
                              "the kernel's text that matches"),
                         Word("holdout_text", {"source", "launcher"}, "which of the holdout's"),
                         Integer("copies", "of the holdout's text in holdouts, itself included")},
                        "the matches with holdouts, the gravest first; at most eight")),
          Integer("contamination_weak_matches",
                  "how many other kernels of holdouts it has something in common with"),
          OrNull(Number("contamination_weak_score", "the highest score of these"))};
}

Field LicenseField() {
  return Struct(
      "license",
      {String("expression", "SPDX; NOASSERTION where nothing is known"),
       OrNull(String("evidence",
                     "where it was found: spdx-tag, header, annotation:REUSE.toml, file:LICENSE, "
                     "metadata, job")),
       Number("confidence", "0 to 1"),
       ListOf(Struct(
           "found",
           {OrNull(String("expression",
                          "what it says, SPDX; null where that could not be understood")),
            OrNull(String("path", "of the file that says so; null of metadata and the job file")),
            OrNull(Integer("first_line", "from 1")), OrNull(Integer("last_line", "inclusive")),
            String(
                "rule",
                "tag, text, phrase, notice, name, annotation, aggregate, field, classifier or job"),
            OrNull(String("text", "what was recognized")), Number("score", "0 to 1")},
           "all that the expression was made of")),
       ListOf(String("copyrights", "the lines of the copyright holders")),
       ListOf(String("notices", "the paths of the NOTICE files; notices.jsonl has their texts")),
       ListOf(Struct("adapted_from",
                     {String("origin", "as written: a URL, owner/name, or a name"),
                      String("path", "of the file that says so"), Integer("line", "from 1")},
                     "where the file says in words that its code comes from")),
       OrNull(
           String("vendored",
                  "the folder of other people's code, or the submodule, that the file lies in"))},
      "the licence and what says so");
}

Field ChecksField() {
  Fields checks;
  const google::protobuf::Descriptor* type = v1::Checks::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const std::string& name = type->field(i)->name();
    Field check =
        Word(name, WordsOf(v1::RuleResult::Outcome_descriptor(), "OUTCOME_"), "its outcome");
    if (config::IsOfCompilers(name)) {
      check.description += "; null where the job compiles nothing";
      check.nullable = true;
    }
    checks.push_back(std::move(check));
  }
  return Struct("checks", std::move(checks), "the outcome of each check");
}

// Constexprs and options alike.
Field SignatureValues(std::string name, std::string description) {
  return ListOf(
      Struct(std::move(name),
             {String("name", "as the code has it"), String("value", "as Python's repr() has it"),
              String("rule", "that gave it")},
             std::move(description)));
}

Field SignaturesField() {
  return ListOf(Struct(
      "signatures",
      {Integer("attempt", "from 1: which try of the rules it was"),
       ListOf(Struct(
           "arguments",
           {String("name", "of the parameter"), String("type", "as Triton writes it: *fp16, i32"),
            String("rule", "that gave it"), Boolean("divisible_by_16", "as a compiler is told")},
           "in the order of the parameters, constexpr ones aside")),
       SignatureValues("constexprs", "likewise, the constexpr ones"),
       SignatureValues("options", "num_warps, num_stages and the like, by name")},
      "types and values that results refer to"));
}

Field CompileResultsField() {
  return ListOf(Struct(
      "results",
      {String("toolchain", "the compiler"), String("target", "cuda:90, hip:gfx942, ..."),
       Word("status", WordsOf(v1::CompileStatus_descriptor(), "COMPILE_STATUS_"),
            "unknown: what it is called with could not be told"),
       OrNull(Integer("signature", "its place in `signatures`; null where there was none to try")),
       OrNull(
           String("stage", "where it was refused: import, frontend, passes, assembler or limit")),
       OrNull(String("message", "what the compiler said then")),
       OrNull(Integer("line", "of `module`, from 1")),
       OrNull(String("missing", "of unknown: what could not be told")),
       OrNull(Integer("registers", "of ok: a thread's; of hip vector registers")),
       OrNull(Integer("shared_bytes", "of ok: a block's shared memory")),
       OrNull(Integer("spill_bytes", "of ok: a thread's, stores and loads together")),
       OrNull(Integer("instructions", "of ok: of the machine code")),
       ListOf(Struct("forms",
                     {String("form", "ttir, ttgir, llir, ptx, cubin, amdgcn or hsaco"),
                      Integer("size_bytes", "of it"), String("sha256", "of it")},
                     "what the compiler made, in that order"))},
      "one a toolchain and target"));
}

Field CompileField() {
  return OrNull(Struct(
      "compile",
      {OrNull(String("not_attempted", "why nothing was tried; null where something was")),
       ListOf(Struct(
           "imports",
           {String("toolchain", "the compiler"), Boolean("ok", "it could be loaded"),
            OrNull(String("error", "why not")), OrNull(Integer("line", "of `module`, from 1"))},
           "whether `module` could be loaded, one a toolchain")),
       SignaturesField(), CompileResultsField()},
      "what compilers say of it; null where the job compiles nothing"));
}

Field QualityField() {
  return Struct(
      "quality",
      {Number("score", "0 to 1"), Integer("tier", "1 (best) to 3, by the score"),
       Integer("loads", "with the helpers in `module`"), Integer("masked_loads", "of these"),
       Integer("stores", "with the helpers in `module`"), Integer("masked_stores", "of these"),
       Integer("longest_line", "bytes"), Number("mean_line", "bytes of a line that is not blank"),
       Number("comment_ratio", "the share of comments and docstring, 0 to 1"),
       OrNull(String("generated", "what says that a program wrote it")),
       ListOf(Struct(
           "sensitive",
           {String("kind", "email, or a secret's: aws_access_key, private_key, ..."),
            Word("text", WordsOf(v1::Sensitive::Text_descriptor(), "TEXT_"), "which text has it"),
            Integer("begin", "offset in bytes"), Integer("size", "bytes"),
            Boolean("redacted", "its letters and digits are x")},
           "secrets and e-mail addresses"))},
      "measures");
}

Field TokensField(std::string name, std::string description) {
  return Struct(
      std::move(name),
      {Integer("cl100k_base", "as tiktoken counts them"), Integer("o200k_base", "likewise")},
      std::move(description));
}

// Things given by name.
Field NamedTexts(std::string name, std::string description) {
  return ListOf(
      Struct(std::move(name),
             {String("name", "what it is given as"),
              String("value", "as Python's repr() has it; where it is not known, as written")},
             std::move(description)));
}

Field AutotuneField() {
  return OrNull(Struct(
      "autotune",
      {String("decorator", "its name as written"),
       ListOf(Struct("configs",
                     {NamedTexts("kwargs", "of the kernel's parameters"),
                      NamedTexts("options", "num_warps, num_stages and the like")},
                     "the configurations")),
       Boolean("resolved", "`configs` are all that there are"),
       OrNull(String("expression", "where they are not: what is given instead, as written")),
       ListOf(String("key", "the parameters whose change tunes anew")),
       OrNull(String("key_expression", "what is given as key where that is no list of strings"))},
      "what the autotuner is given; null without one"));
}

Field LauncherField() {
  return OrNull(Struct(
      "launcher",
      {String("path", "of the file that it is in"),
       OrNull(String("qualname", "of the function; null of a statement of the module")),
       Integer("first_line", "from 1"), Integer("last_line", "inclusive"),
       OrNull(String("text", "those whole lines; null above 16 KiB, and where a holdout has it")),
       Integer("count", "how many functions launch the kernel")},
      "the smallest function that launches the kernel; null where there is none"));
}

Field InductorField() {
  return OrNull(Struct("inductor",
                       {OrNull(String("model", "the debug folder's name for it")),
                        OrNull(String("graph", "its number in that name")),
                        OrNull(String("kernel_path", "the comment before the kernel")),
                        OrNull(String("source_node", "likewise")),
                        Boolean("in_string", "it stood in a string of async_compile.triton")},
                       "where TorchInductor got the kernel from; null of all others"));
}

Field CudaField() {
  return OrNull(Struct(
      "cuda",
      {ListOf(String("template_parameters", "of each template header; \"\" of template <>")),
       OrNull(String("launch_bounds", "between the parentheses of __launch_bounds__")),
       ListOf(Struct("launches",
                     {Integer("first_line", "from 1"), Integer("last_line", "inclusive"),
                      OrNull(String("text", "of the expression; null where it is long")),
                      OrNull(String("host_function", "that it stands in; null outside of all")),
                      OrNull(Integer("host_first_line", "of that function")),
                      OrNull(Integer("host_last_line", "inclusive"))},
                     "launches in the same file"))},
      "what a CUDA function has beside a Python one; null of all others"));
}

Fields TextFields() {
  return {
      String("source", "whole lines of the file"),
      String("module", "self-contained text: imports, constants, helpers, then the kernel"),
      OrNull(String("prompt_context",
                    "what a fill-in-the-middle prompt shows above the kernel; null where that is "
                    "nothing, and of CUDA")),
      ListOf(Struct(
          "pieces",
          {OrNull(String("path", "null of a generated line")),
           OrNull(Integer("first_line", "from 1")), OrNull(Integer("last_line", "inclusive")),
           Word("kind", WordsOf(v1::Definition::Kind_descriptor(), "KIND_"), "of code"),
           Boolean("generated", "a line of no file that stands for an import"),
           OrNull(String("used_source", "that it comes from where that is not the kernel's own"))},
          "what `module` is made of, in its order")),
      Boolean(
          "self_contained",
          "nothing but Triton, torch, JAX and Python is left outside `module`; of CUDA nothing but "
          "C++ and the toolkit"),
      ListOf(String("free_names", "names that `module` lacks")),
      ListOf(Struct("unresolved_names",
                    {String("name", "as the code has it"),
                     Word("reason",
                          {"undefined", "repository_import", "package_import", "wildcard_import",
                           "too_large"},
                          "what became of it")},
                    "why `module` does not stand alone")),
      ListOf(Struct(
          "dropped_decorators",
          {String("text", "without @, as written"), String("function", "that it decorates"),
           Integer("first_line", "from 1"), Integer("last_line", "inclusive"),
           Word("reason", {"host_machinery", "autotune_configs", "heuristics"}, "what it is")},
          "machinery of the host that `module` goes without")),
      ListOf(Struct("replaced_texts",
                    {String("original", "as written"), String("replacement", "as `module` has it"),
                     Integer("first_line", "from 1"), Integer("last_line", "inclusive"),
                     Word("reason", {"autotune_configs"}, "what it is")},
                    "texts for which `module` has others that come to the same")),
      String("signature", "from def to the colon, as written"),
      OrNull(String("docstring", "as written, without quotes")),
      ListOf(String("decorators", "as written, outermost first")),
      ListOf(String("calls", "dotted names that the body calls, resolved through the imports"))};
}

Fields DerivedFields() {
  return {
      ListOf(Struct(
          "parameters",
          {OrNull(String("name", "as written; null of one of CUDA without")),
           OrNull(String("annotation", "as written")), OrNull(String("default", "as written")),
           Word("role", WordsOf(v1::ParameterRole_descriptor(), "PARAMETER_ROLE_"),
                "what it is for"),
           String("rule", "that gave the role")},
          "in order")),
      AutotuneField(),
      OrNull(Struct(
          "heuristics",
          {ListOf(String("names", "that are computed")),
           ListOf(String("expressions", "given instead of a literal dictionary, as written"))},
          "of @triton.heuristics; null without")),
      LauncherField(),
      OrNull(String("requires_triton",
                    "the Triton that the repository asks for, PEP 440, as written")),
      OrNull(String("requires_triton_path", "the file that says so")),
      ListOf(String("tags", "the operation")),
      ListOf(Struct("tag_rules",
                    {String("name", "the tag"), String("rule", "the first rule that gave it")},
                    "one for each tag")),
      ListOf(String("features", "what it uses of the language beyond the plain")),
      TokensField("tokens", "of `source`"),
      TokensField("module_tokens", "of `module`"),
      Integer("lexical_tokens", "of Python or C in `source`, without comments"),
      OrNull(String("fim_sha1", "the identity of its row in fim_sft.csv; null where it has none")),
      OrNull(Word("fim_excluded",
                  {"language", "template", "syntax_error", "indentation", "signature_line",
                   "no_body", "trivial", "short"},
                  "why it has no row in fim_sft.csv; null where it has one")),
      InductorField(),
      CudaField()};
}

Field SplitField() {
  return Word("split", {"train", "validation", "test"}, "the side of the dataset that it is on");
}

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

}  // namespace kernelmill::exporter
