#include "client/catalog/pages/get_again.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

// A word of a shell's that stands for the very text.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

bool IsPlain(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f;
  });
}

// Where forges that have files by themselves have them.
std::string RawUrl(const CatalogKernel& kernel) {
  const absl::string_view url = absl::StripSuffix(kernel.repository_url, ".git");
  const std::string path = PercentEncoded(kernel.path, kUnreservedInPath);
  if (absl::StartsWith(url, "https://github.com/")) {
    return absl::StrCat(url, "/raw/", kernel.commit, "/", path);
  }
  if (absl::StartsWith(url, "https://gitlab.")) {
    return absl::StrCat(url, "/-/raw/", kernel.commit, "/", path);
  }
  return "";
}

}  // namespace

std::string GetAgainCommands(const CatalogKernel& kernel) {
  if (WebUrl(kernel.repository_url).empty() || !IsHex(kernel.commit, 40) || !IsPlain(kernel.path) ||
      !IsPlain(kernel.repository_url)) {
    return "";
  }
  const std::string file = absl::StrCat("./", BaseName(kernel.path));
  const std::string raw = RawUrl(kernel);
  std::string commands =
      raw.empty()
          ? absl::StrCat(
                "git init -q kernel && git -C kernel fetch -q --depth 1 ",
                Quoted(kernel.repository_url), " ", kernel.commit, "\n", "git -C kernel show ",
                Quoted(absl::StrCat(kernel.commit, ":", kernel.path)), " > ", Quoted(file), "\n")
          : absl::StrCat("curl -fL -o ", Quoted(file), " ", Quoted(raw), "\n");
  if (kernel.json_pointer.empty()) {
    absl::StrAppend(&commands, "sed -n '", kernel.first_line, ",", kernel.last_line, "p' ",
                    Quoted(file), "\n");
  }
  return commands;
}

}  // namespace kernelmill::client
