# The development image: `deps` is CANN with what PyPTO is built with, `sim` adds GCC 15 for the CPU simulators, `dist` adds
# PyPTO and pypto-lib, cloned and built. Built from the root of this repository, on the architecture it is for:
#
#   cargo build --release -p xtask
#   docker buildx build --load --target dist --file docker/pypto_dev.Dockerfile \
#     --build-arg CANN_DIGEST=sha256:... --build-arg PYPTO_REF=... --build-arg PYPTO_LIB_REF=... --tag pypto-dev:a3-dist .
#
# Proxies are the build arguments that Docker knows by itself (HTTP_PROXY, HTTPS_PROXY, NO_PROXY, in either case). They are not
# declared here, so they are in no layer and in no history. Nothing here needs a secret.

ARG CANN_REPOSITORY=quay.io/ascend/cann
# Only by digest, because a tag can be moved. `container build` and `images plan` look the digest up.
ARG CANN_DIGEST

FROM ${CANN_REPOSITORY}@${CANN_DIGEST} AS deps
SHELL ["/bin/bash", "-o", "pipefail", "-c"]

# Versions are not pinned: the archive of a release only keeps the newest build of each package. The base is pinned.
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        build-essential ca-certificates ccache cmake curl git less libnuma1 ninja-build openssh-client pciutils \
        python3.10 python3.10-dev python3.10-venv unzip util-linux vim-tiny xz-utils \
    && rm -rf /var/lib/apt/lists/*

# The CANN in this image. The check of the driver and the startup message read it.
ARG CANN_TAG
# a2a3 or a5. If it is empty, programs go by CANN_TAG.
ARG PYPTO_PLATFORM
ENV PYPTO_CANN_TAG=${CANN_TAG} \
    PYPTO_PLATFORM=${PYPTO_PLATFORM} \
    PYPTO_HOME=/opt/pypto \
    PYPTO_SRC=/workspace/pypto \
    PYPTO_LIB_SRC=/workspace/pypto-lib \
    PTOAS_ROOT=/opt/pypto/ptoas \
    CCACHE_DIR=/opt/pypto/cache/ccache \
    PATH=/opt/pypto/bin:${PATH}

# Our own program, in the directory that is sent to the engine.
ARG PTOKIT_BINARY=target/release/xtask
COPY ${PTOKIT_BINARY} /opt/pypto/bin/ptokit
# Run once now: if it was linked with a newer C library than the base has, that shows here and not in the first session.
RUN /opt/pypto/bin/ptokit --version \
    && /opt/pypto/bin/ptokit setup --helpers-only --pypto-home /opt/pypto \
    && mkdir -p /opt/pypto/cache/ccache /workspace
# The startup message of interactive shells.
COPY docker/scripts/platform.sh docker/scripts/welcome.sh /opt/pypto/image/
RUN ln -s ../image/welcome.sh /opt/pypto/bin/pypto-welcome

# Shells that are not interactive read it too, such as `docker exec ... bash -c`. Interactive ones get it as their rcfile below.
ENV BASH_ENV=/opt/pypto/bin/pypto-activate.sh
WORKDIR /workspace
ENTRYPOINT ["/bin/bash", "--rcfile", "/opt/pypto/bin/pypto-activate.sh"]


FROM deps AS sim
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# dirmngr, gpg and gpg-agent, which fetch the archive's key, are only recommended by software-properties-common.
# `add-apt-repository` runs in the system's Python, which must not see CANN's modules and libraries.
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        dirmngr gpg gpg-agent software-properties-common \
    && env -u PYTHONPATH -u LD_LIBRARY_PATH add-apt-repository --yes ppa:ubuntu-toolchain-r/test \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends gcc-15 g++-15 \
    && rm -rf /var/lib/apt/lists/* \
    && test "$(g++-15 -dumpversion | cut -d. -f1)" = 15


FROM sim AS dist
ARG PYPTO_REPOSITORY=https://github.com/hw-native-sys/pypto.git
ARG PYPTO_LIB_REPOSITORY=https://github.com/hw-native-sys/pypto-lib.git
# A branch is checked out so that it can be pulled, a tag or a commit as a detached HEAD.
ARG PYPTO_REF=main
ARG PYPTO_LIB_REF=main
# The most jobs of the build. A lower limit in the checkout wins.
ARG DIST_BUILD_JOBS=2
# The targets of the runtime's build, now and in later builds; empty for the runtime's default.
ARG DIST_RUNTIME_TARGETS
# The release of uv; empty for the newest.
ARG UV_VERSION
ENV PYPTO_RUNTIME_BUILD_TARGETS=${DIST_RUNTIME_TARGETS}

COPY docker/scripts/clone-source.sh docker/scripts/build-dist.sh docker/scripts/write-manifest.sh /opt/pypto/image/
COPY docker/patches /opt/pypto/image/patches
RUN /opt/pypto/image/clone-source.sh "${PYPTO_REPOSITORY}" "${PYPTO_REF}" "${PYPTO_SRC}" \
    && /opt/pypto/image/clone-source.sh "${PYPTO_LIB_REPOSITORY}" "${PYPTO_LIB_REF}" "${PYPTO_LIB_SRC}"
RUN /opt/pypto/image/build-dist.sh "${DIST_BUILD_JOBS}" \
    && /opt/pypto/image/write-manifest.sh > /opt/pypto/dist-manifest
