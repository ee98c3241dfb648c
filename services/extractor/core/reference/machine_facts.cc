#include "services/extractor/core/reference/machine_facts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "common/code/python.h"
#include "services/extractor/core/link/source_scope.h"
#include "services/extractor/core/link/statements.h"

namespace kernelmill::extractor {
namespace {

using code::Token;

// The answer to what the last member of a chain asks.
enum class Fact { kNone, kDevice, kVendor, kSupported };

bool IsAnyOf(absl::string_view word, absl::Span<const absl::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Finds what a chain of members asks: runtime.device.name.
Fact FindFact(absl::string_view chain) {
  static constexpr absl::string_view kDevice[] = {"device_name", "device_type"};
  static constexpr absl::string_view kVerbs[] = {"support", "supports", "supported", "enabled",
                                                 "is",      "has",      "enable"};
  static constexpr absl::string_view kTypes[] = {"fp64",    "float64", "double",   "fp16",
                                                 "float16", "bf16",    "bfloat16", "int64"};
  const std::vector<std::string> parts = absl::StrSplit(absl::AsciiStrToLower(chain), '.');
  if (parts.size() < 2) return Fact::kNone;
  const std::string& last = parts.back();
  const bool of_device = parts[parts.size() - 2] == "device";
  if (IsAnyOf(last, kDevice) || (of_device && (last == "name" || last == "type")))
    return Fact::kDevice;
  if (last == "vendor_name") return Fact::kVendor;
  bool verb = false;
  bool type = false;
  for (const absl::string_view word : absl::StrSplit(last, '_')) {
    verb |= IsAnyOf(word, kVerbs);
    type |= IsAnyOf(word, kTypes);
  }
  return verb && type ? Fact::kSupported : Fact::kNone;
}

constexpr size_t kMaxFactText = 256;

// Returns the chain of members that a constant's value is; empty for any other definition.
std::string ReadChain(const v1::Definition& definition) {
  const bool one = definition.kind() == v1::Definition::KIND_CONSTANT &&
                   definition.names_size() == 1 && definition.string_begin() == 0 &&
                   definition.text().size() <= kMaxFactText;
  if (!one) return "";
  const Tokens tokens = LexCode(definition.text());
  size_t at = 2;
  if (tokens.size() < 5 || tokens[0].text != definition.names(0) || !Is(tokens, 1, "=")) return "";
  const bool by_name = Is(tokens, at, "getattr") && Is(tokens, at + 1, "(");
  if (by_name) at += 2;
  std::string chain;
  for (; at < tokens.size() && tokens[at].kind == Token::kName; at += 2) {
    absl::StrAppend(&chain, chain.empty() ? "" : ".", tokens[at].text);
    if (!Is(tokens, at + 1, ".")) {
      ++at;
      break;
    }
  }
  if (chain.empty() || !by_name) return at == tokens.size() ? chain : "";
  const bool literal =
      Is(tokens, at, ",") && at + 1 < tokens.size() && tokens[at + 1].kind == Token::kString;
  // Nothing may follow the call.
  const auto closes = [](const Token& token) { return token.text == ")"; };
  if (!literal || std::find_if(tokens.begin(), tokens.end(), closes) != tokens.end() - 1) return "";
  return absl::StrCat(chain, ".", code::PythonStringContent(tokens[at + 1].text));
}

constexpr absl::string_view kDeviceText = "\"cuda\" if torch.cuda.is_available() else \"cpu\"";

// Returns whether a file has what a value needs.
bool CanBe(absl::string_view value, const TextDefinitions& text) {
  const auto torch = text.importable.find("torch");
  return value != kDeviceText ||
         (torch != text.importable.end() && IsImport(*torch->second.front()));
}

// Returns the text that states a fact; empty if the definition's file cannot state it.
std::string Write(Fact fact, const TextDefinitions& text) {
  if (fact == Fact::kVendor) return "\"nvidia\"";
  if (fact == Fact::kSupported) return "True";
  return CanBe(kDeviceText, text) ? std::string(kDeviceText) : "";
}

// Restates the constants of a source.
class Restater {
 public:
  Restater(std::vector<v1::Definition>& definitions, const ImportPaths& paths)
      : definitions_(definitions), scope_(definitions, paths) {}

  // Restates a constant by the answer to what it asks.
  void State(size_t at, const std::string& chain) {
    const Origin* origin = FindOpen(at);
    if (origin == nullptr) return;
    const std::string value = Write(FindFact(chain), *origin->text);
    if (!value.empty()) Set(at, *origin, value, chain);
  }

  // Restates a constant that only hands on one that was restated: device = lib.device. One module
  // cannot have both if they have one name.
  bool HandOn(size_t at, const std::string& chain) {
    const Origin* origin = FindOpen(at);
    if (origin == nullptr || restated_.contains(origin->key)) return false;
    const Origin* value = scope_.Find(*origin->text, chain);
    const auto found = value == nullptr ? restated_.end() : restated_.find(value->key);
    if (found == restated_.end() || !CanBe(found->second, *origin->text)) return false;
    Set(at, *origin, std::string(found->second), chain);
    return true;
  }

 private:
  // Returns the origin of the only name that a definition binds; null if its value can be had.
  const Origin* FindOpen(size_t at) {
    const v1::Definition& definition = definitions_[at];
    const TextDefinitions& text = scope_.GetDefinitions(definition.path(), 0);
    const Origin* origin = scope_.Find(text, definition.names(0));
    const bool own = origin != nullptr && origin->text == &text && !scope_.Closes(*origin);
    return own ? origin : nullptr;
  }

  void Set(size_t at, const Origin& origin, const std::string& value, const std::string& chain) {
    v1::Definition& definition = definitions_[at];
    definition.set_text(absl::StrCat(definition.names(0), " = ", value, "  # ", chain, "\n"));
    definition.clear_uses();
    if (value == kDeviceText) definition.add_uses("torch");
    restated_[origin.key] = value;
  }

  std::vector<v1::Definition>& definitions_;
  SourceScope scope_;                                       // before any was restated
  absl::flat_hash_map<std::string, std::string> restated_;  // values by Origin.key
};

}  // namespace

std::vector<v1::Definition> StateMachineFacts(std::vector<v1::Definition> definitions,
                                              const ImportPaths& paths) {
  std::vector<std::pair<size_t, std::string>> facts;
  std::vector<std::pair<size_t, std::string>> others;
  for (size_t i = 0; i < definitions.size(); ++i) {
    std::string chain = ReadChain(definitions[i]);
    if (chain.empty()) continue;
    (FindFact(chain) == Fact::kNone ? others : facts).emplace_back(i, std::move(chain));
  }
  if (facts.empty()) return definitions;
  Restater restater(definitions, paths);
  for (const auto& [at, chain] : facts) restater.State(at, chain);
  for (bool more = true; more;) {
    more = false;
    for (const auto& [at, chain] : others) more |= restater.HandOn(at, chain);
  }
  return definitions;
}

}  // namespace kernelmill::extractor
