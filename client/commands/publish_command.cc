// The command publish. The Python module of the wheel does the work
// (python/kernelmill/publisher.py): the clients of Hubs and object stores are Python libraries.

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "client/commands/commands.h"
#include "client/commands/python_command.h"

namespace kernelmill::client {
namespace {

// The names are those of the parameters of kernelmill.publish().
std::string OptionsJson(const PublishOptions& options, const Console& console) {
  nlohmann::json json = {{"dataset", options.dataset},    {"destination", options.destination},
                         {"patch", options.patch},        {"delete_older", options.delete_older},
                         {"allow", options.allow},        {"json_lines", options.json_lines},
                         {"private", options.is_private}, {"discard", options.discard},
                         {"dry_run", options.dry_run},    {"json", console.json()}};
  if (!options.version.empty()) json["version"] = options.version;
  if (!options.before.empty()) json["before"] = options.before;
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::Status Publish(const PublishOptions& options, const Console& console) {
  return BecomePython("publish", "kernelmill.publisher", "module.command(sys.argv[1])",
                      OptionsJson(options, console));
}

}  // namespace kernelmill::client
