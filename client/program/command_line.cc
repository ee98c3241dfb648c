// The command line of `kernelmill` and the life of the program. Each command has a struct of
// options, which its flags fill and its callback owns. CLI11's callback only stores the command in
// `command_`: the command runs after the whole line was read, when the console knows about --json.

#include "client/program/command_line.h"

#include <unistd.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/commands/console.h"
#include "client/console/exit_code.h"
#include "common/base/status.h"
#include "common/flags/server_flags.h"
#include "common/flags/settings_file.h"
#include "common/version/version.h"
#include "common/words/suggestion.h"

namespace kernelmill::client {
namespace {

constexpr char kUsage[] =
    "Turns source repositories into a training-ready dataset of GPU kernels.\n\n"
    "Exit codes: 0 success; 1 some inputs failed (they are listed), a gate is missed, or the\n"
    "command could not finish; 2 invalid request; 3 the cluster cannot be reached.";

using Commands = std::vector<const CLI::App*>;

Commands GetCommands(const CLI::App& group) {
  return group.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* FindCommand(const CLI::App& group, const std::string& name) {
  for (const CLI::App* command : GetCommands(group)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

// Returns what is wrong with a word that should be a command of the group.
std::string ExplainCommand(const CLI::App& group, const std::string& written) {
  const bool outermost = group.get_parent() == nullptr;
  if (written.empty()) return group.get_name() + ": a command is required";
  if (written[0] == '-') return written + ": unknown option";
  std::vector<std::string> known;
  for (const CLI::App* command : GetCommands(group)) known.push_back(command->get_name());
  return absl::StrCat(written, ": unknown command", outermost ? "" : " of ",
                      outermost ? "" : group.get_name(), DidYouMean(written, known));
}

}  // namespace

CommandLine::CommandLine(rpc::TerminationSignal& signal)
    : signal_(signal), app_(kUsage, "kernelmill") {
  app_.require_subcommand(1);
  app_.set_version_flag("--version", "kernelmill " + Version());
}

CLI::App* CommandLine::Add(const char* name, const char* help, Command command) {
  return AddTo(&app_, name, help, std::move(command));
}

CLI::App* CommandLine::AddGroup(const char* name, const char* help) {
  CLI::App* group = app_.add_subcommand(name, help);
  group->require_subcommand(1);
  return group;
}

CLI::App* CommandLine::AddTo(CLI::App* group, const char* name, const char* help, Command command) {
  CLI::App* sub = group->add_subcommand(name, help);
  // Run the callback at once; otherwise CLI11 reads the environment variables of all commands.
  sub->immediate_callback();
  // The command runs later, in Run.
  sub->callback([this, command = std::move(command)] { command_ = command; });
  return sub;
}

void CommandLine::AddCommonFlags(CLI::App& command) {
  static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::kDebug},
                                                          {"info", LogLevel::kInfo},
                                                          {"warning", LogLevel::kWarning},
                                                          {"error", LogLevel::kError},
                                                          {"none", LogLevel::kNone}};
  static const std::map<std::string, ColorChoice> kColors = {{"auto", ColorChoice::kAuto},
                                                             {"always", ColorChoice::kAlways},
                                                             {"never", ColorChoice::kNever}};
  command.add_flag("--json", json_, "write JSON: results to stdout, events to stderr");
  command
      .add_option("--color", color_,
                  "auto, always or never; auto: on terminals, unless NO_COLOR is set (default: "
                  "auto)")
      ->transform(CLI::CheckedTransformer(kColors, CLI::ignore_case))
      ->option_text("WHEN");
  command
      .add_option("--log-level", log_level_, "debug, info, warning, error or none (default: error)")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case))
      ->option_text("LEVEL (Env:KERNELMILL_LOG_LEVEL)")
      ->envname("KERNELMILL_LOG_LEVEL");
  flags::AddSettingsFlag(command);
}

void CommandLine::AddStoreAddress(CLI::App& command, const char* help) {
  flags::AddIdentityFlags(command, &cluster_.identity);
  command.add_option("--store", cluster_.store, help)
      ->envname("KERNELMILL_STORE")
      ->capture_default_str();
}

void CommandLine::AddStoreFlags(CLI::App& command) {
  AddCommonFlags(command);
  AddStoreAddress(command, "the store's address, host:port");
  // The hint belongs to the command that is used, so it is set when CLI11 meets the command. The
  // addresses are read when the hint is shown, after all flags are known.
  command.preparse_callback([this](size_t) { hint_ = [this] { return StoreHint(); }; });
}

void CommandLine::AddCoordinatorAddress(CLI::App& command) {
  command.add_option("--coordinator", cluster_.coordinator, "the coordinator's address, host:port")
      ->envname("KERNELMILL_COORDINATOR")
      ->capture_default_str();
}

void CommandLine::AddCoordinatorFlags(CLI::App& command) {
  AddCommonFlags(command);
  flags::AddIdentityFlags(command, &cluster_.identity);
  AddCoordinatorAddress(command);
  command.preparse_callback([this](size_t) { hint_ = [this] { return CoordinatorHint(); }; });
}

void CommandLine::AddClusterFlags(CLI::App& command) {
  AddCommonFlags(command);
  AddCoordinatorAddress(command);
  AddStoreAddress(command, "the store's address (REAPI v2), host:port");
  command
      .add_option(
          "--reconnect-seconds", reconnect_seconds_,
          "time to try to reach a coordinator that does not answer; at most 10 seconds for\n"
          "commands that do not wait for a job")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  command.preparse_callback([this](size_t) { hint_ = [this] { return ClusterHint(); }; });
}

absl::StatusOr<std::optional<int>> CommandLine::Parse(int argc, char** argv) {
  // A settings file gives defaults, so it is read before the flags.
  RETURN_IF_ERROR(flags::ApplySettingsFile(app_, argc, argv));
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_.exit(e);  // --help, --version
    return absl::InvalidArgumentError(ExplainParseError(e.what(), argc, argv));
  }
  ConfigureLog("kernelmill", log_level_);
  cluster_.reconnect_timeout = absl::Seconds(reconnect_seconds_);
  return std::nullopt;
}

absl::StatusOr<int> CommandLine::Run(Console& console) {
  ASSIGN_OR_RETURN(cluster_.credentials, access::ChannelCredentials(cluster_.identity));
  return command_(console);
}

// Returns an error that names the wrong word and the help to read. CLI11's own message is good for
// wrong flags of a known command; for an unknown or missing command it is not.
std::string CommandLine::ExplainParseError(const std::string& found, int argc, char** argv) const {
  if (argc < 2) return "a command is required; kernelmill --help lists them";
  // A group has commands of its own, such as `store`; the next word is then one of them.
  const CLI::App* command = &app_;
  std::string help = "; see kernelmill";
  int at = 1;
  for (; command->get_require_subcommand_min() > 0; ++at) {
    const std::string written = at < argc ? argv[at] : "";
    const CLI::App* const next = FindCommand(*command, written);
    if (next == nullptr) return ExplainCommand(*command, written) + help + " --help";
    command = next;
    absl::StrAppend(&help, " ", written);
  }
  const std::string unknown = flags::FindUnknownFlag(*command, argc - at + 1, argv + at - 1);
  return absl::StrCat(unknown.empty() ? found : unknown, help, " --help");
}

// CLI11's own App::help would answer for `help`, the command that was parsed.
absl::StatusOr<std::string> CommandLine::HelpFor(const std::vector<std::string>& words) const {
  const CLI::App* command = &app_;
  std::string name = app_.get_name();
  for (const std::string& word : words) {
    const CLI::App* const next = FindCommand(*command, word);
    if (next == nullptr) return absl::InvalidArgumentError(ExplainCommand(*command, word));
    command = next;
    absl::StrAppend(&name, " ", word);
  }
  return command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
}

std::string CommandLine::Description() { return kUsage; }

std::string CommandLine::ClusterHint() const {
  return absl::StrCat("Tried the coordinator at ", cluster_.coordinator,
                      " (--coordinator, KERNELMILL_COORDINATOR) and the store at ", cluster_.store,
                      " (--store, KERNELMILL_STORE), ", TlsHint(),
                      ". `kernelmill crawl` needs no cluster.");
}

std::string CommandLine::StoreHint() const {
  return absl::StrCat("Tried the store at ", cluster_.store, " (--store, KERNELMILL_STORE), ",
                      TlsHint(), ".");
}

std::string CommandLine::CoordinatorHint() const {
  return absl::StrCat("Tried the coordinator at ", cluster_.coordinator,
                      " (--coordinator, KERNELMILL_COORDINATOR), ", TlsHint(), ".");
}

const char* CommandLine::TlsHint() const {
  const access::Identity& identity = cluster_.identity;
  if (!identity.uses_tls()) return "without TLS (--tls-ca)";
  if (identity.certificate.empty() && identity.token.empty()) {
    return "over TLS, with neither a certificate (--tls-cert, --tls-key) nor a token "
           "(--token-file)";
  }
  return "over TLS. A server that closes the connection has refused this certificate; its log has "
         "the reason";
}

namespace {

// Runs the command. An error is printed on one line; if the cluster is out of reach, a note says
// which addresses were tried.
int RunCommand(CommandLine& line, Console& console) {
  const absl::StatusOr<int> code = line.Run(console);
  if (!code.ok()) {
    const int exit_code = console.Fail(code.status());
    const std::string hint = line.Hint();
    if (exit_code == kOutOfReach && !hint.empty()) console.Note(hint);
    return exit_code;
  }
  // A result that could not be written completely, as on a full disk, must not look like success.
  const absl::Status written = console.Flush();
  return written.ok() ? *code : console.Fail(written);
}

}  // namespace

int RunProgram(int argc, char** argv, rpc::TerminationSignal& signal) {
  CommandLine line(signal);
  AddCrawl(line);
  AddJobCommands(line);
  AddDatasetCommands(line);
  AddFileCommands(line);
  AddStoreCommands(line);
  AddDevCommands(line);
  AddCoordinatorCommands(line);
  AddHelpCommands(line);
  const absl::StatusOr<std::optional<int>> ended = line.Parse(argc, argv);
  Console console(line.json(), line.color());
  if (!ended.ok()) return console.Fail(ended.status());
  if (ended->has_value()) return **ended;
  // The first signal is answered at once, also while the command is busy; the second one ends the
  // program, which loses nothing that was acknowledged.
  signal.OnSignal([&](int number) {
    if (number > 1) ::_exit(kInterrupted);
    console.ShowInterrupt(line.heeds_signal());
    if (!line.heeds_signal()) ::_exit(kInterrupted);
  });
  const int exit_code = RunCommand(line, console);
  signal.OnSignal(nullptr);
  return exit_code;
}

}  // namespace kernelmill::client
