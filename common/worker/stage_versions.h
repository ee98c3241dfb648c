#ifndef KERNELMILL_COMMON_WORKER_STAGE_VERSIONS_H_
#define KERNELMILL_COMMON_WORKER_STAGE_VERSIONS_H_

namespace kernelmill::worker {

// The version of every stage: one table for the coordinator, which plans with them, and the
// workers, which return them from Stage::version(). Raise one whenever the same input may give
// another output.
inline constexpr int kDiscoverVersion = 1;
inline constexpr int kPinVersion = 1;
inline constexpr int kFetchVersion = 3;
inline constexpr int kExtractVersion = 8;
inline constexpr int kLinkVersion = 6;
inline constexpr int kValidateVersion = 6;
inline constexpr int kSignVersion = 4;
inline constexpr int kPairVersion = 3;
inline constexpr int kResolveVersion = 2;
inline constexpr int kManifestVersion = 2;

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_STAGE_VERSIONS_H_
