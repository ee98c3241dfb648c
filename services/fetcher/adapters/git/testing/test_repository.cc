#include "services/fetcher/adapters/git/testing/test_repository.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/process/child_process.h"

namespace kernelmill::fetcher {

TestRepository::TestRepository() : folder_(*TempDir::Create()) {
  Git({"init", "--quiet", "--bare", "--template=", "."});
  Git({"symbolic-ref", "HEAD", "refs/heads/main"});
}

std::string TestRepository::Git(const std::vector<std::string>& arguments,
                                absl::string_view input) {
  ChildCommand command;
  command.argv = {"git"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.env = {absl::StrCat("PATH=", std::getenv("PATH")),
                 absl::StrCat("HOME=", path()),
                 "GIT_CONFIG_NOSYSTEM=1",
                 "GIT_CONFIG_GLOBAL=/dev/null",
                 "GIT_AUTHOR_NAME=a",
                 "GIT_AUTHOR_EMAIL=a@example.org",
                 "GIT_AUTHOR_DATE=1500000000 +0000",
                 "GIT_COMMITTER_NAME=c",
                 "GIT_COMMITTER_EMAIL=c@example.org",
                 "GIT_COMMITTER_DATE=1600000000 +0000"};
  command.directory = path();
  command.input = std::string(input);
  const absl::StatusOr<ChildResult> result = RunChild(command);
  if (!result.ok() || !result->ok()) {
    ADD_FAILURE() << "git " << arguments[0] << ": "
                  << (result.ok() ? result->errors : result.status().ToString());
    return "";
  }
  std::string output = result->output;
  if (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

std::string TestRepository::Blob(absl::string_view content) {
  return Git({"hash-object", "-w", "--stdin"}, content);
}

std::string TestRepository::Tree(const std::vector<Item>& items) {
  std::string tree;
  for (const Item& item : items) {
    absl::StrAppend(&tree, item.mode, " ", item.name, absl::string_view("\0", 1),
                    absl::HexStringToBytes(item.id));
  }
  return Git({"hash-object", "-w", "-t", "tree", "--literally", "--stdin"}, tree);
}

std::string TestRepository::Commit(const std::string& tree, int64_t time) {
  return Git({"hash-object", "-w", "-t", "commit", "--stdin"},
             absl::StrCat("tree ", tree, "\nauthor a <a@example.org> 1 +0000\ncommitter c ",
                          "<c@example.org> ", time, " +0200\n\nmessage\n"));
}

void TestRepository::SetRef(const std::string& ref, const std::string& id) {
  Git({"update-ref", ref, id});
}

std::string TestRepository::Tag(const std::string& name, const std::string& commit) {
  Git({"tag", "-a", "-m", "annotated", name, commit});
  return Git({"rev-parse", absl::StrCat("refs/tags/", name)});
}

std::string TestRepository::ObjectFile(const std::string& id) const {
  return absl::StrCat(path(), "/objects/", id.substr(0, 2), "/", id.substr(2));
}

}  // namespace kernelmill::fetcher
