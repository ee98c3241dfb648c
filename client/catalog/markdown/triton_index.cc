#include "client/catalog/markdown/triton_index.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/catalog/describe/author.h"
#include "client/catalog/markdown/usage.h"
#include "common/text/safe_text.h"
#include "dataset/output/markdown.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxDescription = 900;
constexpr absl::string_view kHead =
    "# triton-index\n\nOpenly available Triton kernels, by operation: what each does, where it is, "
    "who wrote it and how it is used. Written by `kernelmill catalog`; all that it says was read "
    "from the kernels' texts, and nothing was run.\n";

// On one line, as Markdown shows it.
std::string Shown(absl::string_view text) {
  return dataset::MarkdownCell(absl::StrJoin(SafeLines(text, 2000), " "));
}

// Code in a line: backquotes cannot stand in it.
std::string Code(absl::string_view text) {
  const std::string line = absl::StrJoin(SafeLines(text, 2000), " ");
  if (absl::StrContains(line, "`")) return Shown(line);
  return absl::StrCat("`", line, "`");
}

// A sentence whose code stands between backquotes.
std::string SentenceMarkdown(absl::string_view text) {
  std::string markdown;
  bool code = false;
  for (const absl::string_view part : absl::StrSplit(text, '`')) {
    markdown += code ? Code(part) : Shown(part);
    code = !code;
  }
  return markdown;
}

std::string Capitalized(std::string text) {
  if (!text.empty()) text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  return text;
}

std::string Title(const CatalogKernel& kernel) {
  std::vector<std::string> phrases = OperationPhrases(kernel);
  if (phrases.size() > 3) phrases.resize(3);
  const std::string what = Capitalized(absl::StrJoin(phrases, ", "));
  return absl::StrCat("**", Shown(what.empty() ? kernel.name : what),
                      kernel.is_backward() ? ", backward" : "", "** ", Code(kernel.qualname));
}

// What the seed's template asks for: which operations, for which inputs.
std::string Description(const std::vector<Sentence>& sentences) {
  static constexpr absl::string_view kRules[] = {"docstring",
                                                 "comment",
                                                 "tags",
                                                 "direction",
                                                 "launcher-docstring",
                                                 "operations",
                                                 "dtypes",
                                                 "launcher-dtypes",
                                                 "masks",
                                                 "assertions",
                                                 "refusals"};
  std::string description;
  for (const Sentence& sentence : sentences) {
    if (std::find(std::begin(kRules), std::end(kRules), sentence.rule) == std::end(kRules))
      continue;
    const std::string text = SentenceMarkdown(sentence.text);
    if (description.size() + text.size() > kMaxDescription) continue;
    absl::StrAppend(&description, description.empty() ? "" : " ", text);
  }
  return description;
}

// "Triton v2.1.0+" of ">=2.1.0".
std::string TritonVersion(const CatalogKernel& kernel) {
  std::vector<std::string> parts;
  absl::string_view asked = kernel.requires_triton;
  if (!asked.empty()) {
    absl::string_view version = asked;
    const bool least = absl::ConsumePrefix(&version, ">=");
    const bool exact = !least && absl::ConsumePrefix(&version, "==");
    const bool plain = std::all_of(version.begin(), version.end(), [](char c) {
      return c == '.' || absl::ascii_isdigit(static_cast<unsigned char>(c));
    });
    std::string text = (least || exact) && plain
                           ? absl::StrCat("Triton v", version, least ? "+" : "")
                           : absl::StrCat("Triton ", Code(asked));
    parts.push_back(absl::StrCat(text, " (", Shown(kernel.requires_triton_path), ")"));
  }
  if (kernel.compile.has_value()) {
    std::vector<std::string> toolchains;
    for (const CompileResult& result : kernel.compile->results) {
      const bool known =
          std::find(toolchains.begin(), toolchains.end(), result.toolchain) != toolchains.end();
      if (result.status == "ok" && !known) toolchains.push_back(result.toolchain);
    }
    if (!toolchains.empty()) {
      parts.push_back(absl::StrCat("compiled by ", Shown(absl::StrJoin(toolchains, ", "))));
    }
  }
  return parts.empty() ? "not stated" : absl::StrJoin(parts, "; ");
}

std::string Notes(const CatalogKernel& kernel, int64_t duplicates) {
  std::vector<std::string> notes = {
      absl::StrCat("licence ", Shown(kernel.license.expression)),
      absl::StrFormat("%d lines, score %.2f", kernel.lines(), kernel.score),
      kernel.self_contained ? "module stands alone" : "module needs its repository"};
  if (kernel.autotune.has_value()) notes.emplace_back("autotuned");
  if (!kernel.features.empty()) {
    notes.push_back(absl::StrCat("uses ", Shown(absl::StrJoin(kernel.features, ", "))));
  }
  for (size_t i = 0; i < std::min<size_t>(kernel.license.adapted_from.size(), 3); ++i) {
    notes.push_back(absl::StrCat("adapted from ", Shown(kernel.license.adapted_from[i].origin)));
  }
  if (duplicates > 0)
    notes.push_back(
        absl::StrCat(duplicates, duplicates == 1 ? " copy elsewhere" : " copies elsewhere"));
  return absl::StrJoin(notes, "; ");
}

std::string Tags(const CatalogKernel& kernel) {
  return absl::StrJoin(kernel.tags, ", ", [](std::string* out, const std::string& tag) {
    absl::StrAppend(out, "\"", Shown(tag), "\"");
  });
}

std::string Line(absl::string_view key, absl::string_view markdown) {
  return markdown.empty() ? "" : absl::StrCat("- ", key, ": ", markdown, "\n");
}

// Within "<...>" nothing is escaped, so that what could end it must not stand there.
bool IsPlainUrl(absl::string_view url) {
  return !WebUrl(url).empty() && std::all_of(url.begin(), url.end(), [](char c) {
    return c > 0x20 && c < 0x7f && c != '<' && c != '>';
  });
}

std::string Place(const CatalogKernel& kernel) {
  if (IsPlainUrl(kernel.url)) return absl::StrCat("<", kernel.url, ">");
  return absl::StrCat(Shown(kernel.repository), " ", Code(kernel.path), ", lines ",
                      kernel.first_line, " to ", kernel.last_line);
}

std::string Heading(const std::string& operation) {
  return absl::StrCat("\n## ", Capitalized(TagPhrase(operation)), "\n");
}

}  // namespace

std::string MainOperation(const CatalogKernel& kernel) {
  std::string main = "other";
  for (const auto& [tag, rule] : kernel.tag_rules) {
    if (tag == "backward") continue;
    if (absl::StartsWith(rule, "name:")) return tag;
    if (main == "other") main = tag;
  }
  return main;
}

std::string TritonIndexEntry(const CatalogKernel& kernel, const std::vector<Sentence>& sentences,
                             int64_t duplicates) {
  const Author author = AuthorOf(kernel);
  const std::string by = author.name.empty()
                             ? "not known"
                             : absl::StrCat(Shown(author.name), " (", author.evidence, ")");
  const std::string usage = MinimalUsage(kernel);
  return absl::StrCat("\n", Title(kernel), "\n", Line("Link", Place(kernel)), Line("Author", by),
                      Line("Tags", Tags(kernel)), Line("Description", Description(sentences)),
                      Line("Minimal Usage", usage.empty() ? "" : Code(usage)),
                      Line("Triton Version", TritonVersion(kernel)),
                      Line("Other Notes", Notes(kernel, duplicates)));
}

void TritonIndex::Add(const CatalogKernel& kernel, const std::vector<Sentence>& sentences,
                      int64_t duplicates) {
  const bool triton = kernel.dsl == "triton" || kernel.dsl == "gluon";
  if (!triton || kernel.role == "device" || kernel.kind == "test" || kernel.kind == "broken")
    return;
  Operation& operation = operations_[MainOperation(kernel)];
  operation.entries.push_back(TritonIndexEntry(kernel, sentences, duplicates));
  operation.bytes += operation.entries.back().size();
}

std::vector<std::pair<std::string, std::string>> TritonIndex::Files() const {
  size_t bytes = kHead.size();
  for (const auto& [name, operation] : operations_) bytes += operation.bytes + name.size() + 100;
  std::string index(kHead);
  std::vector<std::pair<std::string, std::string>> files;
  if (bytes <= max_bytes_) {
    for (const auto& [name, operation] : operations_) {
      absl::StrAppend(&index, Heading(name), absl::StrJoin(operation.entries, ""));
    }
    files.emplace_back("TRITON_INDEX.md", index);
    return files;
  }
  index += "\n";
  for (const auto& [name, operation] : operations_) {
    std::vector<std::string> parts;
    for (const std::string& entry : operation.entries) {
      if (parts.empty() || parts.back().size() + entry.size() > max_bytes_) {
        parts.push_back(absl::StrCat("# triton-index\n", Heading(name)));
      }
      parts.back() += entry;
    }
    absl::StrAppend(&index, "- ", Capitalized(TagPhrase(name)), ", ", operation.entries.size(),
                    ":");
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string path =
          absl::StrCat("triton-index/", name, i == 0 ? "" : absl::StrCat("-", i + 1), ".md");
      absl::StrAppend(&index, " [", i + 1, "](", path, ")");
      files.emplace_back(path, std::move(parts[i]));
    }
    index += "\n";
  }
  files.emplace_back("TRITON_INDEX.md", index);
  return files;
}

}  // namespace kernelmill::client
