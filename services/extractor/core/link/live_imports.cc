#include "services/extractor/core/link/live_imports.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/code/brackets.h"
#include "common/python/module_paths.h"
#include "services/extractor/core/link/statements.h"

namespace kernelmill::extractor {
namespace {

using code::Token;

// Bounds the recursion into blocks. All imports of deeper blocks are needed.
constexpr int kMaxDepth = 50;

// Tokens [begin, end).
struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// An import statement.
struct Import {
  std::vector<std::string> modules;
  std::vector<std::string> names;  // that it binds
  bool members = false;            // from m import x: x may be absent
};

// Reads the imports of a text; see LiveImports. Blocks are told apart by the columns of their
// statements.
class Reader {
 public:
  Reader(absl::string_view text, LiveImports& found) : tokens_(LexCode(text)), found_(found) {
    columns_.reserve(tokens_.size());
    size_t line = 0;
    size_t end = text.find('\n');
    for (const Token& token : tokens_) {
      const auto at = static_cast<size_t>(token.text.data() - text.data());
      while (end < at) {
        line = end + 1;
        end = text.find('\n', line);
      }
      columns_.push_back(at - line);
    }
  }

  void Read() { ReadStatements({0, tokens_.size()}, 0); }

 private:
  // Reads the statements of a span, also those in its blocks.
  void ReadStatements(Span span, int depth) {
    for (size_t at = span.begin; at < span.end;) {
      const size_t end = std::min(EndOfStatement(tokens_, at), span.end);
      if (Is(tokens_, at, "try") && Is(tokens_, at + 1, ":") && depth < kMaxDepth) {
        at = ReadTry(at, span.end, depth);
        continue;
      }
      if (IsImportAt(at)) Need(ImportAt(at, end));
      // An import on the line of its block's head: if x: import y.
      for (size_t inner = at + 1; !IsImportAt(at) && inner < end; ++inner) {
        if (tokens_[inner - 1].text == ":" && IsImportAt(inner)) Need(ImportAt(inner, end));
      }
      at = end;
    }
  }

  bool IsImportAt(size_t at) const { return Is(tokens_, at, "import") || Is(tokens_, at, "from"); }

  // Notes that the modules of an import have to be there.
  void Need(const Import& import) {
    found_.needed.insert(found_.needed.end(), import.modules.begin(), import.modules.end());
  }

  // Returns the token after the clause whose head is at `at`. Its block's statements are further to
  // the right than the head.
  size_t EndOfClause(size_t at, size_t end) const {
    size_t next = EndOfStatement(tokens_, at);
    while (next < end && (columns_[next] > columns_[at] || tokens_[next - 1].text == ";")) {
      next = EndOfStatement(tokens_, next);
    }
    return std::min(next, end);
  }

  // Returns the block of a clause: all after the colon of its head.
  Span FindBlock(size_t at, size_t end) const {
    const size_t colon = code::FindOutsideBrackets(tokens_, at, end, ":");
    return {std::min(colon + 1, end), end};
  }

  // Returns whether the handler catches an ImportError.
  bool Catches(size_t at, size_t end) const {
    const size_t colon = FindBlock(at, end).begin;
    if (colon == at + 2) return true;  // except:
    for (size_t i = at + 1; i < colon; ++i) {
      for (absl::string_view name :
           {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}) {
        if (tokens_[i].text == name) return true;
      }
    }
    return false;
  }

  // Reads a try statement with all its clauses. Returns the token after it.
  size_t ReadTry(size_t at, size_t end, int depth) {
    const size_t column = columns_[at];
    std::vector<Span> handlers;
    std::vector<Span> others;  // else, finally
    size_t next = EndOfClause(at, end);
    const Span body = FindBlock(at, next);
    bool guards = false;
    while (next < end && columns_[next] == column &&
           (Is(tokens_, next, "except") || Is(tokens_, next, "else") ||
            Is(tokens_, next, "finally"))) {
      const size_t clause = next;
      next = EndOfClause(clause, end);
      const bool handler = Is(tokens_, clause, "except");
      guards |= handler && Catches(clause, next);
      (handler ? handlers : others).push_back(FindBlock(clause, next));
    }
    guards &= std::none_of(handlers.begin(), handlers.end(),
                           [this](const Span& handler) { return Raises(handler); });
    const size_t failing = guards ? FirstAbsent(body) : body.end;
    if (failing < body.end) {
      Lose({failing, body.end}, handlers);
    } else {
      ReadStatements(body, depth + 1);
    }
    const bool dead = guards && failing == body.end && CannotFail(body);
    for (const Span& handler : handlers) {
      if (!dead) ReadStatements(handler, depth + 1);
    }
    for (const Span& other : others) ReadStatements(other, depth + 1);
    return next;
  }

  // A handler that raises is no fallback: its try statement needs all its imports.
  bool Raises(Span span) const {
    for (size_t at = span.begin; at < span.end; ++at) {
      if (tokens_[at].text == "raise") return true;
    }
    return false;
  }

  template <typename Visit>
  void ForImports(Span span, const Visit& visit) const {
    for (size_t at = span.begin; at < span.end; ++at) {
      if (!tokens_[at].begins_statement && at != span.begin) continue;
      if (IsImportAt(at)) visit(at, ImportAt(at, std::min(EndOfStatement(tokens_, at), span.end)));
    }
  }

  // Returns the first import of a module that is not at hand; the span's end if all are.
  size_t FirstAbsent(Span span) const {
    size_t found = span.end;
    ForImports(span, [&](size_t at, const Import& import) {
      const bool absent = std::any_of(import.modules.begin(), import.modules.end(),
                                      [](const std::string& module) { return !IsAtHand(module); });
      if (absent) found = std::min(found, at);
    });
    return found;
  }

  // Returns whether the span imports anything, and only whole modules.
  bool CannotFail(Span span) const {
    bool any = false;
    bool members = false;
    ForImports(span, [&](size_t, const Import& import) {
      any = true;
      members |= import.members;
    });
    return any && !members;
  }

  // Marks the names that a span binds as lost, except those that every handler binds.
  void Lose(Span span, const std::vector<Span>& handlers) {
    for (const std::string& name : Bound(span, /*to_none=*/true)) {
      const bool kept = std::all_of(handlers.begin(), handlers.end(), [&](const Span& handler) {
        return Bound(handler, /*to_none=*/false).contains(name);
      });
      if (!kept) found_.lost.insert(name);
    }
  }

  // Returns the names that statements of the span bind. `to_none` includes those assigned None.
  absl::flat_hash_set<std::string> Bound(Span span, bool to_none) const {
    absl::flat_hash_set<std::string> names;
    ForImports(span, [&](size_t, const Import& import) {
      names.insert(import.names.begin(), import.names.end());
    });
    for (size_t at = span.begin; at < span.end; ++at) {
      const bool begins = tokens_[at].begins_statement || at == span.begin;
      if (!begins || tokens_[at].kind != Token::kName) continue;
      if ((Is(tokens_, at, "def") || Is(tokens_, at, "class")) && at + 1 < span.end) {
        names.emplace(tokens_[at + 1].text);
      } else if (Is(tokens_, at + 1, "=") && (to_none || !Is(tokens_, at + 2, "None"))) {
        names.emplace(tokens_[at].text);
      }
    }
    return names;
  }

  // Reads the import statement of tokens [at, end).
  Import ImportAt(size_t at, size_t end) const {
    Import import;
    import.members = Is(tokens_, at, "from");
    std::string module;
    if (import.members) {
      for (++at; at < end && !Is(tokens_, at, "import"); ++at) {
        absl::StrAppend(&module, tokens_[at].text);
      }
      import.modules.push_back(module);
    }
    ++at;
    while (at < end) {
      std::string dotted;
      absl::string_view name;
      for (; at < end && !Is(tokens_, at, ",") && !Is(tokens_, at, "as"); ++at) {
        if (code::BracketDepthChange(tokens_[at].text) != 0 || Is(tokens_, at, ";")) continue;
        if (name.empty()) name = tokens_[at].text;
        absl::StrAppend(&dotted, tokens_[at].text);
      }
      if (at + 1 < end && Is(tokens_, at, "as")) {
        name = tokens_[at + 1].text;
        at += 2;
      }
      if (!name.empty()) import.names.emplace_back(name);
      if (!import.members && !dotted.empty()) import.modules.push_back(std::move(dotted));
      while (at < end && !Is(tokens_, at, ",")) ++at;
      ++at;
    }
    return import;
  }

  const Tokens tokens_;
  std::vector<size_t> columns_;
  LiveImports& found_;
};

// Only statements that need a module which is not at hand are read token by token; most definitions
// need no such module.
LiveImports ReadImports(const v1::Definition& definition) {
  LiveImports live;
  const bool all_at_hand =
      std::all_of(definition.modules().begin(), definition.modules().end(), IsAtHand);
  if (all_at_hand || definition.kind() == v1::Definition::KIND_IMPORT) {
    live.needed.assign(definition.modules().begin(), definition.modules().end());
    return live;
  }
  Reader(definition.text(), live).Read();
  std::sort(live.needed.begin(), live.needed.end());
  live.needed.erase(std::unique(live.needed.begin(), live.needed.end()), live.needed.end());
  // Names that a function binds are not bound in the module.
  if (definition.kind() != v1::Definition::KIND_CONSTANT) live.lost.clear();
  return live;
}

// Returns whether the definition loads files from its own folder.
bool LoadsFiles(const v1::Definition& definition) {
  const absl::string_view text = definition.text();
  const bool may = absl::StrContains(text, "spec_from_file_location") ||
                   absl::StrContains(text, "import_module");
  if (!may || definition.kind() == v1::Definition::KIND_IMPORT) return false;
  const Tokens tokens = LexCode(text);
  const auto has = [&tokens](absl::string_view word) {
    return std::any_of(tokens.begin(), tokens.end(), [word](const Token& token) {
      return token.kind == Token::kName && token.text == word;
    });
  };
  return has("spec_from_file_location") || (has("import_module") && has("__file__"));
}

}  // namespace

bool IsAtHand(absl::string_view module) {
  return python::IsInstalledModule(module) || module.substr(0, module.find('.')) == "packaging";
}

LiveImports FindLiveImports(const v1::Definition& definition) {
  LiveImports live = ReadImports(definition);
  if (LoadsFiles(definition)) live.needed.emplace_back(kOwnPlace);
  return live;
}

}  // namespace kernelmill::extractor
