#include "common/flags/settings_file.h"

#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/words/suggestion.h"

// A settings file is YAML with the names of flags as keys. It is applied before the command line is
// parsed, by changing the options' defaults; so all checks of the options apply to it as well.
// Errors name the file, the line and the key.
namespace kernelmill::flags {
namespace {

constexpr char kFlag[] = "--config";
constexpr char kVariable[] = "KERNELMILL_CONFIG";
constexpr int64_t kMaxBytes = 1 << 20;

// Returns the file in the command line, or in the environment, or "".
std::string SettingsPath(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (word == "--") break;
    if (word == kFlag && i + 1 < argc) return argv[i + 1];
    if (absl::ConsumePrefix(&word, absl::StrCat(kFlag, "="))) return std::string(word);
  }
  const char* variable = std::getenv(kVariable);
  return variable == nullptr ? "" : variable;
}

// Adds the settings that there are: options with an environment variable, of all commands.
void ListSettings(CLI::App& app, std::vector<std::string>* known) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_envname().empty()) continue;
    known->insert(known->end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    ListSettings(*command, known);
  }
}

// Finds the options with this name, of the program and of all its commands.
void FindOptions(CLI::App& app, const std::string& name, std::vector<CLI::Option*>* found) {
  CLI::Option* option = app.get_option_no_throw("--" + name);
  if (option != nullptr && !option->get_envname().empty()) found->push_back(option);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    FindOptions(*command, name, found);
  }
}

// A setting becomes the default of the option, so that flags and environment variables still win
// over it. A list is written as CLI11 reads one: [a,b]. An option that is required is not any more,
// since it has a value. A setting applies to the options of this name of all commands.
absl::Status Apply(CLI::App& app, const std::string& key, const YAML::Node& value) {
  std::vector<CLI::Option*> options;
  FindOptions(app, key, &options);
  if (options.empty() || key == &kFlag[2]) {
    std::vector<std::string> known;
    ListSettings(app, &known);
    return absl::InvalidArgumentError(absl::StrCat("unknown setting", DidYouMean(key, known)));
  }
  std::string text;
  if (value.IsSequence()) {
    for (const YAML::Node& item : value)
      absl::StrAppend(&text, text.empty() ? "[" : ",", item.Scalar());
    text = text.empty() ? "[]" : text + "]";
  } else if (value.IsScalar()) {
    text = value.Scalar();
  } else {
    return absl::InvalidArgumentError("must be a value or a list of values");
  }
  try {
    for (CLI::Option* option : options) option->default_val(text)->required(false);
  } catch (const CLI::Error& error) {  // CLI11 throws if the value is invalid
    return absl::InvalidArgumentError(error.what());
  }
  return absl::OkStatus();
}

// An empty file is no error. Stops at the first setting that cannot be applied.
absl::Status ApplyAll(CLI::App& app, const std::string& path, const YAML::Node& root) {
  if (root.IsNull()) return absl::OkStatus();
  if (!root.IsMap()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":1: must be a map of settings"));
  }
  for (const auto& entry : root) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (const absl::Status status = Apply(app, key, entry.second); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", entry.first.Mark().line + 1, ": ", key, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddSettingsFlag(CLI::App& app) {
  static std::string unused;
  app.add_option(kFlag, unused, "YAML file with settings; keys are the flags' names")
      ->type_name("FILE")
      ->option_text(absl::StrCat("FILE (Env:", kVariable, ")"));
}

absl::Status ApplySettingsFile(CLI::App& app, int argc, const char* const* argv) {
  const std::string path = SettingsPath(argc, argv);
  if (path.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxBytes));
  try {
    return ApplyAll(app, path, YAML::Load(text));
  } catch (const YAML::Exception& error) {  // yaml-cpp throws if it is not YAML
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", error.mark.line + 1, ": ", error.msg));
  }
}

}  // namespace kernelmill::flags
