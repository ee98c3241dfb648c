// Secrets, the basic idea: a service's key has a prefix and a length that nothing else has, so a
// regular expression finds it almost without errors. A password has no form; it is found by the
// name that it is assigned to, and only if the literal looks random. RE2 takes time linear in the
// text whatever the expression, which matters for texts of strangers; every repetition is bounded
// anyway.
#include "common/sensitive/sensitive.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/code/lexer.h"
#include "common/source_files/whole_files.h"

namespace kernelmill::sensitive {
namespace {

using code::Token;

constexpr char kEmail[] = "email";

struct Pattern {
  const char* kind;
  RE2 expression;  // its first group is the sensitive part
};

// Part of the name of a variable with a password.
constexpr char kPasswordName[] = "(?i:password|passwd|secret|api_?key|auth_?token|access_?token)";

// Expressions for the forms that services document for their tokens, which GitHub's and other
// secret scanners look for too.
struct SecretPatterns {
  std::vector<std::unique_ptr<Pattern>> all;
  std::unique_ptr<RE2> any_mark;  // occurs in each text with a match of any of these
};

// Hardly a text has a mark, so that one expression is searched for and not all of them.
const SecretPatterns& GetSecretPatterns() {
  static const auto& patterns = *[] {
    auto* made = new SecretPatterns;
    std::vector<const char*> marks;
    // `mark` occurs in each match.
    const auto add = [&](const char* kind, const char* mark, const std::string& expression) {
      // NOLINTNEXTLINE(modernize-make-unique): an aggregate takes no parentheses in clang 14.
      std::unique_ptr<Pattern> pattern(new Pattern{kind, RE2(expression, RE2::Latin1)});
      made->all.push_back(std::move(pattern));
      marks.push_back(mark);
    };
    add("private_key", "PRIVATE KEY-", R"((-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]+))");
    add("aws_access_key", R"(\bA[KS]IA)", R"(\b((?:AKIA|ASIA)[0-9A-Z]{16})\b)");
    add("github_token", R"(\bgh[pousr]_|\bgithub_pat_)",
        R"(\b(gh[pousr]_[0-9A-Za-z]{36,255}|github_pat_[0-9A-Za-z_]{82})\b)");
    add("gitlab_token", R"(\bglpat-)", R"(\b(glpat-[0-9A-Za-z_-]{20,}))");
    add("huggingface_token", R"(\bhf_)", R"(\b(hf_[A-Za-z]{34})\b)");
    add("openai_key", R"(\bsk-)", R"(\b(sk-(?:proj-|svcacct-|ant-)?[0-9A-Za-z_-]{32,}))");
    add("google_api_key", R"(\bAIza)", R"(\b(AIza[0-9A-Za-z_-]{35}))");
    add("slack_token", R"(\bxox[abprs]-)", R"(\b(xox[abprs]-[0-9A-Za-z-]{10,}))");
    add("stripe_key", R"(\b[rs]k_live_)", R"(\b([rs]k_live_[0-9A-Za-z]{16,}))");
    add("npm_token", R"(\bnpm_)", R"(\b(npm_[0-9A-Za-z]{36})\b)");
    add("pypi_token", R"(\bpypi-AgE)", R"(\b(pypi-AgE[0-9A-Za-z_-]{50,}))");
    add("jwt", R"(\beyJ)",
        R"(\b(eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}))");
    add("password", kPasswordName,
        absl::StrCat(R"(\b\w{0,40})", kPasswordName,
                     R"(\w{0,40}["']?\s{0,4}[:=]\s{0,4}["']([^\s"'<>{}$]{12,200})["'])"));
    made->any_mark = std::make_unique<RE2>(absl::StrJoin(marks, "|"), RE2::Latin1);
    return made;
  }();
  return patterns;
}

// A local part, "@" and a domain with a top level of letters. Longer local parts do not occur.
const RE2& EmailPattern() {
  static const auto& pattern = *new RE2(
      R"(\b([0-9A-Za-z][0-9A-Za-z._%+-]{0,63}@(?:[0-9A-Za-z][0-9A-Za-z-]*\.)+[A-Za-z]{2,24})\b)",
      RE2::Latin1);
  return pattern;
}

// Returns whether a literal looks like a secret rather than a placeholder: at least eight different
// characters and a digit.
bool LooksRandom(absl::string_view literal) {
  const std::set<char> characters(literal.begin(), literal.end());
  const bool digit =
      std::any_of(literal.begin(), literal.end(), [](char c) { return c >= '0' && c <= '9'; });
  return characters.size() >= 8 && digit;
}

// Finds secrets and addresses in one text of a kernel.
class Finder {
 public:
  Finder(v1::Sensitive::Text where, absl::string_view text, std::vector<v1::Sensitive>* found)
      : where_(where), text_(text), found_(*found) {}

  void FindSecrets() {
    const SecretPatterns& patterns = GetSecretPatterns();
    if (!RE2::PartialMatch({text_.data(), text_.size()}, *patterns.any_mark)) return;
    for (const auto& pattern : patterns.all) {
      const bool assigned = absl::string_view(pattern->kind) == "password";
      Find(pattern->expression, pattern->kind, text_,
           [&](absl::string_view match) { return !assigned || LooksRandom(match); });
    }
  }

  // Finds assignments within a JSON string of a data file, whose quotes are escaped.
  void FindEscapedSecrets() {
    static const auto& escaped =
        *new RE2(absl::StrCat(kPasswordName, R"(\w{0,40}(?:\\["'])?\s{0,4}[:=]\s{0,4})",
                              R"(\\["']([^\s"'<>{}$\\]{12,200})\\["'])"),
                 RE2::Latin1);
    Find(escaped, "password", text_, [](absl::string_view match) { return LooksRandom(match); });
  }

  // Finds addresses in comments and strings of code.
  void FindAddresses(const std::vector<Token>& tokens) {
    for (const Token& token : tokens) {
      if (token.kind != Token::kComment && token.kind != Token::kString) continue;
      if (!absl::StrContains(token.text, "@")) continue;
      FindAddressesIn(token.text);
    }
  }

  void FindAddressesIn(absl::string_view part) {
    Find(EmailPattern(), kEmail, part, [](absl::string_view) { return true; });
  }

 private:
  // Adds the matches that `accept` agrees to. `in` is a part of text_; offsets are those in text_.
  template <typename Accept>
  void Find(const RE2& expression, const char* kind, absl::string_view in, Accept accept) {
    re2::StringPiece rest(in.data(), in.size());
    re2::StringPiece match;
    while (found_.size() < kMaxSensitive && RE2::FindAndConsume(&rest, expression, &match)) {
      if (!accept(absl::string_view(match.data(), match.size()))) continue;
      v1::Sensitive& finding = found_.emplace_back();
      finding.set_kind(kind);
      finding.set_text(where_);
      finding.set_begin(match.data() - text_.data());
      finding.set_size(static_cast<int64_t>(match.size()));
    }
  }

  const v1::Sensitive::Text where_;
  const absl::string_view text_;
  std::vector<v1::Sensitive>& found_;
};

}  // namespace

std::vector<v1::Sensitive> FindSensitive(const v1::Kernel& kernel) {
  std::vector<v1::Sensitive> found;
  const bool prose = kernel.form() == v1::KERNEL_FORM_FILE &&
                     !source_files::IsLexed(source_files::LanguageOfFile(kernel.path()));
  const auto find = [&](v1::Sensitive::Text where, absl::string_view text) {
    Finder finder(where, text, &found);
    finder.FindSecrets();
    if (prose) finder.FindEscapedSecrets();
    if (!absl::StrContains(text, "@")) return;
    if (prose) return finder.FindAddressesIn(text);
    finder.FindAddresses(code::Lex(text, source_files::LexedAs(kernel)));
  };
  find(v1::Sensitive::TEXT_SOURCE, kernel.source());
  find(v1::Sensitive::TEXT_MODULE, kernel.module());
  find(v1::Sensitive::TEXT_LAUNCHER, kernel.launcher().text());
  std::sort(found.begin(), found.end(), [](const v1::Sensitive& a, const v1::Sensitive& b) {
    return std::make_tuple(a.text(), a.begin(), a.kind()) <
           std::make_tuple(b.text(), b.begin(), b.kind());
  });
  return found;
}

}  // namespace kernelmill::sensitive
