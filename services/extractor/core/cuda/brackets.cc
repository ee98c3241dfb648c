#include "services/extractor/core/cuda/brackets.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace kernelmill::extractor::cuda {
namespace {

class Matcher {
 public:
  explicit Matcher(const Code& code) : code_(code) {
    brackets_.match.assign(code.size(), kNoToken);
    opens_.push_back({kNoToken, 0, 0, 0, '\0'});
  }

  Brackets Run() {
    auto directive = code_.directives.begin();
    for (uint32_t token = 0; token < code_.size(); ++token) {
      while (directive != code_.directives.end() && directive->before <= token) {
        Follow(*directive++);
      }
      if (code_.tokens[token].kind == Token::kPunctuation) Read(token);
    }
    while (directive != code_.directives.end()) Follow(*directive++);
    std::sort(brackets_.errors.begin(), brackets_.errors.end());
    return std::move(brackets_);
  }

 private:
  // An opening bracket; the first stands for none.
  struct Open {
    uint32_t token;
    uint32_t outer;  // the bracket around it
    uint32_t brace;  // it, or the nearest '{' around it
    uint32_t depth;
    char kind;
  };

  struct Conditional {
    uint32_t at;     // the token after #if
    uint32_t start;  // the innermost open bracket there
    uint32_t first;  // and at the end of the first branch
    bool branched;   // the first branch has ended
    bool has_else;
    bool uneven;
    bool was_other;
  };

  void Read(uint32_t token) {
    const char mark = code_.tokens[token].mark;
    if (mark == '(' || mark == '[' || mark == '{') {
      Push(token, mark);
    } else if (mark == '}') {
      CloseBrace(token);
    } else if (mark == ')' || mark == ']') {
      CloseOther(token, mark == ')' ? '(' : '[');
    } else if (mark == '\0' && code_[token] == "<<<") {
      Push(token, '<');
    } else if (mark == '\0' && code_[token] == ">>>" && opens_[top_].kind == '<') {
      Pop(token);
    }
  }

  void Push(uint32_t token, char kind) {
    const auto self = static_cast<uint32_t>(opens_.size());
    const Open outer = opens_[top_];
    opens_.push_back({token, top_, kind == '{' ? self : outer.brace, outer.depth + 1, kind});
    top_ = self;
  }

  // A bracket that several branches close belongs to what the main line says, else to the first.
  void Pop(uint32_t token) {
    const uint32_t open = opens_[top_].token;
    top_ = opens_[top_].outer;
    if (other_ && brackets_.match[open] != kNoToken) return;
    brackets_.match[open] = token;
    brackets_.match[token] = open;
  }

  // '}' ends whatever was left open within its '{'.
  void CloseBrace(uint32_t token) {
    if (opens_[top_].kind != '{') brackets_.errors.push_back(token);
    top_ = opens_[top_].brace;
    if (top_ != 0) Pop(token);
  }

  void CloseOther(uint32_t token, char open) {
    const bool after_launch = opens_[top_].kind == '<' && opens_[opens_[top_].outer].kind == open;
    if (after_launch) {
      brackets_.errors.push_back(token);
      top_ = opens_[top_].outer;
    }
    if (opens_[top_].kind == open) {
      Pop(token);
    } else {
      brackets_.errors.push_back(token);
    }
  }

  void Follow(const Directive& directive) {
    if (directive.kind == Directive::kIf) {
      conditionals_.push_back({directive.before, top_, top_, false, false, false, other_});
      return;
    }
    if (conditionals_.empty()) return;
    Conditional& conditional = conditionals_.back();
    EndBranch(conditional);
    if (directive.kind != Directive::kEndif) {
      conditional.has_else |= directive.kind == Directive::kElse;
      top_ = conditional.start;
      other_ = true;
      return;
    }
    if (!conditional.has_else) Compare(conditional.start, conditional);
    if (conditional.uneven) {
      brackets_.errors.push_back(conditional.at);
      brackets_.errors.push_back(directive.before);
    }
    top_ = conditional.first;
    other_ = conditional.was_other;
    conditionals_.pop_back();
  }

  void EndBranch(Conditional& conditional) {
    if (conditional.branched) return Compare(top_, conditional);
    conditional.branched = true;
    conditional.first = top_;
  }

  void Compare(uint32_t top, Conditional& conditional) const {
    if (opens_[top].depth != opens_[conditional.first].depth) conditional.uneven = true;
  }

  const Code& code_;
  Brackets brackets_;
  std::vector<Open> opens_;
  uint32_t top_ = 0;
  std::vector<Conditional> conditionals_;
  bool other_ = false;  // in a branch that is not the first
};

}  // namespace

bool Brackets::HasErrorIn(uint32_t first, uint32_t last) const {
  const auto error = std::lower_bound(errors.begin(), errors.end(), first);
  return error != errors.end() && *error <= last;
}

Brackets MatchBrackets(const Code& code) { return Matcher(code).Run(); }

}  // namespace kernelmill::extractor::cuda
