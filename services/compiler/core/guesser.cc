#include "services/compiler/core/guesser.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/compiler/core/cuda/refusals.h"
#include "services/compiler/core/cuda/template_tries.h"
#include "services/compiler/core/cutile/refusals.h"
#include "services/compiler/core/cutile/tile_tries.h"
#include "services/compiler/core/failures.h"
#include "services/compiler/core/signature/infer.h"
#include "services/compiler/core/warp/refusals.h"

namespace kernelmill::compiler {
namespace {

class TritonGuesser : public Guesser {
 public:
  TritonGuesser(const v1::Kernel& kernel, Inference inference)
      : kernel_(kernel), inference_(std::move(inference)) {}

  std::string function() const override { return kernel_.name(); }
  const std::vector<v1::KernelSignature>& tries() const override { return inference_.tries(); }
  std::string missing() const override { return inference_.missing(); }
  void GuessAgain(size_t refused, const Refusal& refusal) override {
    inference_.GuessAgain(refused, refusal);
  }
  v1::CompileResult JudgeImport(const v1::ModuleImport& failed) const override {
    return compiler::JudgeImport(failed, {"triton"});
  }
  void JudgeFailure(const v1::KernelSignature& signature, bool compiles_elsewhere,
                    v1::CompileResult& result) const override {
    compiler::JudgeFailure(kernel_.module(), signature, compiles_elsewhere, result);
  }

 private:
  const v1::Kernel& kernel_;
  Inference inference_;
};

class CudaGuesser : public Guesser {
 public:
  explicit CudaGuesser(const v1::Kernel& kernel)
      : kernel_(kernel), tries_(cuda::MakeTemplateTries(kernel)) {}

  std::string function() const override {
    return kernel_.qualname().empty() ? kernel_.name() : kernel_.qualname();
  }
  const std::vector<v1::KernelSignature>& tries() const override { return tries_.tries; }
  std::string missing() const override { return tries_.missing; }
  void GuessAgain(size_t, const Refusal&) override {}
  v1::CompileResult JudgeImport(const v1::ModuleImport& failed) const override {
    return cuda::JudgeReading(kernel_.module(), failed);
  }
  void JudgeFailure(const v1::KernelSignature& signature, bool compiles_elsewhere,
                    v1::CompileResult& result) const override {
    cuda::JudgeRefusal(kernel_.module(), signature, compiles_elsewhere, result);
  }

 private:
  const v1::Kernel& kernel_;
  const cuda::TemplateTries tries_;
};

class WarpGuesser : public Guesser {
 public:
  explicit WarpGuesser(const v1::Kernel& kernel) : kernel_(kernel), tries_(1) {
    tries_[0].set_attempt(1);
  }

  std::string function() const override { return kernel_.name(); }
  const std::vector<v1::KernelSignature>& tries() const override { return tries_; }
  std::string missing() const override { return ""; }
  void GuessAgain(size_t, const Refusal&) override {}
  v1::CompileResult JudgeImport(const v1::ModuleImport& failed) const override {
    return compiler::JudgeImport(failed, {"'warp'", "'warp."});
  }
  void JudgeFailure(const v1::KernelSignature&, bool, v1::CompileResult& result) const override {
    warp::JudgeRefusal(result);
  }

 private:
  const v1::Kernel& kernel_;
  std::vector<v1::KernelSignature> tries_;  // one without arguments: the module has their types
};

class CutileGuesser : public Guesser {
 public:
  CutileGuesser(const v1::Kernel& kernel, cutile::TileTries tries)
      : kernel_(kernel), tries_(std::move(tries)) {}

  std::string function() const override { return kernel_.name(); }
  const std::vector<v1::KernelSignature>& tries() const override { return tries_.tries; }
  std::string missing() const override { return tries_.missing; }
  void GuessAgain(size_t, const Refusal&) override {}
  v1::CompileResult JudgeImport(const v1::ModuleImport& failed) const override {
    return compiler::JudgeImport(failed, {"'cuda.tile"});
  }
  void JudgeFailure(const v1::KernelSignature& signature, bool compiles_elsewhere,
                    v1::CompileResult& result) const override {
    cutile::JudgeRefusal(signature, compiles_elsewhere, result);
  }

 private:
  const v1::Kernel& kernel_;
  const cutile::TileTries tries_;
};

using NewFunction = absl::StatusOr<std::unique_ptr<Guesser>> (*)(const v1::Kernel&);

absl::StatusOr<std::unique_ptr<Guesser>> NewTriton(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(Inference inference, Inference::Infer(kernel));
  return std::make_unique<TritonGuesser>(kernel, std::move(inference));
}

absl::StatusOr<std::unique_ptr<Guesser>> NewCuda(const v1::Kernel& kernel) {
  return std::make_unique<CudaGuesser>(kernel);
}

absl::StatusOr<std::unique_ptr<Guesser>> NewWarp(const v1::Kernel& kernel) {
  return std::make_unique<WarpGuesser>(kernel);
}

absl::StatusOr<std::unique_ptr<Guesser>> NewCutile(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(cutile::TileTries tries, cutile::MakeTileTries(kernel));
  return std::make_unique<CutileGuesser>(kernel, std::move(tries));
}

struct CompilerGuesser {
  absl::string_view compiler;
  NewFunction make;
};

constexpr CompilerGuesser kGuessers[] = {
    {"triton", &NewTriton}, {"nvrtc", &NewCuda}, {"warp", &NewWarp}, {"cutile", &NewCutile}};

}  // namespace

absl::StatusOr<std::unique_ptr<Guesser>> NewGuesser(absl::string_view compiler,
                                                    const v1::Kernel& kernel) {
  for (const CompilerGuesser& guesser : kGuessers) {
    if (guesser.compiler == compiler) return guesser.make(kernel);
  }
  return absl::InternalError(absl::StrCat("no signatures are known for the compiler ", compiler));
}

}  // namespace kernelmill::compiler
