#include "dataset/analysis/provenance.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "common/text/safe_text.h"
#include "dataset/output/markdown.h"

// Collects, source by source, what PROVENANCE.md says: how many kernels and tokens come from where,
// under which licences, who holds the copyright, and the texts that licences ask to be passed on.
// The calls come in the order of the walk: StartSource, then kernels, files and texts of this
// source.
namespace kernelmill::dataset {
namespace {

std::string SharePercent(int64_t part, int64_t whole) {
  if (whole == 0) return "";
  return absl::StrFormat("%.2f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

// Returns a Markdown link, or only the text if the link is not a plain https one. Strangers write
// the link; a parenthesis in it would end the Markdown link early.
std::string Link(const std::string& text, const std::string& link) {
  if (!absl::StartsWith(link, "https://") || absl::StrContains(link, ')'))
    return MarkdownCell(text);
  return absl::StrCat("[", MarkdownCell(text), "](", link, ")");
}

std::string Day(int64_t seconds) {
  return seconds == 0
             ? ""
             : absl::FormatTime("%Y-%m-%d", absl::FromUnixSeconds(seconds), absl::UTCTimeZone());
}

// Returns the text between fences that are longer than any fence in it.
std::string Fenced(absl::string_view text) {
  std::string fence = "```";
  while (absl::StrContains(text, fence)) fence += '`';
  return absl::StrCat(fence, "text\n", SafeText(text), absl::EndsWith(text, "\n") ? "" : "\n",
                      fence, "\n");
}

// Formats licences as "MIT (3), Apache-2.0 (1)".
std::string Counted(const std::map<std::string, int64_t>& licenses) {
  std::string text;
  for (const auto& [expression, count] : licenses) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", MarkdownCell(expression), " (", count, ")");
  }
  return text;
}

// Returns the heading of a text, which sources link to.
std::string TextName(const std::string& sha256) {
  return absl::StrCat("text-", sha256.substr(0, 12));
}

}  // namespace

void Provenance::StartSource(const Source& source) {
  entries_.emplace_back();
  entries_.back().source = source;
}

void Provenance::AddKernel(const v1::License& license, int64_t tokens) {
  Entry& entry = entries_.back();
  ++entry.kernels;
  entry.tokens += tokens;
  ++entry.licenses[license.expression()];
  for (const std::string& line : license.copyrights()) entry.copyrights.insert(ToUtf8(line));
}

// Whole files count apart from kernels, but their copyright holders are named together.
void Provenance::AddWholeFile(const v1::License& license) {
  Entry& entry = entries_.back();
  ++entry.file_licenses[license.expression()];
  for (const std::string& line : license.copyrights()) entry.copyrights.insert(ToUtf8(line));
}

// Keeps each text once, by its hash: many sources have the same licence. Beyond kMaxTexts only the
// hash is kept.
void Provenance::AddText(const v1::SourceFile& file, const std::string& link) {
  const std::string sha256 = Sha256Hex(file.content());
  entries_.back().files.push_back({ToUtf8(file.path()), link, sha256});
  if (texts_.size() < kMaxTexts) texts_.try_emplace(sha256, ToUtf8(file.content()));
}

// Makes a table of all sources, then a section for each source with kernels, then the texts that
// the sections link to.
std::string Provenance::Markdown(absl::string_view name, absl::string_view dataset) const {
  int64_t kernels = 0, tokens = 0;
  for (const Entry& entry : entries_) {
    kernels += entry.kernels;
    tokens += entry.tokens;
  }
  std::string text = absl::StrCat(
      "# ", MarkdownCell(name), ": where it comes from\n\nDataset `", dataset, "`, ", kernels,
      " kernels. Each row of it names repository, commit, path and lines, its licence with the "
      "evidence, and the copyright holders. Shares are of the kernels and of their tokens.\n\n",
      "| source | commit | of | category | kernels | share | tokens | share | licences |\n",
      "|---|---|---|---|---:|---:|---:|---:|---|\n");
  for (const Entry& entry : entries_) {
    const std::string licenses = Counted(entry.licenses);
    const Source& source = entry.source;
    absl::StrAppend(&text, "| ", Link(source.repository, source.url), " | `",
                    source.commit.substr(0, 12), "` | ", Day(source.commit_time), " | ",
                    MarkdownCell(source.category), " | ",
                    source.holdout ? "holdout" : absl::StrCat(entry.kernels), " | ",
                    SharePercent(entry.kernels, kernels), " | ", entry.tokens, " | ",
                    SharePercent(entry.tokens, tokens), " | ", licenses, " |\n");
  }
  for (const Entry& entry : entries_) {
    if (entry.kernels == 0 && entry.file_licenses.empty()) continue;
    absl::StrAppend(&text, "\n## ", MarkdownCell(entry.source.repository), "\n\nCommit `",
                    entry.source.commit, "`.\n");
    if (entry.source.hash_computed) {
      absl::StrAppend(&text,
                      "\nThe package index gave no hash for this wheel: this one was computed from "
                      "the file that it served.\n");
    }
    if (!entry.file_licenses.empty()) {
      absl::StrAppend(&text, "\nWhole files, by licence: ", Counted(entry.file_licenses), ".\n");
    }
    if (!entry.copyrights.empty()) {
      absl::StrAppend(&text, "\nCopyright holders, as the files say it:\n\n");
      for (const std::string& line : entry.copyrights)
        absl::StrAppend(&text, "- ", MarkdownCell(line), "\n");
    }
    if (!entry.files.empty()) absl::StrAppend(&text, "\nLicences and notices:\n\n");
    for (const File& file : entry.files) {
      absl::StrAppend(&text, "- ", Link(file.path, file.link), ": ",
                      texts_.contains(file.sha256) ? absl::StrCat("[", TextName(file.sha256), "](#",
                                                                  TextName(file.sha256), ")")
                                                   : std::string("in notices.jsonl"),
                      "\n");
    }
  }
  if (!texts_.empty()) absl::StrAppend(&text, "\n# Texts\n");
  for (const auto& [sha256, content] : texts_) {
    absl::StrAppend(&text, "\n## ", TextName(sha256), "\n\n", Fenced(content));
  }
  return text;
}

}  // namespace kernelmill::dataset
