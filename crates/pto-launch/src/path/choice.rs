//! Which path a kernel takes on a machine: a pure function, and the whole rule.
//!
//! A kernel of one generation never runs on silicon of another: on an Ascend910B an A5 kernel takes the card down with a
//! fault of its vector cores that outlives the process, and what an A2/A3 kernel does on an Ascend950 nobody has promised.
//!
//! | kernel | NPU of its generation | NPU of another | none |
//! |---|---|---|---|
//! | `cpu` | `cpu` | `cpu` | `cpu` |
//! | `a2a3` | `direct` | `msprof` | `msprof` |
//! | `a5` | `direct` | `msprof`, `cannsim`, `linked` | `msprof`, `cannsim`, `linked` |
//!
//! Of several the first that the machine has the tools for. What the caller asks for is taken where the table has it, and
//! refused with the reason where it has not; a model is allowed beside an NPU as well, for its traces.

use std::collections::BTreeSet;

use pto_platform::Target;

use super::LaunchPath;

/// What is known of a machine's NPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// The targets whose kernels run on an NPU that is here, by the most trustworthy source that spoke.
    pub npus: BTreeSet<Target>,
    /// The name of an NPU of which no source told the target.
    pub undecided: Option<String>,
    /// ACL answers here, but out of the CA model: this library of it is loaded. That is no NPU.
    pub model: Option<String>,
}

/// What CANN's simulators need, as far as it is here. Where something is not, the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// The model of a SoC of the kernel's target.
    pub model: Result<(), String>,
    /// `msprof`.
    pub msprof: Result<(), String>,
    /// `cannsim`.
    pub cannsim: Result<(), String>,
}

/// A path, and why this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The path.
    pub path: LaunchPath,
    /// The rule that led to it, for people.
    pub why: String,
}

/// There is no path, or not the one that was asked for: the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoPath {
    /// Kernels for the CPU do not run on NPUs, and the reverse.
    #[error("`{path}` does not run `{target}` kernels")]
    OtherTarget {
        /// What was asked for.
        path: LaunchPath,
        /// What the kernel is built for.
        target: Target,
    },
    /// The model cannot be run in this way for this generation.
    #[error("`{path}` is for `a5` kernels alone: CANN's model of other generations is reached through `msprof`")]
    OnlyA5 {
        /// What was asked for.
        path: LaunchPath,
    },
    /// More than one launch of a case, where only one can be made.
    #[error("`{path}` makes one launch of each case: it takes neither repeats nor times")]
    Once {
        /// What was chosen.
        path: LaunchPath,
    },
    /// A launch on silicon of another generation.
    #[error(
        "`{target}` kernels are never launched on the NPU of this machine, which runs `{}`: silicon of another generation \
         faults, and stays faulty", list(.npus)
    )]
    OtherGeneration {
        /// What the kernel is built for.
        target: Target,
        /// What runs here.
        npus: BTreeSet<Target>,
    },
    /// Nobody knows what runs on the NPU that is here.
    #[error(
        "the NPU here is `{name}`, which does not tell its generation; a `{target}` kernel is not launched on a guess"
    )]
    Undecided {
        /// The NPU's name.
        name: String,
        /// What the kernel is built for.
        target: Target,
    },
    /// ACL is answered by the model.
    #[error(
        "ACL is answered by the CA model here (`{library}` is loaded), so nothing launched directly would reach an NPU"
    )]
    Modelled {
        /// The library.
        library: String,
    },
    /// There is no NPU at all.
    #[error("there is no NPU here to launch a `{target}` kernel on")]
    NoNpu {
        /// What the kernel is built for.
        target: Target,
    },
    /// A part of CANN's simulator is not here.
    #[error("`{path}` cannot run here: {missing}")]
    Lacks {
        /// What was asked for.
        path: LaunchPath,
        /// What is missing, and where it was looked for.
        missing: String,
    },
    /// Neither an NPU nor a model.
    #[error("nothing here runs `{target}` kernels: {npu}, and no CA model can be used ({missing})")]
    Nothing {
        /// What the kernel is built for.
        target: Target,
        /// Which NPU there is, if any.
        npu: String,
        /// What the models lack.
        missing: String,
    },
}

impl NoPath {
    /// Whether the request is wrong on any machine, and not this machine too small for it.
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::OtherTarget { .. } | Self::OnlyA5 { .. } | Self::Once { .. })
    }

    /// What to use instead.
    pub fn hint(&self) -> String {
        match self {
            Self::OtherTarget { path: LaunchPath::Cpu, .. } => "use `--target cpu`".to_owned(),
            Self::OtherTarget { .. } => {
                "name an NPU's target as well, `--target a2a3` or `--target a5`, or leave `--launch` out".to_owned()
            }
            Self::Once { .. } => {
                "leave `--repeats` and `PTO_DEVICE_REPEATS` out, or launch through `msprof` or `cannsim`".to_owned()
            }
            Self::OnlyA5 { .. } => "use `--launch msprof`".to_owned(),
            Self::OtherGeneration { .. } => "use `--launch msprof`, or leave `--launch` out".to_owned(),
            Self::Undecided { .. } => {
                "`cargo xtask devices --probe` asks ACL for the full name; or use `--launch msprof`".to_owned()
            }
            Self::Modelled { .. } => {
                "take the simulator's directory off `LD_LIBRARY_PATH`, or use `--launch msprof`".to_owned()
            }
            Self::NoNpu { .. } => "use `--launch msprof` for CANN's model, or `--target cpu`, which runs anywhere".to_owned(),
            Self::Lacks { .. } | Self::Nothing { .. } => {
                "use `--target cpu`, which runs anywhere, or install the CANN toolkit with its simulator and source its \
                 `set_env.sh`"
                    .to_owned()
            }
        }
    }
}

/// The path of a kernel.
///
/// # Errors
/// There is none, or the one asked for breaks a rule or lacks a part: see [`NoPath`].
pub fn choose_path(target: Target, host: &Host, tools: &Tools, asked: Option<LaunchPath>) -> Result<Choice, NoPath> {
    match (target, asked) {
        (Target::Cpu, None | Some(LaunchPath::Cpu)) => Ok(Choice { path: LaunchPath::Cpu, why: CPU.to_owned() }),
        (Target::Cpu, Some(path)) | (_, Some(path @ LaunchPath::Cpu)) => Err(NoPath::OtherTarget { path, target }),
        (npu, Some(LaunchPath::Direct)) => direct(npu, host),
        (npu, Some(path)) => match model(npu, tools, path) {
            Ok(()) => Ok(Choice { path, why: ASKED.to_owned() }),
            Err(why) => Err(why),
        },
        (npu, None) => direct(npu, host).or_else(|no_npu| first_model(npu, tools, &no_npu)),
    }
}

const CPU: &str = "built for the CPU";
const ASKED: &str = "asked for";

fn direct(target: Target, host: &Host) -> Result<Choice, NoPath> {
    if let Some(library) = &host.model {
        return Err(NoPath::Modelled { library: library.clone() });
    }
    if host.npus.contains(&target) {
        return Ok(Choice { path: LaunchPath::Direct, why: format!("an NPU here runs `{target}`") });
    }
    match &host.undecided {
        Some(name) => Err(NoPath::Undecided { name: name.clone(), target }),
        None if host.npus.is_empty() => Err(NoPath::NoNpu { target }),
        None => Err(NoPath::OtherGeneration { target, npus: host.npus.clone() }),
    }
}

fn first_model(target: Target, tools: &Tools, no_npu: &NoPath) -> Result<Choice, NoPath> {
    let npu = match no_npu {
        NoPath::OtherGeneration { npus, .. } => format!("the NPU runs `{}`", list(npus)),
        NoPath::Undecided { name, .. } => format!("the NPU is `{name}`, of no known generation"),
        NoPath::Modelled { .. } => "ACL is answered by the CA model".to_owned(),
        _ => "no NPU".to_owned(),
    };
    let mut missing: Vec<String> = Vec::new();
    for path in LaunchPath::MODELS {
        match model(target, tools, path) {
            Ok(()) => return Ok(Choice { path, why: format!("{npu}; the CA model is here") }),
            Err(NoPath::Lacks { missing: what, .. }) if !missing.contains(&what) => missing.push(what),
            Err(_) => {}
        }
    }
    Err(NoPath::Nothing { target, npu, missing: missing.join("; ") })
}

fn model(target: Target, tools: &Tools, path: LaunchPath) -> Result<(), NoPath> {
    if target != Target::A5 && path != LaunchPath::Msprof {
        return Err(NoPath::OnlyA5 { path });
    }
    let program = match path {
        LaunchPath::Msprof => tools.msprof.as_ref(),
        LaunchPath::Cannsim => tools.cannsim.as_ref(),
        _ => Ok(&()),
    };
    let missing = |why: &String| NoPath::Lacks { path, missing: why.clone() };
    tools.model.as_ref().and(program).copied().map_err(missing)
}

fn list(targets: &BTreeSet<Target>) -> String {
    targets.iter().map(|target| target.name()).collect::<Vec<_>>().join("`, `")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every state that a host can be in.
    fn hosts() -> Vec<Host> {
        let npus = [vec![], vec![Target::A2a3], vec![Target::A5], vec![Target::A2a3, Target::A5]];
        let mut hosts = Vec::new();
        for npus in npus {
            for undecided in [None, Some("Ascend910".to_owned())] {
                for model in [None, Some("libruntime_camodel.so".to_owned())] {
                    hosts.push(Host { npus: npus.iter().copied().collect(), undecided: undecided.clone(), model });
                }
            }
        }
        hosts
    }

    /// Every set of tools.
    fn tools() -> Vec<Tools> {
        let part = |bits: u8, bit: u8, what: &str| if bits & bit == 0 { Ok(()) } else { Err(format!("no {what}")) };
        let tools = |bits| Tools {
            model: part(bits, 1, "model"),
            msprof: part(bits, 2, "msprof"),
            cannsim: part(bits, 4, "cannsim"),
        };
        (0..8).map(tools).collect()
    }

    fn asked() -> Vec<Option<LaunchPath>> {
        std::iter::once(None).chain(LaunchPath::ALL.map(Some)).collect()
    }

    /// All states of everything: 3 targets, 16 hosts, 8 sets of tools, 6 wishes.
    fn each(mut check: impl FnMut(Target, &Host, &Tools, Option<LaunchPath>, Result<Choice, NoPath>)) {
        for target in Target::ALL {
            for host in hosts() {
                for tools in tools() {
                    for asked in asked() {
                        check(target, &host, &tools, asked, choose_path(target, &host, &tools, asked));
                    }
                }
            }
        }
    }

    #[test]
    fn no_kernel_is_launched_on_other_silicon() {
        let mut direct = 0;
        each(|target, host, _, _, choice| {
            if choice.is_ok_and(|choice| choice.path == LaunchPath::Direct) {
                direct += 1;
                assert!(host.npus.contains(&target) && host.model.is_none(), "{target} on {host:?}");
            }
        });
        assert!(direct > 0);
    }

    #[test]
    fn what_is_asked_for_is_taken_or_refused_and_never_replaced() {
        each(|target, host, tools, asked, choice| {
            if let (Some(asked), Ok(choice)) = (asked, &choice) {
                assert_eq!(choice.path, asked, "{target} {host:?} {tools:?}");
            }
        });
    }

    #[test]
    fn a_model_runs_only_with_all_it_needs() {
        each(|target, _, tools, _, choice| {
            let Ok(Choice { path, .. }) = choice else { return };
            match path {
                LaunchPath::Cpu => assert_eq!(target, Target::Cpu),
                LaunchPath::Direct => assert_ne!(target, Target::Cpu),
                LaunchPath::Msprof => assert!(tools.model.is_ok() && tools.msprof.is_ok() && target != Target::Cpu),
                LaunchPath::Cannsim => assert!(tools.model.is_ok() && tools.cannsim.is_ok() && target == Target::A5),
                LaunchPath::Linked => assert!(tools.model.is_ok() && target == Target::A5),
            }
        });
    }

    #[test]
    fn nothing_is_refused_that_could_be_done_unasked() {
        each(|target, host, tools, asked, choice| {
            if asked.is_some() {
                return;
            }
            let npu = host.npus.contains(&target) && host.model.is_none();
            let model = tools.model.is_ok() && (tools.msprof.is_ok() || target == Target::A5);
            assert_eq!(choice.is_ok(), target == Target::Cpu || npu || model, "{target} {host:?} {tools:?}");
            match choice {
                Ok(choice) if npu => assert_eq!(choice.path, LaunchPath::Direct),
                Ok(_) => {}
                Err(why) => assert!(matches!(why, NoPath::Nothing { .. }) && why.hint().contains("--target cpu")),
            }
        });
    }

    #[test]
    fn usage_is_wrong_on_every_machine_or_on_none() {
        for target in Target::ALL {
            for asked in asked() {
                let wrong: BTreeSet<bool> = hosts()
                    .iter()
                    .flat_map(|host| tools().into_iter().map(move |tools| choose_path(target, host, &tools, asked)))
                    .map(|choice| choice.is_err_and(|why| why.is_usage()))
                    .collect();
                assert_eq!(wrong.len(), 1, "{target} {asked:?}");
            }
        }
    }

    #[test]
    fn refusals_name_the_rule_and_the_way_out() {
        let complete = &tools()[0];
        let bare = &tools()[7];
        let a2a3 = Host { npus: [Target::A2a3].into(), ..Host::default() };
        let rows = [
            (Target::A5, &a2a3, complete, LaunchPath::Direct, "never launched on the NPU", "--launch msprof"),
            (Target::A2a3, &Host::default(), complete, LaunchPath::Direct, "there is no NPU here", "--target cpu"),
            (Target::A2a3, &a2a3, complete, LaunchPath::Cannsim, "`a5` kernels alone", "--launch msprof"),
            (Target::A5, &a2a3, bare, LaunchPath::Msprof, "`msprof` cannot run here: no model", "--target cpu"),
            (Target::Cpu, &a2a3, complete, LaunchPath::Direct, "does not run `cpu` kernels", "--target a2a3"),
            (Target::A5, &a2a3, complete, LaunchPath::Cpu, "does not run `a5` kernels", "--target cpu"),
        ];
        for (target, host, tools, asked, message, hint) in rows {
            let error = choose_path(target, host, tools, Some(asked)).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
            assert!(error.hint().contains(hint), "{}", error.hint());
        }
        let nothing = choose_path(Target::A5, &a2a3, bare, None).unwrap_err().to_string();
        assert!(nothing.contains("the NPU runs `a2a3`") && nothing.contains("(no model)"), "{nothing}");
    }
}
