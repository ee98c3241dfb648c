// The commands that start a cluster on this machine, and that show one in a browser.

#include <memory>
#include <string>
#include <vector>

#include "client/commands/commands.h"
#include "client/program/command_line.h"
#include "common/toolchains/toolchains.h"

namespace kernelmill::client {
namespace {

void AddDev(CommandLine& line) {
  const auto options = std::make_shared<DevOptions>();
  options->data_dir = DefaultDataDir() + "/dev";
  CLI::App* sub = line.Add(
      "dev", "start a cluster on this machine, with a page of its jobs",
      [&line, options](Console& console) { return Dev(*options, line.signal(), console); });
  TakesFolder(
      sub->add_option("--data", options->data_dir, "folder of the store, the jobs and the logs"))
      ->capture_default_str();
  sub->add_option(
         "--first-port", options->first_port,
         "port of the coordinator; the store has the next one, and so on, and metrics 1000 more")
      ->check(CLI::Range(1024, 64'000))
      ->capture_default_str();
  sub->add_option("--page-port", options->page_port, "port of the page of jobs")
      ->check(CLI::Range(0, 65'535))
      ->capture_default_str();
  sub->add_option("--slots", options->slots, "tasks that each worker runs at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  sub->add_option("--allow-local", options->allow_local,
                  "folder of this machine that sources may be in; may be repeated")
      ->check(CLI::ExistingDirectory)
      ->option_text("DIR");
  sub->add_flag("--compiler", options->compiler,
                "start a compiler, too; it needs what kernelmill toolchains --install installs");
  const auto devices = toolchains::RunDevices();
  sub->add_option("--runner", options->runner,
                  "start a runner of this device, too; KERNELMILL_PYTHON names its Python")
      ->check(CLI::IsMember(std::vector<std::string>(devices.begin(), devices.end())))
      ->option_text("DEVICE");
  line.AddCommonFlags(*sub);
}

void AddPage(CommandLine& line) {
  const auto listen = std::make_shared<std::string>("127.0.0.1:7080");
  CLI::App* sub = line.Add("page", "serve a page of a cluster's jobs and workers",
                           [&line, listen](Console& console) {
                             return Page(line.cluster(), *listen, line.signal(), console);
                           });
  sub->add_option("--listen", *listen, "address of the page; everybody who reaches it may read it")
      ->capture_default_str();
  line.AddClusterFlags(*sub);
}

}  // namespace

void AddDevCommands(CommandLine& line) {
  AddDev(line);
  AddPage(line);
}

}  // namespace kernelmill::client
