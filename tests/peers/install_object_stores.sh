#!/usr/bin/env bash
# usage: install_object_stores.sh [FOLDER]
# Builds servers of S3's protocol (versitygw) and Google Cloud Storage's (fake-gcs-server) from their Go modules into FOLDER (default
# build/peers). Does nothing, quickly, if they are there. Exit 77: they are not available here (it prints why).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=${1:-build/peers}
program() { # NAME MODULE VERSION HASH PACKAGE
  tests/peers/go_program.sh "$folder/$1-$3" "$2@$3" "$4" "$5"
  ln -sfn "$1-$3" "$folder/$1"
}
program versitygw github.com/versity/versitygw v1.8.0 h1:au+wI+aybno/STsQiSm35Uu6Q6iK5MWReQxgO6SEMFc= ./cmd/versitygw
program fake-gcs-server github.com/fsouza/fake-gcs-server v1.56.1 h1:K03sAvbLvDz4hAynpCCUqnNRp+ik9JFSvHbkD/wTPOU= .
