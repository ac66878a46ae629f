//! What is read from built libraries, made up and real ones.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use pto_compile::artifact::{Artifact, ArtifactError, DeviceArch, Fit, Host, Kind, Problem, Processor, Where};
use pto_context::Context;
use pto_platform::{Arch, Core, Machine};
use pto_test::elf::Elf;

const A2A3: u32 = 0x94_0000;
const A5: u32 = 0x99_0000;

/// A file of its own for each test.
fn write(dir: &Path, bytes: &[u8]) -> PathBuf {
    let path = dir.join("libkernel.so");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn read(bytes: &[u8]) -> Result<Artifact, ArtifactError> {
    let dir = tempfile::tempdir().unwrap();
    Artifact::read(&write(dir.path(), bytes))
}

/// The file takes no room: all but its first bytes is a hole.
#[test]
fn what_fits_into_no_memory_is_refused_by_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let path = write(dir.path(), &library(A2A3).build());
    std::fs::File::options().write(true).open(&path).unwrap().set_len(30 << 30).unwrap();
    let message = Artifact::read(&path).unwrap_err().to_string();
    assert!(message.ends_with("libkernel.so` has 30720 MiB, expected at most 2048 MiB"), "{message}");
    std::fs::write(&path, "\0").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(30 << 30).unwrap();
    assert!(matches!(Artifact::read(&path), Err(ArtifactError::NotElf { .. })));
}

/// As bisheng makes one: the launcher, and a vector and a mix kernel.
fn library(flags: u32) -> Elf {
    let vector_kernel = [1, 0, 4, 0, 7, 0, 0, 0, 3, 0, 4, 0, 1, 0, 2, 0];
    let device = Elf::device(flags)
        .function("add_kernel_mix_aiv")
        .function("_Z6matmulIDhEvPhS0_i_mix_aic")
        .function("_Z6matmulIDhEvPhS0_i_mix_aiv")
        .section(".ascend.meta.add_kernel_mix_aiv", vector_kernel);
    Elf::library()
        .needs("libruntime.so")
        .function("call_add")
        .function("_Z8call_addjPvPhi")
        .section(".aicore_binary", device.build())
}

#[test]
fn a_library_tells_its_device_code() {
    let artifact = read(&library(A2A3).build()).unwrap();
    assert_eq!((artifact.kind, artifact.device_arch()), (Kind::Library, DeviceArch::One(Arch::DAV_2201)));
    assert_eq!(artifact.dynamic.needed, ["libruntime.so"]);
    let image = &artifact.images[0];
    assert_eq!((image.section.as_deref(), image.linked), (Some(".aicore_binary"), true));
    let kernels: Vec<_> = image.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.core)).collect();
    assert_eq!(kernels, [("_Z6matmulIDhEvPhS0_i", Some(Core::Mix)), ("add_kernel", Some(Core::Vec))]);
    assert_eq!(image.kernels[0].signature.as_deref(), Some("void matmul<half>(unsigned char*, unsigned char*, int)"));
    assert_eq!(artifact.core(), Some(Core::Mix));
}

#[test]
fn exports_are_told_with_their_signatures() {
    let artifact = read(&library(A5).build()).unwrap();
    let exports: Vec<_> =
        artifact.exports.iter().map(|export| (export.symbol.as_str(), export.signature.as_deref())).collect();
    let signature = "call_add(unsigned int, void*, unsigned char*, int)";
    assert_eq!(exports, [("_Z8call_addjPvPhi", Some(signature)), ("call_add", None)]);
}

#[test]
fn the_generation_is_in_the_flags() {
    let arch = |flags| read(&library(flags).build()).unwrap().device_arch();
    assert_eq!(arch(A5), DeviceArch::One(Arch::DAV_3510));
    assert_eq!(arch(0x12_0000), DeviceArch::Unknown(0x12_0000));
    let both = library(A2A3).section("__aicore_rel_binary", Elf::device(A5).build());
    assert_eq!(read(&both.build()).unwrap().device_arch(), DeviceArch::Several(vec![Arch::DAV_2201, Arch::DAV_3510]));
}

#[test]
fn device_code_alone_is_read_as_well() {
    let artifact = read(&Elf::device(A5).function("add_kernel").build()).unwrap();
    assert_eq!((artifact.kind, artifact.machine), (Kind::Device, Processor::AiCore));
    assert_eq!(artifact.device_arch(), DeviceArch::One(Arch::DAV_3510));
    assert_eq!(artifact.images[0].kernels[0].name, "add_kernel");
}

#[test]
fn many_images_in_one_section_are_told_apart() {
    let one = Elf::device(A2A3).function("one").build();
    let two = Elf::device(A2A3).function("two").build();
    let library =
        Elf::library().section(".ascend.kernel.ascend910b1.k", [&[1; 20], &one[..], &[0; 12], &two[..]].concat());
    let artifact = read(&library.build()).unwrap();
    let names: Vec<_> = artifact.images.iter().flat_map(|image| &image.kernels).map(|kernel| &kernel.name).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(artifact.images[1].offset - artifact.images[0].offset, (one.len() + 12) as u64);
}

#[test]
fn libraries_for_the_cpu_and_with_a_model_are_known_by_what_they_need() {
    let cpu = read(&Elf::library().needs("libptocpu-0123456789ab.so").build()).unwrap();
    assert_eq!((cpu.is_for_cpu(), cpu.device_arch()), (true, DeviceArch::None));
    let model = read(&library(A5).needs("libruntime_camodel.so").build()).unwrap();
    assert_eq!((model.is_for_cpu(), model.links_ca_model()), (false, true));
}

#[test]
fn what_is_no_artifact_is_refused_with_what_was_found() {
    let refused = |bytes: &[u8]| read(bytes).unwrap_err().to_string().replace('`', "");
    assert!(refused(b"#!/bin/sh\n").ends_with("is not an ELF file: it begins with #!/bin/s"));
    assert!(refused(b"").ends_with("it begins with nothing, it is empty"));
    assert!(refused(b"\x7fELF\x01\x01\x01").ends_with("is not 64-bit little-endian ELF"));
    let whole = library(A2A3).build();
    assert!(refused(&whole[..whole.len() - 1]).ends_with("is damaged or cut short"));
    assert!(matches!(Artifact::read(Path::new("/")), Err(ArtifactError::NotAFile { .. })));
    assert!(matches!(Artifact::read(Path::new("/nowhere.so")), Err(ArtifactError::Read(_))));
}

fn problems(artifact: &Artifact, npus: &[Arch]) -> Vec<Problem> {
    let cx = Context::fake("/nowhere", [("", ""); 0]);
    let host = Host { machine: Machine::current(), npus: npus.to_vec() };
    let problems = Fit::of(&cx, artifact, Path::new("libkernel.so"), &host).problems;
    problems.into_iter().filter(|problem| !matches!(problem, Problem::Library { .. })).collect()
}

#[test]
fn device_code_fits_npus_of_its_own_generation_alone() {
    let artifact = read(&library(A2A3).build()).unwrap();
    let built_for = Arch::DAV_2201;
    assert_eq!(problems(&artifact, &[Arch::DAV_2201]), []);
    assert_eq!(problems(&artifact, &[]), [Problem::NoNpu { built_for }]);
    assert_eq!(problems(&artifact, &[Arch::DAV_3510]), [Problem::OtherNpu { built_for, here: vec![Arch::DAV_3510] }]);
    let cpu = read(&Elf::library().needs("libptocpu-0123456789ab.so").build()).unwrap();
    assert_eq!(problems(&cpu, &[]), []);
}

#[test]
fn another_processor_does_not_fit() {
    let artifact = read(&Elf::library().for_machine(243).build()).unwrap();
    let told: Vec<_> = problems(&artifact, &[]).iter().map(Problem::to_string).collect();
    assert_eq!(told, [format!("built for machine 243, this machine is {}", Machine::current().unwrap())]);
}

#[test]
fn needed_libraries_are_looked_for_where_the_loader_does() {
    let root = tempfile::tempdir().unwrap();
    for file in ["opt/cann/lib64/libruntime.so", "extra/libother.so"] {
        std::fs::create_dir_all(root.path().join(file).parent().unwrap()).unwrap();
        std::fs::write(root.path().join(file), "").unwrap();
    }
    let artifact = read(&library(A2A3).needs("libother.so").needs("libnot.so").build()).unwrap();
    let variables = [("ASCEND_HOME_PATH", "/opt/cann"), ("LD_LIBRARY_PATH", ":/extra")];
    let cx = Context::fake("/", variables).with_root(root.path());
    let host = Host { machine: Machine::current(), npus: vec![Arch::DAV_2201] };
    let fit = Fit::of(&cx, &artifact, Path::new("libkernel.so"), &host);
    let places: Vec<_> = fit.libraries.iter().map(|library| library.place.clone()).collect();
    let at = |path: &str| root.path().join(path);
    assert_eq!(
        places,
        [Where::InCann(at("opt/cann/lib64/libruntime.so")), Where::Found(at("extra/libother.so")), Where::Missing]
    );
    assert_eq!(fit.problems.len(), 2);
    assert!(!fit.fits());
}

/// What CANN's compiler makes of twenty-one sources, vector, cube and mix kernels among them.
#[test]
fn a_published_library_is_read_as_a_whole() {
    let Some(dir) = pto_test::artifacts() else { return };
    let artifact = Artifact::read(&dir.join("libno_workspace_kernel.so")).unwrap();
    assert_eq!(artifact.machine, Processor::Host(Machine::X86_64));
    assert_eq!((artifact.kind, artifact.device_arch()), (Kind::Library, DeviceArch::One(Arch::DAV_2201)));
    let sections = |name: &str| artifact.images.iter().filter(|image| image.section.as_deref() == Some(name)).count();
    assert_eq!((sections(".aicore_binary"), sections("__aicore_rel_binary")), (21, 21));
    assert_eq!(artifact.images.iter().filter(|image| image.linked).count(), 21);
    let core = |name: &str| {
        let kernels = artifact.images.iter().filter(|image| image.linked).flat_map(|image| &image.kernels);
        kernels.into_iter().find(|kernel| kernel.name == name).and_then(|kernel| kernel.core)
    };
    assert_eq!(core("swiglu_fp16"), Some(Core::Vec));
    assert_eq!(core("simple_matmul_fp16"), Some(Core::Cube));
    assert_eq!(core("gdn_chunk_o"), Some(Core::Mix));
    assert!(artifact.exports.iter().any(|export| export.symbol == "pto_launch_swiglu_fp16"));
    assert!(artifact.dynamic.needed.contains(&"libruntime.so".to_owned()));
}

proptest! {
    /// Whatever a file holds, it is read or refused, and in time.
    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read(&bytes);
        let _ = read(&[b"\x7fELF\x02\x01\x01".to_vec(), bytes].concat());
    }

    #[test]
    fn cut_files_never_panic(length in 0usize..4000) {
        let whole = library(A2A3).build();
        let _ = read(&whole[..length.min(whole.len())]);
    }

    /// A byte of a good file changed anywhere: a table that points elsewhere, a size that is none.
    #[test]
    fn damaged_files_never_panic(at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut bytes = library(A2A3).build();
        let at = at.index(bytes.len());
        bytes[at] = value;
        let _ = read(&bytes);
    }
}
