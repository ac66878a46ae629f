//! The host: processor, C and C++ libraries, room.

use pto_context::Context;
use pto_platform::dotted;

use super::new;
use crate::check::{Check, Source};
use crate::elf_strings::SymbolVersion;
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
pub(super) const IMAGE_DISK: u64 = 30 << 30;
/// One C++ compiler process on PTO-ISA's headers takes up to 1.5 GB.
const MEMORY: u64 = 2 << 30;
/// Docker's default is 64 MB; HCCL and the data loaders of models want more.
const SHM: u64 = 1 << 30;
pub(super) const GB: f64 = (1u64 << 30) as f64;

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
        &[Source::Libraries],
        "The C library. PTOAS is built for glibc 2.34 and newer; with an older one its program does not start. Kernels \
         on the CPU do not care.",
        glibc,
    ),
    new(
        "glibcxx",
        "libstdc++",
        &[Source::Libraries],
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

fn glibc(_: &Context, probes: &Probes) -> Finding {
    let remedy = "use a distribution with glibc 2.34 or newer for PTOAS (Ubuntu 22.04, Debian 12, openEuler 22.03)";
    library(&probes.glibc, "GLIBC_", &PTOAS_GLIBC, remedy)
}

fn glibcxx(_: &Context, probes: &Probes) -> Finding {
    let remedy = "put a newer libstdc++ first: conda install -c conda-forge libstdcxx-ng && \
                  export LD_LIBRARY_PATH=\"$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"";
    library(&probes.glibcxx, "GLIBCXX_", &PTOAS_GLIBCXX, remedy)
}

fn library(found: &SymbolVersion, prefix: &str, wanted: &[u32], remedy: &str) -> Finding {
    match found {
        SymbolVersion::NotAsked => Finding::skip("not looked at"),
        SymbolVersion::Absent => Finding::skip("no such library where distributions keep it"),
        SymbolVersion::Unreadable(why) => Finding::skip(why.clone()),
        SymbolVersion::None(path) => Finding::skip(format!("`{}` names no version of `{prefix}`", path.display())),
        SymbolVersion::Highest(path, found) if found.as_slice() >= wanted => {
            Finding::ok(format!("{prefix}{} in `{}`", dotted(found), path.display()))
        }
        SymbolVersion::Highest(path, found) => Finding::warn(format!(
            "`{}` has symbols up to `{prefix}{}`, PTOAS needs `{prefix}{}`",
            path.display(),
            dotted(found),
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
