#include "dataset/rows/kernel_fields.h"

#include <utility>

#include "common/job/job_spec.h"
#include "dataset/rows/field_builders.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

Field NotUtf8() {
  return ListOf(Struct(
      "not_utf8",
      {String("field", "the field, an RFC 6901 pointer into the row: /source, /launcher/text"),
       String("base64", "its exact bytes")},
      "the paths and whole texts of the row that are not UTF-8: a field has U+FFFD for broken "
      "bytes"));
}

namespace {

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

}  // namespace

Fields IdentityFields(Rows rows) {
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
    if (job::IsCompilerCheck(name)) {
      check.description += "; null where the job compiles nothing";
      check.nullable = true;
    }
    checks.push_back(std::move(check));
  }
  return Struct("checks", std::move(checks), "the outcome of each check");
}

namespace {

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
       OrNull(
           Integer("shared_bytes",
                   "of ok: a block's shared memory; more than the target has cannot be launched")),
       OrNull(Integer("spill_bytes", "of ok: a thread's, stores and loads together")),
       OrNull(Integer("instructions", "of ok: of the machine code")),
       Boolean("limited",
               "of ok: another try reached a bound of time, memory or files; a faster machine may "
               "take that one"),
       ListOf(Struct("forms",
                     {String("form", "ttir, ttgir, llir, ptx, cubin, amdgcn or hsaco"),
                      Integer("size_bytes", "of it"), String("sha256", "of it")},
                     "what the compiler made, in that order"))},
      "one a toolchain and target"));
}

}  // namespace

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

namespace {

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

}  // namespace

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

}  // namespace kernelmill::dataset
