// license_scan FOLDER [REPOSITORY]: reads paths below FOLDER from stdin, one a line, and prints for
// each a line of JSON with what it says of its licence: of a licence file its text, of a source
// file its tags and its head. A head that refers to the licence file is settled by those of the
// folders above it.
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/finder.h"
#include "services/validator/core/license/tree/files.h"
#include "services/validator/core/license/words/comment_blocks.h"
#include "services/validator/core/license/words/header.h"
#include "services/validator/core/license/words/origins.h"

namespace kernelmill {
namespace {

using validator::LicenseFinding;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool IsSource(absl::string_view path) {
  for (const absl::string_view end : {".py", ".cu", ".cuh", ".hip", ".h", ".hpp", ".cpp", ".cc"}) {
    if (absl::EndsWith(path, end)) return true;
  }
  return false;
}

nlohmann::json Describe(const std::string& path, absl::string_view expression,
                        absl::string_view evidence) {
  const bool known = expression != validator::kNoAssertion;
  return {{"path", path},
          {"expression", std::string(known ? expression : "")},
          {"evidence", std::string(evidence)}};
}

// All that the file has, an aggregate's parts too: the peer does not ask what each is of.
std::string WholeOf(const LicenseFinding& finding) {
  if (!finding.license.has_value()) return validator::kNoAssertion;
  std::vector<validator::SpdxExpression> all = {*finding.license};
  for (const validator::LicensePart& part : finding.parts) {
    if (part.license.has_value()) all.push_back(*part.license);
  }
  return validator::SpdxExpression::All(std::move(all)).ToString();
}

nlohmann::json OfLicenseFile(const std::string& path, const std::string& content) {
  const LicenseFinding finding = validator::ReadLicenseFile(content);
  std::string evidence;
  for (const auto& found : finding.evidence) evidence += found.ShortDebugString() + " ";
  for (const validator::LicensePart& part : finding.parts) {
    for (const auto& found : part.evidence) evidence += found.ShortDebugString() + " ";
  }
  return Describe(path, WholeOf(finding), evidence);
}

// Returns the licence that holds for `path`, whatever says so; compare_licenses.py asks of the
// file's own words alone.
nlohmann::json WholeLicense(const v1::License& license) {
  nlohmann::json whole = {{"expression", license.expression()},
                          {"evidence", license.evidence()},
                          {"confidence", license.confidence()}};
  return whole;
}

// Nothing is the source's own here but its repository: the tree is not all there.
class NoFiles : public validator::OwnFiles {
 public:
  bool Has(absl::string_view) const override { return false; }
};

nlohmann::json Origins(const std::string& path, const std::string& content,
                       const std::string& repository) {
  nlohmann::json origins = nlohmann::json::array();
  for (const auto& one :
       validator::FindOrigins(validator::CommentsOfFile(path), content, repository, NoFiles())) {
    origins.push_back({{"line", one.line}, {"origin", one.origin}, {"whole_file", one.whole_file}});
  }
  return origins;
}

nlohmann::json OfSource(validator::LicenseFinder& finder, const std::string& path,
                        const std::string& content, const std::string& repository) {
  const validator::HeaderFindings header = validator::ReadHeader(path, content);
  const v1::License license = finder.Find(path, content);
  std::string evidence = license.evidence();
  for (const auto& found : header.evidence) evidence += " " + found.ShortDebugString();
  nlohmann::json described = header.evidence.empty()
                                 ? Describe(path, "", "says nothing")
                                 : Describe(path, license.expression(), evidence);
  described["whole"] = WholeLicense(license);
  described["origins"] = Origins(path, content, repository);
  return described;
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: license_scan FOLDER [REPOSITORY] <PATHS\n";
    return 2;
  }
  std::vector<std::string> paths;
  for (std::string line; std::getline(std::cin, line);) paths.push_back(line);
  kernelmill::v1::SourceTree tree;
  for (const std::string& path : paths) {
    if (kernelmill::IsSource(path)) continue;
    auto& file = *tree.add_license_files();
    file.set_path(path);
    file.set_content(kernelmill::ReadAll(std::string(argv[1]) + "/" + path));
  }
  kernelmill::validator::LicenseFinder finder(tree);
  for (const std::string& path : paths) {
    const std::string content = kernelmill::ReadAll(std::string(argv[1]) + "/" + path);
    std::cout << (kernelmill::IsSource(path)
                      ? kernelmill::OfSource(finder, path, content, argc == 3 ? argv[2] : "")
                      : kernelmill::OfLicenseFile(path, content))
              << "\n";
  }
}
