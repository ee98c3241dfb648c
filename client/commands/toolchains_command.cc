#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/console/format.h"
#include "common/toolchains/toolchains.h"
#include "services/compiler/server/local_compiler.h"

namespace kernelmill::client {

absl::StatusOr<int> ListToolchains(const std::string& folder, Console& console) {
  nlohmann::ordered_json object = {{"folder", folder},
                                   {"toolchains", nlohmann::ordered_json::array()}};
  std::string text;
  bool ready = true;
  for (const toolchains::PinnedToolchain& pinned : toolchains::PinnedToolchains()) {
    const auto environment = compiler::LocalToolchain(folder, pinned.name);
    ready &= environment.ok();
    object["toolchains"].push_back(
        {{"name", std::string(pinned.name)},
         {"triton", std::string(pinned.triton)},
         {"python", std::string(pinned.python)},
         {"requirements_sha256", std::string(pinned.requirements_sha256)},
         {"installed", environment.ok()}});
    absl::StrAppend(&text, pinned.name, "  ",
                    environment.ok() ? *environment : std::string(environment.status().message()),
                    "\n");
  }
  const absl::Status sandbox = compiler::CheckLocalSandbox();
  ready &= sandbox.ok();
  object["sandbox"] = {{"ok", sandbox.ok()}, {"error", std::string(sandbox.message())}};
  absl::StrAppend(&text, "sandbox  ",
                  sandbox.ok() ? "this machine can confine compilers" : sandbox.message(), "\n");
  console.Result(console.json() ? JsonLine(object) : text);
  return ready ? kDone : kInputsFailed;
}

}  // namespace kernelmill::client
