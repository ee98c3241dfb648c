#include "services/compiler/core/guesser.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/compiler/core/cuda/refusals.h"
#include "services/compiler/core/cuda/template_tries.h"
#include "services/compiler/core/cute/cute_tries.h"
#include "services/compiler/core/cutile/tile_tries.h"
#include "services/compiler/core/failures.h"
#include "services/compiler/core/numba/numba_tries.h"
#include "services/compiler/core/pallas/pallas_tries.h"
#include "services/compiler/core/refusals/refusal_words.h"
#include "services/compiler/core/signature/infer.h"
#include "services/compiler/core/signature/tries.h"
#include "services/compiler/core/tilelang/tilelang_tries.h"

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

// Returns a kernel's name with those of the classes and namespaces around it.
std::string GetQualifiedName(const v1::Kernel& kernel) {
  return kernel.qualname().empty() ? kernel.name() : kernel.qualname();
}

class CudaGuesser : public Guesser {
 public:
  explicit CudaGuesser(const v1::Kernel& kernel)
      : kernel_(kernel), tries_(cuda::MakeTemplateTries(kernel)) {}

  std::string function() const override { return GetQualifiedName(kernel_); }
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

// A compiler without second guesses, whose refusals a table of its words judges.
class TableGuesser : public Guesser {
 public:
  TableGuesser(std::string function, const RefusalWords& words, Tries made)
      : function_(std::move(function)), words_(words), made_(std::move(made)) {}

  std::string function() const override { return function_; }
  const std::vector<v1::KernelSignature>& tries() const override { return made_.tries; }
  std::string missing() const override { return made_.missing; }
  void GuessAgain(size_t, const Refusal&) override {}
  v1::CompileResult JudgeImport(const v1::ModuleImport& failed) const override {
    return compiler::JudgeImport(failed, words_.package);
  }
  void JudgeFailure(const v1::KernelSignature& signature, bool compiles_elsewhere,
                    v1::CompileResult& result) const override {
    JudgeRefusal(words_, signature, compiles_elsewhere, result);
  }

 private:
  const std::string function_;
  const RefusalWords& words_;
  const Tries made_;
};

constexpr absl::string_view kWarpPackage[] = {"'warp'", "'warp."};
// The toolchain is used without MathDx.
constexpr RefusalWords::Missing kWarpMissing[] = {{"MathDx", "library"}, {"mathdx", "library"}};
constexpr RefusalWords kWarp = {kWarpPackage, kWarpMissing, {}};

constexpr absl::string_view kCutilePackage[] = {"'cuda.tile"};
constexpr absl::string_view kCutileNeverTaken[] = {"Module 'cuda.tile' has no attribute"};
constexpr RefusalWords kCutile = {kCutilePackage, {}, kCutileNeverTaken};

constexpr absl::string_view kCutePackage[] = {"'cutlass", "'cute"};
// The launcher's text may name what the module lacks.
constexpr RefusalWords::Missing kCuteMissing[] = {{"is not defined", "launcher"},
                                                  {"the launcher does not start", "launcher"}};
// Another launch may not come to what this version lacks, so that such a refusal is a guess's.
constexpr RefusalWords kCute = {kCutePackage, kCuteMissing, {}};

constexpr absl::string_view kNumbaPackage[] = {"'numba'", "'numba."};
// A function that a build links, and a class for which other code of its file tells numba a type.
constexpr RefusalWords::Missing kNumbaMissing[] = {{"Unresolved extern function", "library"},
                                                   {"Untyped global name", "name"}};
constexpr RefusalWords kNumba = {kNumbaPackage, kNumbaMissing, {}};

constexpr absl::string_view kJaxPackage[] = {"'jax"};
// The launcher's text may name what the module lacks, and a GPU's backend is in a package apart.
constexpr RefusalWords::Missing kJaxMissing[] = {
    {"the launcher does not start", "launcher"},
    {"Cannot lower pallas_call on platform", "library"}};
constexpr RefusalWords kJax = {kJaxPackage, kJaxMissing, {}};

constexpr absl::string_view kTilelangPackage[] = {"'tilelang", "'tvm"};
// Functions around a kernel may make it for other values only.
constexpr RefusalWords::Missing kTilelangMissing[] = {{"does not make", "function"}};
constexpr RefusalWords kTilelang = {kTilelangPackage, kTilelangMissing, {}};

using NewFunction = absl::StatusOr<std::unique_ptr<Guesser>> (*)(const v1::Kernel&);

absl::StatusOr<std::unique_ptr<Guesser>> NewTriton(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(Inference inference, Inference::Infer(kernel));
  return std::make_unique<TritonGuesser>(kernel, std::move(inference));
}

absl::StatusOr<std::unique_ptr<Guesser>> NewCuda(const v1::Kernel& kernel) {
  return std::make_unique<CudaGuesser>(kernel);
}

// One try without arguments: the module has their types.
absl::StatusOr<std::unique_ptr<Guesser>> NewWarp(const v1::Kernel& kernel) {
  Tries made;
  made.Add({});
  return std::make_unique<TableGuesser>(kernel.name(), kWarp, std::move(made));
}

absl::StatusOr<std::unique_ptr<Guesser>> NewCutile(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(Tries made, cutile::MakeTileTries(kernel));
  return std::make_unique<TableGuesser>(kernel.name(), kCutile, std::move(made));
}

absl::StatusOr<std::unique_ptr<Guesser>> NewCute(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(Tries made, cute::MakeCuteTries(kernel));
  return std::make_unique<TableGuesser>(GetQualifiedName(kernel), kCute, std::move(made));
}

absl::StatusOr<std::unique_ptr<Guesser>> NewNumba(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(Tries made, numba::MakeNumbaTries(kernel));
  return std::make_unique<TableGuesser>(kernel.name(), kNumba, std::move(made));
}

absl::StatusOr<std::unique_ptr<Guesser>> NewJax(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(Tries made, pallas::MakePallasTries(kernel));
  return std::make_unique<TableGuesser>(GetQualifiedName(kernel), kJax, std::move(made));
}

absl::StatusOr<std::unique_ptr<Guesser>> NewTilelang(const v1::Kernel& kernel) {
  ASSIGN_OR_RETURN(Tries made, tilelang::MakeTilelangTries(kernel));
  return std::make_unique<TableGuesser>(GetQualifiedName(kernel), kTilelang, std::move(made));
}

struct CompilerGuesser {
  absl::string_view compiler;
  NewFunction make;
};

constexpr CompilerGuesser kGuessers[] = {
    {"triton", &NewTriton}, {"nvrtc", &NewCuda},  {"warp", &NewWarp}, {"cutile", &NewCutile},
    {"cute", &NewCute},     {"numba", &NewNumba}, {"jax", &NewJax},   {"tilelang", &NewTilelang}};

}  // namespace

absl::StatusOr<std::unique_ptr<Guesser>> NewGuesser(absl::string_view compiler,
                                                    const v1::Kernel& kernel) {
  for (const CompilerGuesser& guesser : kGuessers) {
    if (guesser.compiler == compiler) return guesser.make(kernel);
  }
  return absl::InternalError(absl::StrCat("no signatures are known for the compiler ", compiler));
}

}  // namespace kernelmill::compiler
