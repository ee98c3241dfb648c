#!/usr/bin/env bash
# usage: image.sh BIN TAG
# Makes the image TAG of programs that are built already, in the folder BIN: the unchanged last part of
# deploy/docker/Dockerfile, with these programs in the place of those that its first part would build. So an image costs seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bin=$1
tag=$2
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir -p "$context/bin" "$context/deploy"
cp deploy/packages.txt deploy/packages.sh deploy/sbom.py "$context/deploy/"
mkdir "$context/share"
deploy/sbom.py built-in >"$context/share/built-in.json"
cp -r deploy/docker "$context/deploy/"
for program in kernelmill kernelmill-{store,coordinator,fetcher,extractor,compiler,validator,deduplicator}; do
  strip -o "$context/bin/$program" "$bin/$program"
done
# From the second FROM on.
{
  grep '^ARG .*BASE' deploy/docker/Dockerfile
  awk '/^FROM /{part++} part == 2' deploy/docker/Dockerfile | sed 's|^COPY --from=build /opt/kernelmill/|COPY |'
} >"$context/Dockerfile"
[[ $(grep -c '^COPY bin \|^COPY share ' "$context/Dockerfile") -eq 2 ]]
docker build --quiet --network host --build-arg "BASE_IMAGE=${BASE_IMAGE:-}" --tag "$tag" "$context" >/dev/null
echo "image.sh: $tag"
