#include <memory>
#include <string>

#include "client/commands/catalog_command.h"
#include "client/commands/commands.h"
#include "client/commands/evaluate_command.h"
#include "client/commands/review_command.h"
#include "client/program/groups.h"

namespace kernelmill::client {
namespace {

void AddExport(CommandLine& line) {
  struct Options {
    std::string job;
    ExportTarget target;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* sub =
      line.Add("export", "write a job's dataset to a folder", [&line, options](Console& console) {
        return Export(line.cluster(), options->job, options->target, line.signal(), console);
      });
  sub->add_option("JOB", options->job, "the job's name")->required();
  sub->add_option("--out", options->target.out_dir, "the folder to write to")->required();
  AddExportFlags(*sub, options->target);
  line.AddClusterFlags(*sub);
}

void AddSimilar(CommandLine& line) {
  const auto options = std::make_shared<SimilarOptions>();
  CLI::App* sub = line.Add("similar", "list the kernels of a dataset that are most like a file's",
                           [&line, options](Console& console) {
                             if (!options->out_dir.empty() && options->data_dir.empty()) {
                               options->data_dir = DefaultDataDir();
                             }
                             return Similar(line.cluster(), *options, line.signal(), console);
                           });
  sub->add_option("FILE", options->file,
                  "a file with kernels, or any text, compared as a whole; -: standard input")
      ->required();
  CLI::Option_group* which = sub->add_option_group("dataset", "which dataset; one of");
  which->add_option("--job", options->job, "the job whose dataset it is");
  which->add_option("--dataset", options->dataset, "its digest, hash/size");
  which->add_option("--out", options->out_dir, "the folder that crawl wrote it to");
  which->require_option(1);
  sub->add_option("--data", options->data_dir,
                  "read from a crawl's --data folder, and not from a cluster; with --out\n"
                  "always, by default from crawl's own");
  sub->add_option("--top", options->top, "at most so many for each kernel")
      ->check(CLI::Range(1, 16384))
      ->capture_default_str();
  sub->add_option("--threshold", options->threshold, "how similar at least, over 0 to 1")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  line.AddClusterFlags(*sub);
}

void AddDiff(CommandLine& line) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* sub =
      line.Add("diff", "say what is another of two datasets; exit code 1 if anything is",
               [options](Console& console) { return Diff(*options, console); });
  sub->add_option("A", options->a, "the folder that the first was written to")->required();
  sub->add_option("B", options->b, "the folder of the second")->required();
  sub->add_option("--limit", options->limit, "at most so many kernels of each kind of change")
      ->capture_default_str();
  line.AddCommonFlags(*sub);
}

void AddCatalog(CommandLine& line) {
  const auto options = std::make_shared<CatalogOptions>();
  CLI::App* sub = line.Add(
      "catalog", "write a static site of a dataset's kernels: search, pages, coverage",
      [&line, options](Console& console) { return Catalog(*options, line.signal(), console); });
  sub->add_option("DATASET", options->dataset, "the folder that crawl or export wrote")->required();
  CLI::Option* out = sub->add_option("--out", options->out_dir, "the folder of the site");
  CLI::Option* wanted =
      sub->add_flag("--wanted", options->wanted,
                    "no site: what the dataset lacks, as searches for a job's `discover`");
  wanted->excludes(out);
  sub->add_option("--limit", options->limit, "with --wanted: at most so many")
      ->needs(wanted)
      ->capture_default_str();
  line.AddCommonFlags(*sub);
}

void AddReview(CommandLine& line) {
  const auto options = std::make_shared<ReviewOptions>();
  CLI::App* sub = line.Add(
      "review", "go through what a dataset flags, and accept or reject it",
      [&line, options](Console& console) { return Review(*options, line.signal(), console); });
  sub->add_option("DATASET", options->dataset, "the folder that crawl or export wrote")->required();
  sub->add_option("--reviews", options->reviews,
                  "the file of decisions (.jsonl), which a job names under `reviews`; it is made,\n"
                  "added to, and what it has is not asked again");
  sub->add_option("--flag", options->flags, "only what is flagged so; may be repeated")
      ->check(CLI::IsMember({"word_overlap", "pair", "license"}));
  sub->add_option("--license-below", options->license_below,
                  "flag licences that are less certain, 0 to 1")
      ->check(CLI::Range(0.0, 1.01))
      ->capture_default_str();
  sub->add_option("--who", options->who, "who decides; by default the user of this process")
      ->envname("KERNELMILL_REVIEWER");
  CLI::Option* list = sub->add_flag("--list", options->list, "list what is undecided, and end");
  sub->add_flag("--all", options->all, "with --list: what was decided too")->needs(list);
  CLI::Option* accept =
      sub->add_option("--accept", options->accept, "accept this item of the list, and end");
  CLI::Option* reject =
      sub->add_option("--reject", options->reject, "reject this item of the list, and end");
  CLI::Option* why = sub->add_option("--why", options->why, "the reason of --accept or --reject");
  reject->needs(why);
  list->excludes(accept)->excludes(reject);
  line.AddCommonFlags(*sub);
}

void AddEvaluate(CommandLine& line) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* sub =
      line.Add("evaluate", "measure what a model wrote: checks, overlap, pass@k, memorised text",
               [&line, options](Console& console) {
                 if (options->job.empty() && !options->compiler.empty()) {
                   line.SetHint(absl::StrCat("The compiler was looked for at ", options->compiler,
                                             " (--compiler)."));
                 }
                 return EvaluateModel(line.cluster(), *options, line.signal(), console);
               });
  sub->add_option("GENERATIONS", options->generations, "samples by task, a JSON line each")
      ->required();
  sub->add_option("--reference", options->reference, "a file of the tasks' references");
  sub->add_option("--baseline", options->baseline,
                  "another model's generations, which these are compared with");
  CLI::Option* folder =
      sub->add_option("--dataset", options->dataset, "the export that the model was trained on");
  sub->add_option("--job", options->job, "the job whose dataset it was trained on")
      ->excludes(folder);
  sub->add_option("--threshold", options->threshold,
                  "how similar memorised text is at least, over 0 to 1")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  sub->add_option("--out", options->out_dir,
                  "the folder to write to; by default nothing is written");
  sub->add_option("--sheet-tasks", options->sheet_tasks, "at most so many tasks on the sheet")
      ->capture_default_str();
  CLI::Option* compiler =
      sub->add_option("--compiler", options->compiler,
                      "where a kernelmill-compiler serves; by default this process compiles");
  AddCompilerFlags(*sub, options->embedded);
  sub->add_option("--toolchain", options->embedded.toolchains,
                  "compile by this one; may be repeated");
  sub->add_option("--target", options->targets,
                  "compile for this one, as cuda:90; may be repeated");
  sub->add_flag("--no-compile", options->no_compile, "compile nothing")->excludes(compiler);
  line.AddClusterFlags(*sub);
}

}  // namespace

void AddExportFlags(CLI::App& command, ExportTarget& target) {
  command
      .add_flag("--tree", target.tree,
                "write the source files too, by category, as `tree`; MANIFEST.json lists them")
      ->needs("--out");
  command
      .add_flag("--allow-failed", target.allow_failed,
                "replace the dataset in --out even if sources failed and it would lose their\n"
                "kernels")
      ->needs("--out");
}

void AddDatasetCommands(CommandLine& line) {
  AddCatalog(line);
  AddReview(line);
  AddEvaluate(line);
  AddExport(line);
  AddDiff(line);
  AddSimilar(line);
}

}  // namespace kernelmill::client
