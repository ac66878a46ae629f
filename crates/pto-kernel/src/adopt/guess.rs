//! What each parameter of a function is for, as far as its source says. Every guess carries the words that explain it.

use pto_golden::DType;
use pto_platform::{Core, Target};

use super::flow::follow;
use crate::manifest::{Dir, ScalarType};
use crate::source::{Function, Param, Source, TypeClass, words};

/// A value, and why it was chosen; `None` if the source leaves no doubt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guess<T> {
    pub(super) value: T,
    pub(super) check: Option<String>,
}

impl<T> Guess<T> {
    fn sure(value: T) -> Self {
        Self { value, check: None }
    }

    fn doubtful(value: T, check: impl Into<String>) -> Self {
        Self { value, check: Some(check.into()) }
    }
}

/// What a parameter is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    BlockDim,
    Stream,
    Tensor { dir: Guess<Dir>, dtype: Guess<DType> },
    Scalar { dtype: Guess<ScalarType> },
}

/// The roles of all parameters. `is_launcher` says that block count and stream are among them.
pub(super) fn roles(source: &Source, function: &Function, is_launcher: bool) -> Vec<Role> {
    let block_dim = if is_launcher { block_dim_index(function) } else { None };
    let mut roles: Vec<Role> = (0..function.params.len())
        .map(|index| match &function.params[index] {
            _ if block_dim == Some(index) => Role::BlockDim,
            param if is_launcher && param.is_stream() => Role::Stream,
            param => value_role(source, function, index, param),
        })
        .collect();
    ensure_output(&mut roles, function);
    roles
}

/// The integer that the launch configuration is computed from, else one that is called like it.
fn block_dim_index(function: &Function) -> Option<usize> {
    let used = |param: &Param| {
        let grid = function.launches.iter().filter_map(|site| site.config.first());
        param.name.as_ref().is_some_and(|name| grid.clone().any(|grid| words(grid).any(|word| word == name)))
    };
    let named = |param: &Param| {
        let folded = param.name.as_deref().unwrap_or_default().to_ascii_lowercase().replace('_', "");
        ["blockdim", "blocknum", "numblocks", "bd", "griddim", "grid"].contains(&folded.as_str())
    };
    let is_count = |param: &Param| matches!(param.class, TypeClass::Integer { bits: 32.., .. });
    let position =
        |test: &dyn Fn(&Param) -> bool| function.params.iter().position(|param| is_count(param) && test(param));
    position(&used).or_else(|| position(&named))
}

fn value_role(source: &Source, function: &Function, index: usize, param: &Param) -> Role {
    match &param.class {
        TypeClass::Pointer { is_const, .. } => {
            let facts = follow(source, function, index);
            let name = param.name.as_deref().unwrap_or_default();
            let dir = match (*is_const, facts.loaded, facts.stored) {
                (true, _, _) => Guess::sure(Dir::In),
                (_, true, false) => Guess::doubtful(Dir::In, "the kernel loads from it and does not store to it"),
                (_, false, true) if !looks_like_workspace(name) => {
                    Guess::doubtful(Dir::Out, "the kernel stores to it and does not load from it")
                }
                _ if looks_like_workspace(name) => Guess::doubtful(Dir::Workspace, "by its name"),
                (_, true, true) => Guess::doubtful(Dir::InOut, "the kernel loads from it and stores to it"),
                _ if looks_like_output(name) => Guess::doubtful(Dir::Out, "by its name"),
                _ => Guess::doubtful(Dir::In, "nothing in the source says"),
            };
            Role::Tensor { dir, dtype: element_type(&facts.types) }
        }
        class => Role::Scalar { dtype: scalar_type(class, &param.ty) },
    }
}

/// The one dtype that a function uses a pointer as; nothing if the source shows none, or several.
pub(crate) fn used_dtype(source: &Source, function: &Function, param: usize) -> Option<DType> {
    let guess = element_type(&follow(source, function, param).types);
    guess.check.is_none().then_some(guess.value)
}

fn element_type(types: &std::collections::BTreeSet<String>) -> Guess<DType> {
    // `bfloat16_t` and `float32_t` are C's spelling of what NumPy calls `bfloat16` and `float32`.
    let parse = |name: &String| name.parse().or_else(|_| name.trim_end_matches("_t").parse()).ok();
    let known: Vec<DType> = types.iter().filter_map(parse).collect();
    match known.as_slice() {
        [one] => Guess::sure(*one),
        [first, ..] => {
            let seen: Vec<&str> = types.iter().map(String::as_str).collect();
            Guess::doubtful(*first, format!("the source uses it as {}", seen.join(" and as ")))
        }
        [] => Guess::doubtful(DType::F16, "nothing in the source says"),
    }
}

fn scalar_type(class: &TypeClass, ty: &str) -> Guess<ScalarType> {
    let wanted = match class {
        TypeClass::Integer { bits, signed } => format!("{}{bits}", if *signed { 'i' } else { 'u' }),
        TypeClass::Float { bits } => format!("f{bits}"),
        _ => String::new(),
    };
    match ScalarType::by_name(&wanted) {
        Some(scalar) => Guess::sure(scalar),
        None => Guess::doubtful(ScalarType::U64, format!("the source says `{ty}`, which no scalar type is")),
    }
}

fn looks_like_workspace(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["workspace", "scratch", "tmp", "temp", "_buf", "buffer"].iter().any(|part| name.contains(part)) || name == "ws"
}

fn looks_like_output(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("out") || name.contains("dst") || name.contains("res") || ["y", "o", "z"].contains(&name.as_str())
}

/// A kernel that writes nothing has no purpose: if no output was found, it is the last buffer.
fn ensure_output(roles: &mut [Role], function: &Function) {
    let is_output = |role: &Role| matches!(role, Role::Tensor { dir, .. } if dir.value.is_output());
    if roles.iter().any(is_output) {
        return;
    }
    let is_const = |index: usize| matches!(function.params[index].class, TypeClass::Pointer { is_const: true, .. });
    let candidates = roles.iter_mut().enumerate().rev();
    for (index, role) in candidates {
        if let Role::Tensor { dir, .. } = role
            && !is_const(index)
        {
            *dir = Guess::doubtful(Dir::Out, "no store was found; the last buffer was taken");
            return;
        }
    }
}

/// Where the kernel runs: by the guards of the source, else by its instructions.
pub(super) fn core(source: &Source) -> Guess<Core> {
    match guarded_core(source) {
        Some((Core::Mix, _)) => Guess::doubtful(Core::Mix, "the source has guards for both kinds of core"),
        Some((core, _)) => Guess::sure(core),
        None if words(source.text()).any(|word| word.starts_with("TMATMUL") || word.starts_with("TGEMV")) => {
            Guess::doubtful(Core::Cube, "the source multiplies matrices and has no guards")
        }
        None => Guess::doubtful(Core::Vec, "the source has no guards"),
    }
}

/// The core that the guards of a source speak of, with the first such guard; nothing if it has none.
pub(crate) fn guarded_core(source: &Source) -> Option<(Core, &str)> {
    let first = |any: &[&str]| words(source.text()).find(|word| any.contains(word));
    let vec = first(&["__DAV_VEC__", "__DAV_C220_VEC__", "__DAV_C310_VEC__"]);
    let cube = first(&["__DAV_CUBE__", "__DAV_C220_CUBE__", "__DAV_C310_CUBE__"]);
    match (vec, cube) {
        (Some(guard), Some(_)) => Some((Core::Mix, guard)),
        (Some(guard), None) => Some((Core::Vec, guard)),
        (None, Some(guard)) => Some((Core::Cube, guard)),
        (None, None) => None,
    }
}

/// What it can be built for: guards of one generation exclude the other.
pub(super) fn targets(source: &Source) -> Guess<Vec<Target>> {
    let has = |prefix: &str| words(source.text()).any(|word| word.starts_with(prefix));
    let generic = words(source.text()).any(|word| matches!(word, "__DAV_VEC__" | "__DAV_CUBE__"));
    match (has("__DAV_C220_"), has("__DAV_C310_"), generic) {
        (true, false, false) => {
            Guess::doubtful(vec![Target::A2a3, Target::Cpu], "the source is guarded for A2 and A3 only")
        }
        (false, true, false) => Guess::doubtful(vec![Target::A5, Target::Cpu], "the source is guarded for A5 only"),
        _ => Guess::doubtful(Target::ALL.to_vec(), "the source does not say which"),
    }
}
