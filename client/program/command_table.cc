#include "client/program/command_table.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace kernelmill::client {
namespace {

std::string OneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

// The names of types that TakesFile and TakesFolder set; CLI11's validators use them, too.
constexpr char kFile[] = "FILE";
constexpr char kFolder[] = "DIR";

// Fills what completes a value from the name of its type and its validators, such as "TEXT:FILE",
// "{a,b}", and "TEXT:value in {a->0,b->1} OR {0,1}" for words with numbers behind them.
void DescribeValues(absl::string_view type, FlagEntry* flag) {
  if (absl::StrContains(type, kFile)) flag->values = FlagEntry::Values::kFiles;
  if (absl::StrContains(type, kFolder)) flag->values = FlagEntry::Values::kFolders;
  const size_t open = type.find('{');
  if (open == absl::string_view::npos) return;
  type.remove_prefix(open + 1);
  for (const absl::string_view word : absl::StrSplit(type.substr(0, type.find('}')), ',')) {
    flag->words.emplace_back(word.substr(0, word.find("->")));
  }
}

FlagEntry Describe(const CLI::Option& option) {
  FlagEntry flag;
  flag.is_argument = option.get_positional();
  flag.name = flag.is_argument ? option.get_name(true) : option.get_name();
  if (!flag.is_argument && !option.get_lnames().empty()) flag.name = "--" + option.get_lnames()[0];
  if (!option.get_snames().empty()) flag.short_name = "-" + option.get_snames()[0];
  flag.help = OneLine(option.get_description());
  flag.variable = option.get_envname();
  flag.initial = option.get_default_str();
  DescribeValues(option.get_type_name(), &flag);
  flag.takes_value = option.get_items_expected_max() > 0;
  flag.required = option.get_required();
  return flag;
}

// Adds the flags of a command, or its arguments. An option group is a nameless command in CLI11,
// with a --help that it does not show.
void AddFlags(const CLI::App& command, bool arguments, std::vector<FlagEntry>* flags) {
  for (const CLI::Option* option : command.get_options()) {
    if (command.get_name().empty() && option == command.get_help_ptr() && command.get_parent())
      continue;
    if (option->get_positional() == arguments) flags->push_back(Describe(*option));
  }
  for (const CLI::App* group : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (group->get_name().empty()) AddFlags(*group, arguments, flags);
  }
}

void Add(const CLI::App& command, const std::string& name, std::vector<CommandEntry>* table) {
  CommandEntry entry;
  entry.name = name;
  entry.help = OneLine(command.get_description());
  for (const bool arguments : {true, false}) AddFlags(command, arguments, &entry.flags);
  const auto commands =
      command.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); });
  for (const CLI::App* sub : commands) entry.commands.push_back(sub->get_name());
  table->push_back(std::move(entry));
  for (const CLI::App* sub : commands) {
    Add(*sub, name.empty() ? sub->get_name() : absl::StrCat(name, " ", sub->get_name()), table);
  }
}

// Returns a text within single quotes for a shell. fish has escapes within them, the others do not.
std::string Quoted(absl::string_view text, bool fish = false) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", fish ? "\\'" : "'\\''"}}), "'");
}

std::vector<std::string> FlagNames(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const FlagEntry& flag : command.flags) {
    if (!flag.is_argument) names.push_back(flag.name);
  }
  return names;
}

// Returns the groups as the alternatives of a shell's `case`, without the program itself.
std::string Groups(const std::vector<CommandEntry>& table) {
  std::vector<std::string> groups;
  for (const CommandEntry& command : table) {
    if (!command.name.empty() && !command.commands.empty()) groups.push_back(command.name);
  }
  return absl::StrJoin(groups, "|");
}

// Returns the first argument of a command; null if it has none.
const FlagEntry* FirstArgument(const CommandEntry& command) {
  const bool has_one = !command.flags.empty() && command.flags[0].is_argument;
  return has_one ? &command.flags[0] : nullptr;
}

// Returns the statement that says in the script what completes a value; empty if nothing does.
std::string BashValues(const FlagEntry& flag) {
  if (!flag.words.empty()) {
    return absl::StrCat("words=", Quoted(absl::StrJoin(flag.words, " ")));
  }
  if (flag.values == FlagEntry::Values::kFiles) return "files=default";
  return flag.values == FlagEntry::Values::kFolders ? "files=dirnames" : "";
}

// Returns the cases of the flags that take a value, by "COMMAND FLAG", and of the commands' first
// arguments, by "COMMAND ". A value that nothing completes sets nothing, so that no file is offered
// for a number.
std::string BashCases(const std::vector<CommandEntry>& table) {
  std::string cases;
  for (const CommandEntry& command : table) {
    for (const FlagEntry& flag : command.flags) {
      if (flag.is_argument || !flag.takes_value) continue;
      absl::StrAppend(&cases, "    ", Quoted(absl::StrCat(command.name, " ", flag.name)), ") ",
                      BashValues(flag), " ;;\n");
    }
    const FlagEntry* const argument = FirstArgument(command);
    if (argument == nullptr || BashValues(*argument).empty()) continue;
    absl::StrAppend(&cases, "    ", Quoted(command.name + " "), "*) ", BashValues(*argument),
                    " ;;\n");
  }
  return cases;
}

// bash splits --flag=value at the '=', which becomes a word of its own. Files are completed by bash
// itself (compopt), which knows about ~ and blanks.
std::string BashScript(const std::vector<CommandEntry>& table) {
  std::string script = absl::StrCat(
      "_kernelmill() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1))\n"
      "  local command='' commands='' flags='' files='' words=''\n"
      "  [[ $cur == '=' ]] && cur=''\n"
      "  [[ ${COMP_WORDS[at]} == '=' ]] && ((at--))\n"
      "  ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}\n"
      "  case $command in\n    ",
      Groups(table),
      ") ((COMP_CWORD > 2)) && command+=\" ${COMP_WORDS[2]}\" ;;\n  esac\n"
      "  case $command in\n");
  for (const CommandEntry& command : table) {
    absl::StrAppend(&script, "    ", Quoted(command.name),
                    ") commands=", Quoted(absl::StrJoin(command.commands, " ")),
                    " flags=", Quoted(absl::StrJoin(FlagNames(command), " ")), " ;;\n");
  }
  return absl::StrCat(script,
                      "  esac\n"
                      "  case \"$command ${COMP_WORDS[at]}\" in\n",
                      BashCases(table),
                      "  esac\n"
                      "  COMPREPLY=()\n"
                      "  if [[ $cur == -* ]]; then\n"
                      "    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")\n"
                      "  elif [[ $files ]]; then\n"
                      "    compopt -o $files\n"
                      "  elif [[ $words$commands ]]; then\n"
                      "    mapfile -t COMPREPLY < <(compgen -W \"$words $commands\" -- \"$cur\")\n"
                      "  fi\n"
                      "}\n"
                      "complete -F _kernelmill kernelmill\n");
}

// Returns the help of a command of the table.
std::string FindHelp(const std::vector<CommandEntry>& table, const std::string& name) {
  for (const CommandEntry& command : table) {
    if (command.name == name) return command.help;
  }
  return "";
}

std::string FullName(const CommandEntry& group, const std::string& command) {
  return group.name.empty() ? command : absl::StrCat(group.name, " ", command);
}

// zsh reads '[', ']' and ':' in a specification as its own.
std::string ZshText(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

// Returns the action that completes a value.
std::string ZshValues(const FlagEntry& flag) {
  if (!flag.words.empty()) return absl::StrCat("(", absl::StrJoin(flag.words, " "), ")");
  if (flag.values == FlagEntry::Values::kFiles) return "_files";
  return flag.values == FlagEntry::Values::kFolders ? "_files -/" : " ";
}

std::string ZshScript(const std::vector<CommandEntry>& table) {
  std::string script = absl::StrCat(
      "#compdef kernelmill\n"
      "_kernelmill() {\n"
      "  local command=''\n"
      "  local -a commands\n"
      "  (( CURRENT > 2 )) && command=${words[2]}\n"
      "  case $command in\n    (",
      Groups(table),
      ") (( CURRENT > 3 )) && command+=\" ${words[3]}\" ;;\n  esac\n"
      "  case $command in\n");
  for (const CommandEntry& command : table) {
    absl::StrAppend(&script, "    (", Quoted(command.name), ")\n");
    if (!command.commands.empty()) {
      absl::StrAppend(&script, "      commands=(");
      for (const std::string& sub : command.commands) {
        absl::StrAppend(&script, "\n        ",
                        Quoted(absl::StrCat(sub, ":", FindHelp(table, FullName(command, sub)))));
      }
      absl::StrAppend(&script, ")\n      _describe command commands ;;\n");
      continue;
    }
    absl::StrAppend(&script, "      _arguments");
    for (const FlagEntry& flag : command.flags) {
      if (flag.is_argument) continue;
      const std::string spec =
          absl::StrCat(flag.name, flag.takes_value ? "=" : "", "[", ZshText(flag.help), "]",
                       flag.takes_value ? absl::StrCat(":value:", ZshValues(flag)) : "");
      absl::StrAppend(&script, " \\\n        ", Quoted(spec));
    }
    const FlagEntry* const argument = FirstArgument(command);
    if (argument != nullptr) {
      absl::StrAppend(&script, " \\\n        ", Quoted("*:value:" + ZshValues(*argument)));
    }
    absl::StrAppend(&script, " ;;\n");
  }
  return script + "  esac\n}\ncompdef _kernelmill kernelmill\n";
}

// Returns fish's condition that a command is being written.
std::string FishCondition(const std::vector<CommandEntry>& table, const CommandEntry& command) {
  if (command.name.empty()) return "__fish_use_subcommand";
  std::string seen = absl::StrCat(
      "__fish_seen_subcommand_from ",
      absl::StrReplaceAll(command.name, {{" ", "; and __fish_seen_subcommand_from "}}));
  if (command.commands.empty()) return seen;
  return absl::StrCat(seen, "; and not __fish_seen_subcommand_from ",
                      absl::StrJoin(command.commands, " "));
}

// Returns the arguments of fish's `complete` for a flag's value. -r alone offers files.
std::string FishValues(const FlagEntry& flag) {
  if (!flag.words.empty()) {
    return absl::StrCat(" -x -a ", Quoted(absl::StrJoin(flag.words, " "), true));
  }
  if (flag.values == FlagEntry::Values::kFiles) return " -r";
  return flag.values == FlagEntry::Values::kFolders ? " -x -a '(__fish_complete_directories)'"
                                                    : " -x";
}

std::string FishScript(const std::vector<CommandEntry>& table) {
  std::string script;
  for (const CommandEntry& command : table) {
    const std::string begin =
        absl::StrCat("complete -c kernelmill -n ", Quoted(FishCondition(table, command), true));
    for (const std::string& sub : command.commands) {
      absl::StrAppend(&script, begin, " -f -a ", sub, " -d ",
                      Quoted(FindHelp(table, FullName(command, sub)), true), "\n");
    }
    for (const FlagEntry& flag : command.flags) {
      if (flag.is_argument) continue;
      absl::StrAppend(&script, begin, " -l ", flag.name.substr(2),
                      flag.takes_value ? FishValues(flag) : "", " -d ", Quoted(flag.help, true),
                      "\n");
    }
  }
  return script;
}

// Returns a text as roff reads it: no dot or quote begins a line, an empty line begins a paragraph,
// and a minus is one to copy.
std::string Roff(absl::string_view text) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool request = absl::StartsWith(line, ".") || absl::StartsWith(line, "'");
    const std::string escaped = absl::StrReplaceAll(line, {{"\\", "\\e"}, {"-", "\\-"}});
    lines.push_back(line.empty() ? ".PP" : absl::StrCat(request ? "\\&" : "", escaped));
  }
  return absl::StrJoin(lines, "\n");
}

std::string FlagParagraph(const FlagEntry& flag) {
  std::string text = absl::StrCat(".TP\n\\fB", Roff(flag.name), "\\fR");
  if (!flag.is_argument && flag.takes_value) absl::StrAppend(&text, " \\fIVALUE\\fR");
  absl::StrAppend(&text, "\n", Roff(flag.help));
  std::vector<std::string> more;
  if (flag.required) more.push_back("required");
  if (!flag.initial.empty()) more.push_back(absl::StrCat("default ", Roff(flag.initial)));
  if (!flag.variable.empty()) more.push_back(absl::StrCat("environment: ", Roff(flag.variable)));
  if (!more.empty()) absl::StrAppend(&text, " (", absl::StrJoin(more, "; "), ")");
  return text + "\n";
}

}  // namespace

CLI::Option* TakesFile(CLI::Option* option) { return option->type_name(kFile); }

CLI::Option* TakesFolder(CLI::Option* option) { return option->type_name(kFolder); }

CLI::Option* TakesWord(CLI::Option* option, const std::vector<std::string>& words) {
  return option->type_name(absl::StrCat("{", absl::StrJoin(words, ","), "}"));
}

std::vector<CommandEntry> ListCommands(const CLI::App& program) {
  std::vector<CommandEntry> table;
  Add(program, "", &table);
  return table;
}

std::string CompletionScript(const std::vector<CommandEntry>& table, absl::string_view shell) {
  if (shell == "bash") return BashScript(table);
  return shell == "zsh" ? ZshScript(table) : FishScript(table);
}

std::string ManualPage(const std::vector<CommandEntry>& table, absl::string_view version,
                       absl::string_view description) {
  std::string page = absl::StrCat(
      ".TH KERNELMILL 1 \"\" \"kernelmill ", Roff(version), "\" \"User Commands\"\n",
      ".SH NAME\nkernelmill \\- datasets of GPU kernels from source repositories\n",
      ".SH SYNOPSIS\n.B kernelmill\n.I COMMAND\n[\\fIFLAG\\fR...] [\\fIARGUMENT\\fR...]\n",
      ".SH DESCRIPTION\n", Roff(description), "\n.SH COMMANDS\n");
  for (const CommandEntry& command : table) {
    if (command.name.empty() || !command.commands.empty()) continue;
    std::string heading = command.name;
    for (const FlagEntry& flag : command.flags) {
      if (flag.is_argument) absl::StrAppend(&heading, " ", flag.name);
    }
    absl::StrAppend(&page, ".SS \"", Roff(heading), "\"\n", Roff(command.help), "\n");
    for (const FlagEntry& flag : command.flags) absl::StrAppend(&page, FlagParagraph(flag));
  }
  return page;
}

std::string CommandsJson(const std::vector<CommandEntry>& table) {
  nlohmann::ordered_json commands = nlohmann::ordered_json::array();
  for (const CommandEntry& command : table) {
    if (command.name.empty()) continue;
    nlohmann::ordered_json flags = nlohmann::ordered_json::array();
    for (const FlagEntry& flag : command.flags) {
      flags.push_back({{"name", flag.name},
                       {"help", flag.help},
                       {"argument", flag.is_argument},
                       {"takes_value", flag.takes_value},
                       {"required", flag.required},
                       {"default", flag.initial},
                       {"variable", flag.variable}});
    }
    commands.push_back({{"name", command.name}, {"help", command.help}, {"flags", flags}});
  }
  return nlohmann::ordered_json{{"commands", commands}}.dump(2) + "\n";
}

}  // namespace kernelmill::client
