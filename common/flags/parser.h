#ifndef KERNELMILL_COMMON_FLAGS_PARSER_H_
#define KERNELMILL_COMMON_FLAGS_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kernelmill::flags {

// A flag of a Parser; each method adds a property and returns the flag. Valid as long as the
// parser.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  Flag& Variable(const char* name);  // the environment variable that also sets it
  Flag& ShowDefault();               // in --help
  Flag& Required();
  Flag& Separator(char separator);  // between the items of a list
  Flag& OneArgument();              // a list takes the next argument only

  // Restrict the value. Check: `find_problem` returns what is wrong with a value; empty: nothing.
  Flag& Range(int lowest, int highest);
  Flag& Range(int64_t lowest, int64_t highest);
  Flag& Range(double lowest, double highest);
  Flag& NotNegative();
  Flag& Choices(const std::vector<std::string>& values);
  Flag& ExistingFile();
  Flag& ExistingFolder();
  Flag& Check(const std::function<std::string(const std::string&)>& find_problem);
  Flag& Bytes();  // 10GB, 512MiB, 4096

 private:
  CLI::Option* option_;
};

// The command line of a server program. A file that includes this header does not include CLI11,
// which costs the compiler several seconds for each file. Not thread-safe.
class Parser {
 public:
  Parser(const std::string& description, const std::string& program);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Add a flag that sets `value`, which must outlive the parser; a bool's flag takes no argument.
  Flag Add(const std::string& name, std::string* value, const std::string& help);
  Flag Add(const std::string& name, bool* value, const std::string& help);
  Flag Add(const std::string& name, int* value, const std::string& help);
  Flag Add(const std::string& name, int64_t* value, const std::string& help);
  Flag Add(const std::string& name, size_t* value, const std::string& help);
  Flag Add(const std::string& name, double* value, const std::string& help);
  Flag Add(const std::string& name, std::vector<std::string>* values, const std::string& help);

  // Adds a command, which takes the program's flags.
  void AddCommand(const std::string& name, const std::string& help);

  // Returns whether the command was given; after ParseFlags.
  bool HasCommand(const std::string& name) const;

  CLI::App& app() { return *app_; }  // for the functions of server_flags.h, such as ParseFlags

 private:
  const std::unique_ptr<CLI::App> app_;
};

}  // namespace kernelmill::flags

#endif  // KERNELMILL_COMMON_FLAGS_PARSER_H_
