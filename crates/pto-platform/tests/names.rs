//! Names as people and vendor files write them.

use proptest::prelude::*;
use pto_platform::{Arch, Core, Machine, PlatformError, Soc, Target};

#[test]
fn targets_are_named_in_many_ways() {
    let names = [
        (
            Target::A2a3,
            "a2a3 A2A3 a2 a3 a2/a3 910b 910B 910_93 Ascend910_93 dav-c220 dav-c220-vec dav-2201 2201 Ascend910B2",
        ),
        (Target::A5, "a5 950 950PR Ascend950 dav-c310 dav-c310-cube dav-3510 3510 Ascend950PR_9599 ascend950dt_9591"),
        (Target::Cpu, "cpu CPU"),
    ];
    for (target, names) in names {
        for name in names.split(' ') {
            assert_eq!(name.parse(), Ok(target), "{name}");
        }
    }
}

#[test]
fn a_name_of_two_generations_is_not_guessed() {
    let error = "Ascend910B".parse::<Target>().unwrap_err();
    assert!(matches!(error, PlatformError::Ambiguous { .. }), "{error}");
    assert!(error.hint().unwrap().contains("`a2a3`"));
    assert_eq!(Soc::by_name("Ascend910B").unwrap().target(), None);
    assert_eq!(Soc::by_name("Ascend910B").unwrap().compiler_arch(), "dav-c100");
    for name in ["Ascend910B1", "Ascend910B2", "Ascend910B3", "Ascend910B4", "Ascend910B4-1"] {
        assert_eq!(Soc::by_name(name).unwrap().target(), Some(Target::A2a3), "{name}");
    }
}

#[test]
fn hardware_without_pto_is_refused_by_its_architecture() {
    for (name, arch) in [("Ascend310P3", "dav-m200"), ("Ascend910A", "dav-c100"), ("dav-c100", "dav-c100")] {
        let error = name.parse::<Target>().unwrap_err();
        assert_eq!(error, PlatformError::UnsupportedArch { given: name.into(), arch });
        assert!(error.to_string().contains(arch));
    }
}

#[test]
fn wrong_names_get_the_nearest() {
    let hint = |error: PlatformError| (error.to_string(), error.hint().unwrap_or_default());
    let cases = [
        ("a2a4".parse::<Target>().map(drop), "target", "a2a3"),
        ("vect".parse::<Core>().map(drop), "core type", "vec"),
        ("dav-c221".parse::<Arch>().map(drop), "NPU architecture", "dav-c220"),
        ("arch64".parse::<Machine>().map(drop), "host architecture", "aarch64"),
        (Soc::by_name("Ascend950PR_9598").map(drop), "SoC", "Ascend950PR_95"),
    ];
    for (result, noun, nearest) in cases {
        let (message, hint) = hint(result.unwrap_err());
        assert!(message.contains(noun) && hint.contains(nearest), "{message} / {hint}");
    }
}

#[test]
fn socs_are_found_as_acl_reports_them() {
    for (name, target, cube, vector) in [
        ("Ascend910B2", Target::A2a3, 24, 48),
        ("ascend910b4", Target::A2a3, 20, 40),
        ("Ascend910_9392", Target::A2a3, 24, 48),
        ("Ascend950PR_9599", Target::A5, 36, 72),
    ] {
        let soc = Soc::by_name(name).unwrap();
        assert_eq!((soc.target(), soc.cube_cores, soc.vector_cores), (Some(target), cube, vector), "{name}");
        assert_eq!((soc.cores(Core::Vec), soc.cores(Core::Mix)), (vector, cube), "{name}");
    }
}

#[test]
fn facts_of_a_target() {
    let facts = |target: Target| {
        let memory = target.on_chip().unwrap();
        (target.default_soc().unwrap().name, memory.ub, memory.l1, memory.l0a, memory.l0b, memory.l0c)
    };
    assert_eq!(facts(Target::A2a3), ("Ascend910B2", 196_608, 524_288, 65_536, 65_536, 131_072));
    assert_eq!(facts(Target::A5), ("Ascend950PR_9599", 253_952, 524_288, 65_536, 65_536, 262_144));
    assert_eq!((Target::Cpu.on_chip(), Target::Cpu.arch(), Target::Cpu.memory_macro()), (None, None, None));
}

#[test]
fn the_compiler_gets_an_architecture_per_core() {
    let archs = Target::ALL.map(|target| Core::ALL.map(|core| target.compiler_arch(core).unwrap_or_default()));
    assert_eq!(archs[0], ["dav-c220-vec", "dav-c220-cube", "dav-c220"]);
    assert_eq!(archs[1], ["dav-c310-vec", "dav-c310-cube", "dav-c310"]);
    assert_eq!(archs[2], ["", "", ""]);
}

#[test]
fn names_survive_serialization() {
    for target in Target::ALL {
        let json = serde_json::to_string(&target).unwrap();
        assert_eq!(json, format!("\"{target}\""));
        assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), target);
    }
    for core in Core::ALL {
        assert_eq!(serde_json::from_str::<Core>(&serde_json::to_string(&core).unwrap()).unwrap(), core);
    }
    for machine in Machine::ALL {
        assert_eq!(serde_json::to_string(&machine).unwrap(), format!("\"{machine}\""));
        assert_eq!(machine.name().parse(), Ok(machine));
        assert!(machine.cann_dirs()[0].starts_with(machine.name()));
    }
    assert_eq!(serde_json::to_string(&Arch::DAV_2201).unwrap(), "\"dav-2201\"");
    let message = serde_json::from_str::<Target>("\"a6\"").unwrap_err().to_string();
    assert!(message.contains("`a6` is not a target"), "{message}");
}

proptest! {
    #[test]
    fn parsing_never_panics(name in "\\PC{0,80}") {
        let _ = name.parse::<Target>().map_err(|error| error.hint());
        let _ = name.parse::<Core>().map_err(|error| error.hint());
        let _ = name.parse::<Arch>().map_err(|error| error.hint());
        let _ = name.parse::<Machine>().map_err(|error| error.hint());
        let _ = Soc::by_name(&name).map_err(|error| error.hint());
    }

    #[test]
    fn case_and_blanks_do_not_matter(index in 0..Soc::all().len(), upper: bool) {
        let soc = &Soc::all()[index];
        let name = if upper { soc.name.to_uppercase() } else { soc.name.to_lowercase() };
        prop_assert_eq!(Soc::by_name(&format!(" {name}\n")).unwrap().name, soc.name);
    }
}
