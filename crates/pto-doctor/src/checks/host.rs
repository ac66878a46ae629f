//! The host: processor, C and C++ libraries, room.

use pto_context::Context;
use pto_platform::{dotted, highest_symbol_version};

use super::new;
use crate::check::Check;
use crate::facts;
use crate::files::{self, Reading};
use crate::finding::Finding;
use crate::probes::Probes;

/// PTOAS is published for manylinux_2_34.
const PTOAS_GLIBC: [u32; 2] = [2, 34];
/// PTOAS asks for this symbol version of libstdc++; distributions with a new glibc may have an older libstdc++.
const PTOAS_GLIBCXX: [u32; 3] = [3, 4, 29];
/// Kernels and their tensors on the CPU; the pinned compiler alone unpacks to some hundred MB.
const CPU_DISK: u64 = 2 << 30;
/// Layers, containers and build cache of the development image.
const IMAGE_DISK: u64 = 30 << 30;
/// One C++ compiler process on PTO-ISA's headers takes up to 1.5 GB.
const MEMORY: u64 = 2 << 30;
/// Docker's default is 64 MB; HCCL and the data loaders of models want more.
const SHM: u64 = 1 << 30;
const GB: f64 = (1u64 << 30) as f64;

pub(super) const CHECKS: &[Check] = &[
    new(
        "host",
        "host",
        &[],
        "Processor and kernel. CANN, the driver and PTOAS exist for `x86_64` and `aarch64`; on another processor only \
         the CPU target can work.",
        host,
    ),
    new(
        "glibc",
        "glibc",
        &[],
        "The C library. PTOAS is built for glibc 2.34 and newer; with an older one its program does not start. Kernels \
         on the CPU do not care.",
        glibc,
    ),
    new(
        "glibcxx",
        "libstdc++",
        &[],
        "The newest symbol version in libstdc++.so.6. It is independent of glibc: distributions exist with glibc 2.34 \
         and `GLIBCXX_3.4.28`, where PTOAS (`GLIBCXX_3.4.29`) installs and then fails.",
        glibcxx,
    ),
    new(
        "disk",
        "disk",
        &[],
        "Room where fetched and built files are kept: `PTOKIT_HOME`, else the cache directory of the user. The CPU target \
         needs 2 GB, the development image 30 GB.",
        disk,
    ),
    new(
        "memory",
        "memory",
        &[],
        "Memory that is available, from `/proc/meminfo`. A C++ compiler takes up to 1.5 GB on PTO-ISA's headers; with less, \
         the kernel ends it without a word.",
        memory,
    ),
    new(
        "shm",
        "shared memory",
        &[],
        "Size of `/dev/shm`. A container that was started without `--shm-size` has 64 MB, with which programs on several \
         cards fail.",
        shm,
    ),
];

fn host(cx: &Context, _: &Probes) -> Finding {
    let kernel = files::read(cx, "/proc/sys/kernel/osrelease").text().map(|text| text.trim().to_owned());
    let kernel = kernel.map_or_else(|| "kernel unknown".to_owned(), |version| format!("Linux {version}"));
    match facts::machine(cx) {
        Some(machine) => Finding::ok(format!("{machine}, {kernel}")),
        None if files::is_tree(cx) => Finding::skip(format!("no C library in this tree tells the processor; {kernel}")),
        None => Finding::warn(format!(
            "{}, {kernel}; CANN and PTOAS exist for `x86_64` and `aarch64`",
            std::env::consts::ARCH
        ))
        .remedy("use the `cpu` target here, or another machine for NPUs"),
    }
}

fn glibc(cx: &Context, _: &Probes) -> Finding {
    let remedy = "use a distribution with glibc 2.34 or newer for PTOAS (Ubuntu 22.04, Debian 12, openEuler 22.03)";
    library(cx, "libc.so.6", "GLIBC_", &PTOAS_GLIBC, remedy)
}

fn glibcxx(cx: &Context, _: &Probes) -> Finding {
    let remedy = "put a newer libstdc++ first: conda install -c conda-forge libstdcxx-ng && \
                  export LD_LIBRARY_PATH=\"$CONDA_PREFIX/lib:$LD_LIBRARY_PATH\"";
    library(cx, "libstdc++.so.6", "GLIBCXX_", &PTOAS_GLIBCXX, remedy)
}

fn library(cx: &Context, name: &str, prefix: &str, wanted: &[u32], remedy: &str) -> Finding {
    let Some(path) = facts::library(cx, name) else {
        return Finding::skip(format!("no `{name}` where distributions keep it"));
    };
    let bytes = match fs_err::read(files::open_path(cx, &path)) {
        Ok(bytes) => bytes,
        Err(error) => return Finding::skip(format!("cannot read `{}`: {}", path.display(), error.kind())),
    };
    let shown = path.display();
    match highest_symbol_version(&bytes, prefix) {
        None => Finding::skip(format!("`{shown}` names no version of `{prefix}`")),
        Some(found) if found.as_slice() >= wanted => Finding::ok(format!("{prefix}{} in `{shown}`", dotted(&found))),
        Some(found) => Finding::warn(format!(
            "`{shown}` has symbols up to `{prefix}{}`, PTOAS needs `{prefix}{}`",
            dotted(&found),
            dotted(wanted)
        ))
        .remedy(remedy),
    }
}

fn disk(_: &Context, probes: &Probes) -> Finding {
    let Some(free) = probes.room.disk_free else {
        return Finding::skip("the file system does not tell its free space");
    };
    let shown = format!("{:.1} GB free for fetched and built files", free as f64 / GB);
    match free {
        ..CPU_DISK => {
            Finding::warn(format!("{shown}, expected 2 GB")).remedy("export PTOKIT_HOME=/a/directory/with/room")
        }
        CPU_DISK..IMAGE_DISK => Finding::ok(format!("{shown}; the development image would need 30 GB")),
        _ => Finding::ok(shown),
    }
}

fn memory(cx: &Context, _: &Probes) -> Finding {
    let text = match files::read(cx, "/proc/meminfo") {
        Reading::Text(text) => text,
        Reading::Absent => return Finding::skip("no `/proc/meminfo`"),
        Reading::Unreadable(why) => return Finding::skip(why),
    };
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb << 10)
    };
    match (bytes("MemAvailable:"), bytes("MemTotal:")) {
        (Some(free), Some(all)) => {
            let shown = format!("{:.1} of {:.1} GB available", free as f64 / GB, all as f64 / GB);
            if free < MEMORY {
                Finding::warn(format!("{shown}, expected 2 GB")).remedy("close other programs, or build with one job")
            } else {
                Finding::ok(shown)
            }
        }
        _ => Finding::skip("`/proc/meminfo` has no `MemAvailable`"),
    }
}

fn shm(_: &Context, probes: &Probes) -> Finding {
    match probes.room.shm {
        None => Finding::skip("no `/dev/shm`"),
        Some(size) if size < SHM => {
            Finding::warn(format!("`/dev/shm` has {} MB", size >> 20)).remedy("start the container with --shm-size=16g")
        }
        Some(size) => Finding::ok(format!("`/dev/shm` has {:.1} GB", size as f64 / GB)),
    }
}
