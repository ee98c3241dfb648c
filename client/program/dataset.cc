// The commands on datasets: catalog, review, evaluate, export, diff, publish and similar. Only
// `export` needs a cluster; `similar` and `evaluate` use one if the dataset is a job's.

#include <memory>
#include <string>

#include "client/commands/commands.h"
#include "client/program/command_line.h"
#include "common/toolchains/toolchains.h"

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
  TakesFolder(sub->add_option("--out", options->target.out_dir, "folder to write the dataset to"))
      ->required();
  AddExportFlags(*sub, options->target);
  line.AddClusterFlags(*sub);
}

// The dataset is named in exactly one of three ways, which the option group enforces.
void AddSimilar(CommandLine& line) {
  const auto options = std::make_shared<SimilarOptions>();
  CLI::App* sub =
      line.Add("similar", "list the kernels of a dataset that are most similar to those in a file",
               [&line, options](Console& console) {
                 // A folder that crawl wrote has only the dataset's digest; the dataset itself is
                 // in crawl's data folder.
                 if (!options->out_dir.empty() && options->data_dir.empty()) {
                   options->data_dir = DefaultDataDir();
                 }
                 return Similar(line.cluster(), *options, line.signal(), console);
               });
  TakesFile(
      sub->add_option(
          "FILE", options->file,
          "file with kernels, or a folder of Python files; a file without kernels is compared as "
          "one text; -: standard input"))
      ->required();
  CLI::Option_group* which = sub->add_option_group("dataset", "the dataset; one of");
  which->add_option("--job", options->job, "the dataset of this job");
  which->add_option("--dataset", options->dataset, "the dataset's digest, hash/size");
  TakesFolder(
      which->add_option("--out", options->out_dir, "the folder that crawl wrote the dataset to"));
  which->require_option(1);
  TakesFolder(sub->add_option(
      "--data", options->data_dir,
      "the crawl's --data folder to read from instead of a cluster; with --out the\n"
      "default is crawl's default"));
  sub->add_option("--top", options->top, "the most results for each kernel")
      ->check(CLI::Range(1, 16384))
      ->capture_default_str();
  sub->add_option("--threshold", options->threshold, "lowest similarity, above 0 and up to 1")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  line.AddClusterFlags(*sub);
}

// Reads two folders; no cluster, so only the common flags.
void AddDiff(CommandLine& line) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* sub = line.Add("diff", "compare two datasets; exits 1 if they differ",
                           [options](Console& console) { return Diff(*options, console); });
  TakesFolder(sub->add_option("A", options->a, "the folder of the first dataset"))->required();
  TakesFolder(sub->add_option("B", options->b, "the folder of the second dataset"))->required();
  sub->add_option("--limit", options->limit, "the most kernels to name for each kind of change")
      ->capture_default_str();
  line.AddCommonFlags(*sub);
}

// No cluster: the destination has its own address and credentials.
void AddPublish(CommandLine& line) {
  const auto options = std::make_shared<PublishOptions>();
  CLI::App* sub = line.Add(
      "publish", "publish a dataset on a Hub, in an object store or in a folder",
      [options](Console& console) -> absl::StatusOr<int> { return Publish(*options, console); });
  TakesFolder(sub->add_option("DATASET", options->dataset, "the folder of the dataset"))
      ->required();
  sub->add_option("DESTINATION", options->destination,
                  "hf://OWNER/NAME, s3://BUCKET/FOLDER, gs://BUCKET/FOLDER or file:FOLDER")
      ->required();
  sub->add_option("--tag", options->version, "name of the version (default: v1, v2 and so on)");
  sub->add_flag("--patch", options->patch,
                "publish a patch (v1.1), which only withdraws what people opted out of");
  sub->add_flag("--delete-older", options->delete_older,
                "delete all other versions and their texts afterwards");
  TakesFolder(
      sub->add_option("--before", options->before,
                      "folder of the newest version's dataset (default: it is downloaded)"));
  TakesWord(sub->add_option("--allow", options->allow,
                            "publish even if this check fails; may be repeated"),
            {"empty", "gates", "failed", "license", "opt_out", "name", "withdrawn"})
      ->allow_extra_args(false);
  sub->add_flag("--json-lines", options->json_lines,
                "also publish the JSON lines and the views, which repeat the Parquet files");
  sub->add_flag("--private", options->is_private, "create the Hub's repository as private");
  sub->add_flag("--discard", options->discard,
                "discard another upload of this version that was not finished");
  sub->add_flag("--dry-run", options->dry_run, "print what would be published");
  line.AddCommonFlags(*sub);
}

// No cluster: both commands run on this machine.
void AddRecord(CommandLine& line) {
  const auto options = std::make_shared<RecordOptions>();
  CLI::App* sub = line.Add(
      "record", "record what kernels do in their repositories' own tests",
      [options](Console& console) -> absl::StatusOr<int> { return Record(*options, console); });
  sub->add_option("DATASET", options->dataset, "the folder of the dataset")->required();
  sub->add_option("--repository", options->repositories,
                  "NAME=FOLDER: a repository of the dataset and its checkout; may be repeated")
      ->required()
      ->allow_extra_args(false);
  sub->add_option("--evidence", options->evidence, "the evidence file to add to")
      ->capture_default_str();
  sub->add_option("--device", options->device, "cpu (Triton's interpreter) or cuda:90")
      ->capture_default_str();
  sub->add_option("--tests", options->tests,
                  "a path of tests in the checkout (default: all); may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--pytest-argument", options->pytest_arguments,
                  "an argument for pytest; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--python", options->python,
                  "a Python with torch, Triton, pytest and what the tests import");
  sub->add_option("--lock", options->lock,
                  "a requirements file: each package that it pins must be installed");
  sub->add_option("--logs", options->logs, "folder for the output of pytest");
  sub->add_option("--seconds", options->seconds, "bound of a repository's tests")
      ->capture_default_str();
  sub->add_option("--test-seconds", options->test_seconds, "bound of one test")
      ->capture_default_str();
  sub->add_option("--cases", options->cases, "the most cases of a kernel")->capture_default_str();
  sub->add_option("--case-bytes", options->case_bytes,
                  "the most bytes of a case that are kept by content")
      ->capture_default_str();
  sub->add_flag("--unsafe-no-container", options->unsafe_no_container,
                "run the repositories' code outside of a container");
  line.AddCommonFlags(*sub);
}

void AddCapture(CommandLine& line) {
  const auto options = std::make_shared<CaptureOptions>();
  CLI::App* sub = line.Add(
      "capture",
      "capture models as PyTorch and the Triton kernels that TorchInductor makes of them",
      [options](Console& console) -> absl::StatusOr<int> { return Capture(*options, console); });
  sub->add_option("MODEL", options->models,
                  "LIBRARY:NAME, with globs; a library is timm, torchvision, transformers, "
                  "torchbench, checkout (a folder) or file (Python with MODELS)");
  TakesFile(sub->add_option("--list", options->list, "a file of such names, one a line"));
  TakesFolder(sub->add_option("--from", options->from,
                              "convert a folder that TORCH_COMPILE_DEBUG=1 left, and capture "
                              "nothing"));
  TakesFolder(sub->add_option("--out", options->out,
                              "the folder of the captures; a capture that "
                              "it has is not made again"))
      ->capture_default_str();
  TakesWord(sub->add_option("--device", options->device,
                            "cuda, or a GPU that is not there (default: cuda where there is one, "
                            "else h100)"),
            {"cuda", "h100", "a100"});
  TakesWord(sub->add_option("--mode", options->mode, "the graphs to capture"),
            {"inference", "training", "both"})
      ->capture_default_str();
  TakesWord(sub->add_option("--dtype", options->dtype, "the type of weights and inputs"),
            {"float32", "float16", "bfloat16"})
      ->capture_default_str();
  sub->add_option("--license", options->license,
                  "the models' licence, for job.yaml (default: the library's)");
  sub->add_option("--batch", options->batch, "inputs at a time")->capture_default_str();
  sub->add_option("--length", options->length, "tokens of an input")->capture_default_str();
  sub->add_flag("--dynamic", options->dynamic, "capture with dynamic shapes");
  sub->add_flag("--autotune", options->autotune,
                "let Triton's templates compete for matrix products (max-autotune); needs a GPU");
  sub->add_flag("--check", options->check,
                "run the captures of --out on this machine's GPU, in eager and compiled, and "
                "capture nothing");
  sub->add_option("--workers", options->workers, "processes at a time")->capture_default_str();
  sub->add_option("--seconds", options->seconds, "bound of one process")->capture_default_str();
  sub->add_option("--memory", options->memory, "bound of one process, in GiB")
      ->capture_default_str();
  sub->add_option("--deadline", options->deadline,
                  "seconds after which what runs is ended (default: none)");
  sub->add_option("--most", options->most, "the most captures; 0: all")->capture_default_str();
  sub->add_flag("--unsafe-no-container", options->unsafe_no_container,
                "run the code of a checkout or file outside of a container");
  line.AddCommonFlags(*sub);
}

void AddRun(CommandLine& line) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* sub = line.Add(
      "run", "run kernels on recorded cases, and score the cases by mutants",
      [options](Console& console) -> absl::StatusOr<int> { return RunKernels(*options, console); });
  sub->add_option("DATASET", options->dataset, "the folder of the dataset, or of a bundle")
      ->required();
  sub->add_option(
      "--evidence", options->evidence,
      "the evidence file (default: evidence.jsonl in DATASET, as in a bundle, or here)");
  sub->add_option("--device", options->device, "cpu (Triton's interpreter) or cuda:90")
      ->capture_default_str();
  sub->add_option("--python", options->python, "a Python with Triton, and torch for a GPU");
  sub->add_option("--workers", options->workers, "kernels to run at a time")->capture_default_str();
  sub->add_option("--mutants", options->mutants, "the most mutants of a kernel; 0: no scores")
      ->capture_default_str();
  sub->add_option("--threshold", options->threshold,
                  "make more cases for kernels with lower scores")
      ->capture_default_str();
  sub->add_option("--made", options->made, "the most cases to make for a kernel")
      ->capture_default_str();
  sub->add_flag("--speed", options->speed,
                "time kernels and their references on the GPU instead of running cases");
  sub->add_flag("--changes", options->changes,
                "time both versions of the changes in history.jsonl on the GPU instead");
  sub->add_option("--deadline", options->deadline,
                  "seconds after which no kernel is begun (default: none)");
  sub->add_option("--case-seconds", options->case_seconds, "bound of one case")
      ->capture_default_str();
  sub->add_option("--kernel", options->kernels,
                  "qualified name of a kernel to run; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--bundle", options->bundle,
                  "write an archive for a machine with a GPU instead of running");
  sub->add_option("--merge", options->merge, "an evidence file to add first; may be repeated")
      ->allow_extra_args(false);
  sub->add_flag("--unsafe-no-sandbox", options->unsafe_no_sandbox,
                "run kernels without the sandbox, with bounds only");
  line.AddCommonFlags(*sub);
}

void AddExportTasks(CommandLine& line) {
  const auto options = std::make_shared<ExportTasksOptions>();
  CLI::App* sub = line.Add("export-tasks", "export tasks in the forms of other programs",
                           [options](Console& console) -> absl::StatusOr<int> {
                             return ExportTasks(*options, console);
                           });
  TakesFolder(sub->add_option("DATASET", options->dataset, "the folder of the dataset"))
      ->required();
  TakesWord(sub->add_option("--format", options->format, "the form"),
            {"flashinfer-trace", "verifiers", "kernelbench"})
      ->required();
  sub->add_option("--out", options->out, "the folder to write")->required();
  sub->add_option("--evidence", options->evidence,
                  "the evidence file, whose folder has tensors (default: expected outputs are "
                  "computed, and cases with other tensors are left out)");
  sub->add_option("--python", options->python, "a Python with Triton, and torch for references");
  sub->add_flag("--verified", options->verified, "export verified tasks only");
  sub->add_option("--task-bytes", options->task_bytes, "the most bytes of a task's cases")
      ->capture_default_str();
  sub->add_flag("--unsafe-no-sandbox", options->unsafe_no_sandbox,
                "run kernels and references without confining them");
  line.AddCommonFlags(*sub);
}

// --wanted prints searches instead of writing a site, so it excludes --out.
void AddCatalog(CommandLine& line) {
  const auto options = std::make_shared<CatalogOptions>();
  CLI::App* sub = line.Add(
      "catalog", "write a static site of a dataset's kernels: search, pages, coverage",
      [&line, options](Console& console) { return Catalog(*options, line.signal(), console); });
  TakesFolder(sub->add_option("DATASET", options->dataset, "the folder of the dataset"))
      ->required();
  CLI::Option* out =
      TakesFolder(sub->add_option("--out", options->out_dir, "folder to write the site to"));
  CLI::Option* wanted = sub->add_flag(
      "--wanted", options->wanted,
      "print what the dataset lacks as searches for a job's `discover`, instead of a site");
  wanted->excludes(out);
  sub->add_option("--serve", options->serve,
                  "serve the site until Ctrl-C, at this address (default 127.0.0.1:8000); without "
                  "--out it is removed then")
      ->option_text("[HOST:PORT]")
      ->expected(0, 1)
      ->default_str("127.0.0.1:8000")
      ->excludes(wanted);
  sub->add_option("--limit", options->limit, "with --wanted: the most searches")
      ->needs(wanted)
      ->capture_default_str();
  line.AddCommonFlags(*sub);
}

void AddLook(CommandLine& line) {
  const auto show = std::make_shared<ShowOptions>();
  CLI::App* sub = line.Add("show", "print a kernel of a dataset: its facts and its module",
                           [show](Console& console) { return Show(*show, console); });
  TakesFolder(sub->add_option("DATASET", show->dataset, "the folder of the dataset"))->required();
  sub->add_option("KERNEL", show->what, "its id, four digits or more of it, or its name")
      ->required();
  sub->add_flag("--source", show->source, "print the source instead of the module");
  line.AddCommonFlags(*sub);

  const auto head = std::make_shared<HeadOptions>();
  sub = line.Add("head", "list the first kernels of a dataset",
                 [head](Console& console) { return Head(*head, console); });
  TakesFolder(sub->add_option("DATASET", head->dataset, "the folder of the dataset"))->required();
  sub->add_option("-n,--count", head->count, "the number of kernels")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  line.AddCommonFlags(*sub);

  const auto stats = std::make_shared<std::string>();
  sub =
      line.Add("stats", "count the kernels of a dataset by language, operation, licence and so on",
               [stats](Console& console) { return Stats(*stats, console); });
  TakesFolder(sub->add_option("DATASET", *stats, "the folder of the dataset"))->required();
  line.AddCommonFlags(*sub);

  const auto rejected = std::make_shared<RejectedOptions>();
  sub =
      line.Add("rejected",
               "list the kernels that a job did not keep, and kept ones that do not compile or are "
               "no verified tasks, with the reasons",
               [rejected](Console& console) { return Rejected(*rejected, console); });
  TakesFolder(sub->add_option("DATASET", rejected->dataset, "the folder of the dataset"))
      ->required();
  sub->add_option(
         "--reason", rejected->reason,
         "only this fate, or part of a reason: rejected, duplicate, contaminated, compiles, "
         "unverified, license, near and so on")
      ->option_text("WORD");
  line.AddCommonFlags(*sub);
}

// Three modes that exclude each other: the dialogue, --list, and --accept or --reject.
void AddReview(CommandLine& line) {
  const auto options = std::make_shared<ReviewOptions>();
  CLI::App* sub = line.Add(
      "review", "accept or reject the flagged items of a dataset",
      [&line, options](Console& console) { return Review(*options, line.signal(), console); });
  TakesFolder(sub->add_option("DATASET", options->dataset, "the folder of the dataset"))
      ->required();
  TakesFile(sub->add_option(
      "--reviews", options->reviews,
      "file of decisions (.jsonl) for `reviews` in a job file; it is created if missing,\n"
      "and decided items are not shown again"));
  sub->add_option("--flag", options->flags, "review only this kind of flag; may be repeated")
      ->check(CLI::IsMember({"word_overlap", "pair", "license"}));
  sub->add_option("--license-below", options->license_below,
                  "flag licences with a lower confidence, 0 to 1")
      ->check(CLI::Range(0.0, 1.01))
      ->capture_default_str();
  sub->add_option("--who", options->who,
                  "your name in the decisions (default: the user of this process)")
      ->envname("KERNELMILL_REVIEWER");
  CLI::Option* list = sub->add_flag("--list", options->list, "list the undecided items and exit");
  sub->add_flag("--all", options->all, "with --list: also list decided items")->needs(list);
  CLI::Option* accept =
      sub->add_option("--accept", options->accept, "accept the item with this ID and exit");
  CLI::Option* reject =
      sub->add_option("--reject", options->reject, "reject the item with this ID and exit");
  CLI::Option* why = sub->add_option("--why", options->why, "reason for --accept or --reject");
  reject->needs(why);
  list->excludes(accept)->excludes(reject);
  line.AddCommonFlags(*sub);
}

// The dataset is either a folder or a job's, so the two flags exclude each other.
void AddEvaluate(CommandLine& line) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* sub = line.Add(
      "evaluate", "measure a model's generations: checks, overlap, pass@k, memorised text",
      [&line, options](Console& console) {
        // With a job the cluster's addresses are the better hint.
        if (options->job.empty() && !options->compiler.empty()) {
          line.SetHint(absl::StrCat("Tried the compiler at ", options->compiler, " (--compiler)."));
        }
        return EvaluateModel(line.cluster(), *options, line.signal(), console);
      });
  TakesFile(sub->add_option("GENERATIONS", options->generations,
                            "JSON lines with the samples of each task"))
      ->required();
  TakesFile(
      sub->add_option("--reference", options->reference, "file with the references of the tasks"));
  TakesFile(sub->add_option("--baseline", options->baseline,
                            "another model's generations to compare with"));
  CLI::Option* folder = TakesFolder(
      sub->add_option("--dataset", options->dataset, "the export that the model was trained on"));
  sub->add_option("--job", options->job, "the job whose dataset the model was trained on")
      ->excludes(folder);
  sub->add_option("--threshold", options->threshold,
                  "lowest similarity that counts as memorised, above 0 and up to 1")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  TakesFolder(
      sub->add_option("--out", options->out_dir, "folder to write to (default: only print)"));
  sub->add_option("--sheet-tasks", options->sheet_tasks, "the most tasks on the sheet")
      ->capture_default_str();
  CLI::Option* compiler =
      sub->add_option("--compiler", options->compiler,
                      "address of a kernelmill-compiler (default: compile in this process)");
  AddCompilerFlags(*sub, options->embedded);
  std::vector<std::string> pinned;
  for (const auto& toolchain : toolchains::PinnedToolchains()) pinned.emplace_back(toolchain.name);
  const auto known = toolchains::CompileTargets();
  TakesWord(sub->add_option("--toolchain", options->embedded.toolchains,
                            "compile with this toolchain; may be repeated"),
            pinned);
  TakesWord(
      sub->add_option("--target", options->targets, "compile for this target; may be repeated"),
      {known.begin(), known.end()});
  sub->add_flag("--no-compile", options->no_compile, "skip compiling")->excludes(compiler);
  CLI::Option* run =
      sub->add_option("--run", options->tasks,
                      "run the samples on the cases of this tasks.jsonl, or of an export's");
  TakesFile(sub->add_option("--evidence", options->evidence,
                            "evidence file of the cases, for the bytes of their tensors"))
      ->needs(run);
  sub->add_option("--device", options->device, "cpu (Triton's interpreter) or cuda:90")
      ->needs(run)
      ->capture_default_str();
  sub->add_option("--workers", options->workers, "tasks to run at once")
      ->check(CLI::Range(1, 256))
      ->needs(run)
      ->capture_default_str();
  sub->add_option("--case-seconds", options->case_seconds, "time limit of a case")
      ->check(CLI::Range(1, 3600))
      ->needs(run)
      ->capture_default_str();
  line.AddClusterFlags(*sub);
}

}  // namespace

void AddExportFlags(CLI::App& command, ExportTarget& target) {
  command
      .add_flag("--tree", target.tree,
                "also write the source files, by category, to the folder `tree` (listed in "
                "MANIFEST.json)")
      ->needs("--out");
  command
      .add_flag("--allow-failed", target.allow_failed,
                "replace the dataset in --out even if it loses kernels because sources failed")
      ->needs("--out");
}

void AddDatasetCommands(CommandLine& line) {
  AddLook(line);
  AddCatalog(line);
  AddReview(line);
  AddEvaluate(line);
  AddExport(line);
  AddDiff(line);
  AddPublish(line);
  AddRecord(line);
  AddCapture(line);
  AddRun(line);
  AddExportTasks(line);
  AddSimilar(line);
}

}  // namespace kernelmill::client
