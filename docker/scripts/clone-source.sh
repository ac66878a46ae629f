#!/usr/bin/env bash
# clone-source.sh REPOSITORY REF DIR: clones a branch so that it can be pulled, a tag or a commit as a detached HEAD.
set -euo pipefail
repository=$1 ref=$2 dir=$3

found=0
git ls-remote --exit-code --heads "$repository" "refs/heads/$ref" > /dev/null || found=$?
case $found in
    0) git clone --branch "$ref" "$repository" "$dir" ;;
    2) # No branch of that name.
        git clone --no-checkout "$repository" "$dir"
        # A commit that is on no branch any more has to be fetched by its id.
        git -C "$dir" rev-parse --quiet --verify "$ref^{commit}" > /dev/null || git -C "$dir" fetch origin "$ref:refs/ptokit/pinned"
        git -C "$dir" checkout --detach "$ref"
        ;;
    *) exit "$found" ;;
esac
git -C "$dir" submodule update --init --recursive
