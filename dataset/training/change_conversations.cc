#include "dataset/training/change_conversations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/dsl/languages.h"
#include "common/text/commit_message.h"
#include "dataset/training/topic_words.h"

// Words tell if a message speaks of a kernel: those of the message beside those of the lines that
// change. Words of the kernel's name and path explain nothing. Words are compared by their
// beginnings, so that "overflows" meets "overflow". The numbers below were chosen on the histories
// of two repositories (docs/measurements.md).
namespace kernelmill::dataset {
namespace {

using absl::string_view;

constexpr size_t kMaxCodeBytes = 12 << 10;
constexpr size_t kMaxDiffBytes = 6 << 10;
constexpr size_t kMaxDetailBytes = 2 << 10;  // in a question
constexpr size_t kMaxAnswerBytes = 600;      // of details in an answer
constexpr int kMaxKernels = 8;               // that a commit changes
constexpr size_t kMaxMendedLines = 8;        // that an error explains without a message
constexpr double kMinSimilarity = 0.6;       // below, a kernel was written anew
constexpr size_t kMinTopicWords = 2;         // of a subject
constexpr size_t kMinDetailWords = 4;        // of a message with less in its subject
constexpr size_t kMinSharedWords = 2;        // of a message and the lines that it explains
constexpr size_t kWordBeginning = 6;
constexpr size_t kMinToldBytes = 16;  // shorter lines of code are in many texts by chance

using Tokens = std::vector<code::Token>;

// Returns the tokens without comments, docstrings and the commas that formatters add.
Tokens ReadCode(string_view source, code::Language language) {
  const Tokens all = code::Lex(source, language);
  Tokens kept;
  for (const code::Token& token : all) {
    if (token.kind == code::Token::kComment) continue;
    if (token.kind == code::Token::kString && token.begins_statement) continue;
    const bool closes = token.text == ")" || token.text == "]" || token.text == "}";
    if (closes && !kept.empty() && kept.back().text == ",") kept.pop_back();
    kept.push_back(token);
  }
  return kept;
}

bool SameCode(const Tokens& a, const Tokens& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const code::Token& x, const code::Token& y) { return x.text == y.text; });
}

// Returns the share of tokens that are in both, whatever their order, 0 to 1.
double GetSimilarity(const Tokens& a, const Tokens& b) {
  std::map<string_view, int> counts;
  for (const code::Token& token : a) ++counts[token.text];
  size_t both = 0;
  for (const code::Token& token : b) both += counts[token.text]-- > 0;
  return a.empty() && b.empty()
             ? 1
             : 2.0 * static_cast<double>(both) / static_cast<double>(a.size() + b.size());
}

// Returns the tokens between the brackets after the function's name. In Python without annotations,
// since a launch does not depend on them.
Tokens ReadParameters(const Tokens& tokens, string_view name, code::Language language) {
  size_t at = 0;
  while (at + 1 < tokens.size() && (tokens[at].text != name || tokens[at + 1].text != "(")) ++at;
  Tokens parameters;
  int depth = 0;
  bool annotation = false;
  for (++at; at < tokens.size(); ++at) {
    const string_view text = tokens[at].text;
    depth += text == "(" || text == "[" ? 1 : text == ")" || text == "]" ? -1 : 0;
    if (depth == 0) break;
    if (depth == 1 && language == code::Language::kPython) {
      if (text == ":") annotation = true;
      if (text == "," || text == "=") annotation = false;
    }
    if (!annotation) parameters.push_back(tokens[at]);
  }
  return parameters;
}

// Returns the axes of the grid that the kernel asks for, sorted.
std::vector<string_view> ReadGrid(const Tokens& tokens) {
  std::vector<string_view> axes;
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].text != "program_id" && tokens[i].text != "num_programs") continue;
    size_t axis = i + 2;
    if (axis + 2 < tokens.size() && tokens[axis + 1].text == "=") axis += 2;  // axis=0
    axes.push_back(tokens[axis].text);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

// Names that every reader knows.
constexpr std::array<string_view, 48> kKnownNames = {
    "False",    "None",   "True",   "abs",    "and",       "assert",    "bool",  "break",
    "continue", "def",    "dict",   "elif",   "else",      "enumerate", "float", "for",
    "from",     "gl",     "if",     "import", "in",        "int",       "is",    "isinstance",
    "jax",      "jnp",    "lambda", "len",    "libdevice", "list",      "max",   "min",
    "not",      "or",     "pass",   "pl",     "range",     "return",    "sum",   "tl",
    "torch",    "triton", "tuple",  "ttgl",   "while",     "with",      "yield", "zip"};

bool IsKnown(string_view name) {
  return std::find(kKnownNames.begin(), kKnownNames.end(), name) != kKnownNames.end();
}

// Returns the names that a text uses, without attributes.
std::set<string_view> ReadNames(const Tokens& tokens) {
  std::set<string_view> names;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool attribute = i > 0 && tokens[i - 1].text == ".";
    if (tokens[i].kind == code::Token::kName && !attribute) names.insert(tokens[i].text);
  }
  return names;
}

// Returns the names that a text gives a meaning to: targets of assignments and loops, and names of
// arguments (`mask=m`). In C only a name right before the sign is one.
std::set<string_view> ReadDefined(const Tokens& tokens, code::Language language) {
  std::set<string_view> names;
  std::vector<string_view> targets;  // names since the statement's beginning
  bool in_loop = false;
  int depth = 0;
  for (const code::Token& token : tokens) {
    if (token.begins_statement) targets.clear();
    if (token.text == "for") in_loop = true;
    if (token.text == "in") in_loop = false;
    depth += token.text == "(" || token.text == "[" || token.text == "{";
    depth -= token.text == ")" || token.text == "]" || token.text == "}";
    if (token.text == "=" && !targets.empty()) {
      const bool all = depth == 0 && language == code::Language::kPython;
      names.insert(all ? targets.begin() : targets.end() - 1, targets.end());
      targets.clear();
    }
    if (token.kind != code::Token::kName) continue;
    targets.push_back(token.text);
    if (in_loop) names.insert(token.text);
  }
  return names;
}

// Says whether code uses a name that neither it nor the shown text explains.
bool NeedsMore(const Tokens& code, const Tokens& shown, code::Language language) {
  const std::set<string_view> known = ReadNames(shown), defined = ReadDefined(code, language);
  for (const string_view name : ReadNames(code)) {
    if (!known.contains(name) && !defined.contains(name) && !IsKnown(name)) return true;
  }
  return false;
}

std::set<std::string> CutWords(const std::set<std::string>& words) {
  std::set<std::string> cut;
  for (const std::string& word : words) cut.insert(word.substr(0, kWordBeginning));
  return cut;
}

size_t CountShared(const std::set<std::string>& a, const std::set<std::string>& b) {
  return static_cast<size_t>(
      std::count_if(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); }));
}

// Returns the lines of a unified difference that have the mark, without it.
std::vector<string_view> FindLines(string_view diff, char mark) {
  std::vector<string_view> lines;
  for (const string_view line : absl::StrSplit(diff, '\n')) {
    const bool head = absl::StartsWith(line, "+++ ") || absl::StartsWith(line, "--- ");
    if (!line.empty() && line[0] == mark && !head) lines.push_back(line.substr(1));
  }
  return lines;
}

// Returns a line of a text, from 1, without the blanks around it; empty if it has no such line.
string_view GetLine(string_view text, int number) {
  const std::vector<string_view> lines = absl::StrSplit(text, '\n');
  if (number < 1 || static_cast<size_t>(number) > lines.size()) return "";
  return absl::StripAsciiWhitespace(lines[static_cast<size_t>(number) - 1]);
}

std::string Dedented(string_view source, code::Language language) {
  if (language != code::Language::kPython) return std::string(source);
  return code::DedentPython(source).value_or(std::string(source));
}

// Returns the first paragraphs of the details up to that many bytes. A block of code is whole or
// left out.
std::string CutDetails(const std::string& details, size_t most) {
  std::string kept;
  size_t whole = 0;  // the bytes before a block that is still open
  bool open = false;
  for (const string_view line : absl::StrSplit(details, '\n')) {
    if (kept.size() + line.size() > most) break;
    if (!kept.empty()) kept += '\n';
    const bool fence = absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "```");
    if (fence && !open) whole = kept.size();
    open = open != fence;
    absl::StrAppend(&kept, line);
    if (!open) whole = line.empty() || fence || kept.size() == details.size() ? kept.size() : whole;
  }
  kept.resize(whole);
  return std::string(absl::StripTrailingAsciiWhitespace(kept));
}

// Says whether a text names a request, an issue or a page: "#12", "https://...".
bool HasReference(string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '#' && absl::ascii_isdigit(static_cast<unsigned char>(text[i + 1]))) return true;
  }
  return absl::StrContains(text, "://");
}

// Returns the paragraphs before the first one with a reference: nothing in the change says which.
std::string BeforeReferences(const std::string& details) {
  std::string kept;
  for (const string_view paragraph : absl::StrSplit(details, "\n\n")) {
    if (HasReference(paragraph)) break;
    absl::StrAppend(&kept, kept.empty() ? "" : "\n\n", paragraph);
  }
  return kept;
}

// Makes a change's conversations, a template after the other.
class ChangeConversationMaker {
 public:
  explicit ChangeConversationMaker(const v1::HistoryRow& row)
      : row_(row),
        language_(dsl::GetSyntax(row.after().dsl())),
        message_(ReadCommitMessage(row.message())),
        before_(ReadCode(row.before().source(), language_)),
        after_(ReadCode(row.after().source(), language_)) {
    own_words_ = FindTopicWords(absl::StrCat(row.after().name(), " ", row.after().path()));
    shared_words_ = CountShared(CutWords(FindTopics(row.message())),
                                CutWords(FindTopicWords(FindChangedCode())));
    named_ = absl::StrContains(row.message(), row.after().name());
  }

  Conversations Run() {
    const string_view of_change = FindChangeReason();
    const string_view of_message = FindMessageReason();
    const string_view reason = of_change.empty() ? of_message : of_change;
    const bool repairs = row_.repair();
    if (repairs && (of_message.empty() || IsMended())) {
      Rewrite(kRepair, of_change, of_message.empty());
    } else if (repairs || row_.kind() == "fix") {
      Rewrite(kRepair, reason, /*tells=*/true);
    }
    if (row_.kind() == "speed" || row_.kind() == "tuning") Rewrite(kOptimise, reason, true);
    Review(reason);
    return std::move(all_);
  }

 private:
  // Returns the words that a text adds to the kernel's name and path.
  std::set<std::string> FindTopics(string_view text) const {
    std::set<std::string> topics = FindTopicWords(text);
    for (const std::string& word : own_words_) topics.erase(word);
    return topics;
  }

  // Returns the words of the lines that change. Those of comments and docstrings alone do not
  // count.
  std::string FindChangedCode() const {
    std::set<std::string> code;
    for (const Tokens* tokens : {&before_, &after_}) {
      for (const code::Token& token : *tokens) {
        for (const std::string& word : FindTopicWords(token.text)) code.insert(word);
      }
    }
    std::string changed;
    for (const char mark : {'+', '-'}) {
      for (const string_view line : FindLines(row_.diff(), mark)) {
        for (const std::string& word : FindTopicWords(line)) {
          if (code.contains(word)) absl::StrAppend(&changed, word, " ");
        }
      }
    }
    return changed;
  }

  // The places of the templates in ChangeTemplateNames().
  enum Template : uint8_t { kRepair, kOptimise, kReview };

  void Ask(Template name, std::string user, std::string assistant) {
    all_.asked.push_back(
        {ChangeTemplateNames()[name],
         absl::StrCat("You write GPU kernels in ", dsl::GetTitle(row_.after().dsl()), "."),
         std::move(user), std::move(assistant)});
  }
  void Skip(Template name, string_view reason) {
    all_.not_asked.push_back({ChangeTemplateNames()[name], reason});
  }

  // Returns why the change gives no conversation at all; empty if it may.
  string_view FindChangeReason() const {
    if (row_.merge()) return "merge";
    if (row_.kind() == "revert" || !row_.reverted_by().empty()) return "reverted";
    if (SameCode(before_, after_)) return "no_code";
    if (row_.match() == "split" || GetSimilarity(before_, after_) < kMinSimilarity) {
      return "rewritten";
    }
    return "";
  }

  // Returns why its message does not tell what changes.
  string_view FindMessageReason() const {
    const size_t subject = FindTopics(message_.subject).size();
    const size_t details = FindTopics(message_.details).size();
    if (subject < kMinTopicWords && subject + details < kMinDetailWords) return "message";
    if (row_.commit_kernels() > kMaxKernels) return "many_kernels";
    if (row_.commit_kernels() > 1 && shared_words_ == 0 && !named_) return "other_kernels";
    return "";
  }

  // Says whether so few lines change that a compiler's error tells what to do.
  bool IsMended() const {
    return std::max(FindLines(row_.diff(), '+').size(), FindLines(row_.diff(), '-').size()) <=
           kMaxMendedLines;
  }

  // Asks for the kernel after the change. `tells`: the message says what changes.
  void Rewrite(Template name, string_view reason, bool tells) {
    if (reason.empty() && name == kOptimise && !IsExplained()) reason = "unexplained";
    if (reason.empty()) reason = FindCodeReason();
    if (!reason.empty()) return Skip(name, reason);
    const string_view noun =
        row_.after().role() == v1::KERNEL_ROLE_DEVICE ? "device function" : "kernel";
    const std::string language = dsl::GetTitle(row_.after().dsl());
    const bool refused = name == kRepair && row_.repair();
    std::string text = absl::StrCat("This ", language, " ", noun,
                                    refused           ? " does not compile"
                                    : name == kRepair ? " has a fault"
                                                      : " is to be made faster",
                                    ":\n\n", FencedCode(GetShown()), "\n");
    if (refused) absl::StrAppend(&text, GetError());
    if (tells) {
      absl::StrAppend(&text, "\nThe commit that ", name == kRepair ? "mends it" : "does so",
                      " says:\n\n", message_.subject, "\n");
      const std::string details = CutDetails(message_.details, kMaxDetailBytes);
      if (!details.empty()) absl::StrAppend(&text, "\n", details, "\n");
    }
    absl::StrAppend(&text, "\nWrite `", row_.after().name(), "` anew, with its decorators.");
    Ask(name, std::move(text), FencedCode(Dedented(row_.after().source(), language_)));
  }

  // Returns what the first compiler that turns says of the code before.
  std::string GetError() const {
    const v1::HistoryRow::Turn& turn = row_.turns(0);
    const string_view line = GetLine(row_.before().module(), turn.line());
    return absl::StrCat("\n", turn.toolchain(), " refuses it for ", turn.target(),
                        line.empty() ? "" : absl::StrCat(" in the line `", line, "`"), ":\n\n",
                        Fenced(absl::StripAsciiWhitespace(turn.message()), "text"), "\n");
  }

  // Says whether a compiler refuses the code after the change, and none takes it.
  bool IsRefused() const {
    bool refused = false;
    for (const auto& result : row_.after().compile().results()) {
      if (result.status() == v1::COMPILE_STATUS_OK) return false;
      refused = refused || result.status() == v1::COMPILE_STATUS_ERROR;
    }
    return refused;
  }

  // Returns why the code after the change cannot be asked for.
  string_view FindCodeReason() const {
    if (IsRefused()) return "refused";
    const std::string shown = GetShown();
    if (shown.size() > kMaxCodeBytes || row_.after().source().size() > kMaxCodeBytes) {
      return "too_long";
    }
    if (!SameCode(ReadParameters(before_, row_.before().name(), language_),
                  ReadParameters(after_, row_.after().name(), language_)) ||
        ReadGrid(before_) != ReadGrid(after_)) {
      return "launch";
    }
    const Tokens tokens = code::Lex(shown, language_);
    if (NeedsMore(after_, tokens, language_)) return "names";
    for (const string_view line : FindLines(row_.diff(), '+')) {
      const string_view told = absl::StripAsciiWhitespace(line);
      if (told.size() >= kMinToldBytes && absl::StrContains(row_.message(), told)) return "told";
    }
    return "";
  }

  // The module where it has all that the kernel needs, before the change and after it.
  std::string GetShown() const {
    const bool whole = !row_.before().module().empty() && !row_.after().module().empty() &&
                       row_.before().module().size() <= kMaxCodeBytes;
    return whole ? std::string(row_.before().module())
                 : Dedented(row_.before().source(), language_);
  }

  void Review(string_view reason) {
    if (reason.empty()) reason = FindReviewReason();
    if (!reason.empty()) return Skip(kReview, reason);
    std::string answer = message_.subject;
    const std::string details = CutDetails(BeforeReferences(message_.details), kMaxAnswerBytes);
    if (!details.empty()) absl::StrAppend(&answer, "\n\n", details);
    Ask(kReview,
        absl::StrCat("Describe this change of the ", dsl::GetTitle(row_.after().dsl()), " kernel `",
                     row_.after().name(), "`, as the message of its commit does.\n\n",
                     Fenced(row_.diff(), "diff")),
        std::move(answer));
  }

  // Says whether the message explains the lines that change, and not others of its commit.
  bool IsExplained() const {
    return shared_words_ >= kMinSharedWords ||
           (shared_words_ > 0 && (named_ || row_.commit_kernels() == 1));
  }

  // The answer has to follow from the lines of the difference.
  string_view FindReviewReason() const {
    if (row_.diff().size() > kMaxDiffBytes) return "too_long";
    if (!IsExplained()) return "unexplained";
    const std::string diff = absl::AsciiStrToLower(row_.diff());
    if (absl::StrContains(diff, absl::AsciiStrToLower(message_.subject))) return "told";
    return "";
  }

  std::string FencedCode(string_view code) const {
    return Fenced(code, language_ == code::Language::kC ? "cuda" : "python");
  }

  const v1::HistoryRow& row_;
  const code::Language language_;
  const CommitMessage message_;
  const Tokens before_, after_;
  std::set<std::string> own_words_;  // in the kernel's name and path
  size_t shared_words_ = 0;          // in both the message and the lines that change
  bool named_ = false;               // the message names the kernel
  Conversations all_;
};

}  // namespace

const std::vector<std::string>& ChangeTemplateNames() {
  static const auto* const names = new std::vector<std::string>{"repair", "optimise", "review"};
  return *names;
}

Conversations MakeChangeConversations(const v1::HistoryRow& row) {
  return ChangeConversationMaker(row).Run();
}

}  // namespace kernelmill::dataset
