// chaos_client: the tests' own gRPC client. See commands.h.
#include <cstdio>
#include <map>
#include <string>

#include "common/base/log.h"
#include "tests/chaos/client/commands.h"

int main(int argc, char** argv) {
  using namespace kernelmill::chaos;
  kernelmill::ConfigureLog("chaos_client", kernelmill::LogLevel::kNone);
  struct Command {
    int (*run)(const Words&);
    size_t words;  // at least
  };
  const std::map<std::string, Command> commands = {
      {"health", {Health, 2}}, {"put", {Put, 4}},
      {"check", {Check, 4}},   {"missing", {Missing, 4}},
      {"guess", {Guess, 3}},   {"hostile", {Hostile, 2}},
      {"stall", {Stall, 2}},   {"work-proxy", {WorkProxy, 3}},
      {"forge", {Forge, 5}},   {"storm", {Storm, 6}}};
  const Words words(argv + 1, argv + argc);
  const auto command = commands.find(words.empty() ? "" : words.front());
  if (command == commands.end() || words.size() < command->second.words + 1) {
    std::fprintf(stderr, "chaos_client: see commands.h\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // tests read the lines as they come
  return command->second.run({words.begin() + 1, words.end()});
}
