#include "common/flags/parser.h"

#include <CLI/CLI.hpp>

#include "common/flags/server_flags.h"

namespace kernelmill::flags {

Flag& Flag::Variable(const char* name) {
  option_->envname(name);
  return *this;
}

Flag& Flag::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Flag& Flag::Required() {
  option_->required();
  return *this;
}

Flag& Flag::Separator(char separator) {
  option_->delimiter(separator);
  return *this;
}

Flag& Flag::OneArgument() {
  option_->allow_extra_args(false);
  return *this;
}

Flag& Flag::Range(int lowest, int highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Flag& Flag::Range(int64_t lowest, int64_t highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Flag& Flag::Range(double lowest, double highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

Flag& Flag::NotNegative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Flag& Flag::Choices(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Flag& Flag::ExistingFile() {
  option_->check(CLI::ExistingFile);
  return *this;
}

Flag& Flag::ExistingFolder() {
  option_->check(CLI::ExistingDirectory);
  return *this;
}

Flag& Flag::Check(const std::function<std::string(const std::string&)>& find_problem) {
  option_->check(find_problem);
  return *this;
}

Flag& Flag::Bytes() {
  AsBytes(option_);
  return *this;
}

Parser::Parser(const std::string& description, const std::string& program)
    : app_(std::make_unique<CLI::App>(description, program)) {}

Parser::~Parser() = default;

Flag Parser::Add(const std::string& name, std::string* value, const std::string& help) {
  return Flag(app_->add_option(name, *value, help));
}

Flag Parser::Add(const std::string& name, bool* value, const std::string& help) {
  return Flag(app_->add_flag(name, *value, help));
}

Flag Parser::Add(const std::string& name, int* value, const std::string& help) {
  return Flag(app_->add_option(name, *value, help));
}

Flag Parser::Add(const std::string& name, int64_t* value, const std::string& help) {
  return Flag(app_->add_option(name, *value, help));
}

Flag Parser::Add(const std::string& name, size_t* value, const std::string& help) {
  return Flag(app_->add_option(name, *value, help));
}

Flag Parser::Add(const std::string& name, double* value, const std::string& help) {
  return Flag(app_->add_option(name, *value, help));
}

Flag Parser::Add(const std::string& name, std::vector<std::string>* values,
                 const std::string& help) {
  return Flag(app_->add_option(name, *values, help));
}

void Parser::AddCommand(const std::string& name, const std::string& help) {
  app_->add_subcommand(name, help)->fallthrough();
}

bool Parser::HasCommand(const std::string& name) const {
  return app_->get_subcommand(name)->parsed();
}

}  // namespace kernelmill::flags
