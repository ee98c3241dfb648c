#ifndef KERNELMILL_CLIENT_PROGRAM_COMMAND_TABLE_H_
#define KERNELMILL_CLIENT_PROGRAM_COMMAND_TABLE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kernelmill::client {

// A flag or an argument of a command.
struct FlagEntry {
  std::string name;        // "--out"; of an argument "JOB.yaml"
  std::string short_name;  // "-h"; empty: none
  std::string help;        // on one line
  std::string variable;    // the environment variable that sets it; empty: none
  std::string initial;     // its default; empty: none
  // Files, folders or these words complete its value; otherwise nothing does.
  enum class Values { kAny, kFiles, kFolders };
  Values values = Values::kAny;
  std::vector<std::string> words;
  bool takes_value = false;
  bool is_argument = false;
  bool required = false;
};

// A command, or a group of commands, such as "store".
struct CommandEntry {
  std::string name;  // "store gc"; empty: the program itself
  std::string help;
  std::vector<FlagEntry> flags;       // the arguments first
  std::vector<std::string> commands;  // of a group
};

// Marks the option's value as a file, as a folder, or as one of the words, in the help and for
// completion. The command checks the value.
CLI::Option* TakesFile(CLI::Option* option);
CLI::Option* TakesFolder(CLI::Option* option);
CLI::Option* TakesWord(CLI::Option* option, const std::vector<std::string>& words);

// Returns the program's commands as the parser knows them, a group before its commands. Completion
// scripts, manual pages and `help --json` are made of this table.
std::vector<CommandEntry> ListCommands(const CLI::App& program);

// Returns the script that completes command lines in a shell. `shell` is bash, zsh or fish.
std::string CompletionScript(const std::vector<CommandEntry>& table, absl::string_view shell);

// Returns the manual page of the program, in section 1, for man. `description` is the text below
// the synopsis.
std::string ManualPage(const std::vector<CommandEntry>& table, absl::string_view version,
                       absl::string_view description);

// Returns {"commands":[{"name":...,"help":...,"flags":[...]}]}, indented.
std::string CommandsJson(const std::vector<CommandEntry>& table);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_PROGRAM_COMMAND_TABLE_H_
