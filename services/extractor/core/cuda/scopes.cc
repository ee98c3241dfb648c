#include "services/extractor/core/cuda/scopes.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor::cuda {
namespace {

// A hostile file could otherwise make names of any length.
constexpr size_t kMaxQualifiedName = 512;

}  // namespace

Scopes::Scopes() { scopes_.push_back({kDeclarations, kNoToken, 0, kNoToken, ""}); }

void Scopes::Enter(Kind kind, uint32_t last, std::string name, uint32_t function) {
  const auto self = static_cast<uint32_t>(scopes_.size());
  if (kind == kBody && !WithinBody()) outermost_body_ = self;
  const uint32_t named = name.empty() ? scopes_.back().named : self;
  scopes_.push_back({kind, last, named, function, std::move(name)});
}

bool Scopes::LeaveUpTo(uint32_t token) {
  while (scopes_.back().last <= token) scopes_.pop_back();
  if (!WithinBody() || outermost_body_ < scopes_.size()) return false;
  outermost_body_ = 0;
  return true;
}

std::string Scopes::Qualify(absl::string_view name) const {
  std::vector<absl::string_view> names = {name};
  size_t size = name.size();
  for (uint32_t at = scopes_.back().named; at != 0; at = scopes_[at - 1].named) {
    size += scopes_[at].name.size() + 2;
    if (size > kMaxQualifiedName) break;
    names.push_back(scopes_[at].name);
  }
  std::string joined;
  for (auto part = names.rbegin(); part != names.rend(); ++part) {
    absl::StrAppend(&joined, joined.empty() ? "" : "::", *part);
  }
  return joined;
}

}  // namespace kernelmill::extractor::cuda
