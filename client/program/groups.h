#ifndef KERNELMILL_CLIENT_PROGRAM_GROUPS_H_
#define KERNELMILL_CLIENT_PROGRAM_GROUPS_H_

#include <string>

#include "client/commands/commands.h"
#include "client/program/command_line.h"

namespace kernelmill::client {

// The commands of `kernelmill`, a function for each group: it adds them with their options. Options
// are held by the commands that they are for, so that none is shared by accident.

void AddCrawl(CommandLine& line);            // crawl.cc: crawl
void AddJobCommands(CommandLine& line);      // jobs.cc: check, submit, watch, workers, report, ...
void AddDatasetCommands(CommandLine& line);  // dataset.cc: export, diff, similar, ...
void AddFileCommands(CommandLine& line);     // files.cc: extract, validate, toolchains
void AddStoreCommands(CommandLine& line);    // store.cc: store stat, verify, gc, ...

// --trace, of commands that can write a job's timeline (crawl.cc).
void AddTrace(CLI::App& command, std::string* file);

// What an export writes beside the files that each has (dataset.cc). Where --out is optional, it
// must be given with these.
void AddExportFlags(CLI::App& command, ExportTarget& target);

// --toolchains and --unsafe-no-sandbox, of commands that compile in this process (crawl.cc).
void AddCompilerFlags(CLI::App& command, EmbeddedCompilerOptions& options);

// Where a crawl keeps its results unless it is told (crawl.cc).
std::string DefaultDataDir();

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_PROGRAM_GROUPS_H_
