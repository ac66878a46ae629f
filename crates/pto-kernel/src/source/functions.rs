//! Functions as a source declares them, with their parameters and the launches in their bodies.

use std::ops::Range;

use super::types::{TypeClass, classify};

/// A function that a source declares or defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name without namespaces.
    pub name: String,
    /// Its name with the namespaces it stands in.
    pub qualified: String,
    /// The line of its name, from 1.
    pub line: usize,
    /// Its parameters in order.
    pub params: Vec<Param>,
    /// Its template parameters; empty if it is no template.
    pub template: Vec<TemplateParam>,
    /// Whether it has C linkage.
    pub extern_c: bool,
    /// Whether it is a kernel, `__global__`.
    pub is_global: bool,
    /// Whether it has internal linkage or is `inline`, so that no symbol need exist.
    pub is_local: bool,
    /// The bytes of its body, if it is defined here.
    pub body: Option<Range<usize>>,
    /// The launches in its body.
    pub launches: Vec<LaunchSite>,
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its type as written, `__gm__ half *`.
    pub ty: String,
    /// What that is to a caller.
    pub class: TypeClass,
}

/// A parameter of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateParam {
    /// Its name; empty if it has none.
    pub name: String,
    /// The declaration as written, `typename T`.
    pub text: String,
    /// Whether it has a default.
    pub has_default: bool,
}

/// A `kernel<<<block_dim, l2, stream>>>(arguments)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSite {
    /// What is launched, as written, template arguments included.
    pub kernel: String,
    /// The expressions between the brackets.
    pub config: Vec<String>,
    /// The arguments as written.
    pub args: Vec<String>,
    /// The line, from 1.
    pub line: usize,
}

impl Function {
    /// Whether this is a host function with C linkage that launches a kernel or takes a stream to pass on.
    pub fn is_launcher(&self) -> bool {
        let takes_stream = || self.params.iter().any(|p| p.is_stream());
        self.extern_c && !self.is_global && self.body.is_some() && (!self.launches.is_empty() || takes_stream())
    }
}

impl Param {
    /// Whether this parameter is a stream by its type or by its name.
    pub fn is_stream(&self) -> bool {
        matches!(self.class, TypeClass::Pointer { .. })
            && (self.ty.contains("Stream")
                || self.name.as_deref().is_some_and(|n| n.to_ascii_lowercase().contains("stream")))
    }

    /// The parameter with whole words of its type replaced: a template's parameters by its arguments.
    pub(crate) fn substituted(&self, replacements: &[(&str, &str)]) -> Self {
        let mut ty = String::new();
        let mut rest = self.ty.as_str();
        while !rest.is_empty() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let in_word = rest.starts_with(is_word);
            let end = rest.find(|c: char| is_word(c) != in_word).unwrap_or(rest.len());
            let (piece, after) = rest.split_at(end);
            ty.push_str(replacements.iter().find(|(from, _)| *from == piece).map_or(piece, |(_, to)| to));
            rest = after;
        }
        Self { name: self.name.clone(), class: classify(&ty), ty }
    }
}

impl LaunchSite {
    /// The launched kernel's name, without namespaces and template arguments.
    pub fn kernel_name(&self) -> &str {
        let path = self.kernel.split('<').next().unwrap_or_default();
        path.rsplit("::").next().unwrap_or(path).trim()
    }
}
