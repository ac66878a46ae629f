//! The tree of an expression.

use std::collections::BTreeSet;
use std::ops::Range;

use super::function::Function;

/// A tree may be no higher: every walk of it is recursive.
pub(super) const MAX_HEIGHT: u16 = 200;

/// A part of an expression and the bytes it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) span: Range<usize>,
    pub(super) height: u16,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    Int(i128),
    Float(f64),
    Bool(bool),
    Name(String),
    /// `-x`.
    Negate(Box<Node>),
    Binary(BinaryOp, Box<Node>, Box<Node>),
    /// `x.T`.
    TransposeAll(Box<Node>),
    /// `(0, 1)`; an axis list or a shape, never a value.
    Tuple(Vec<Node>),
    Call(Call),
}

/// A call whose arguments have been matched to the function's parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) function: Function,
    /// The tensors it works on, in order.
    pub(super) operands: Vec<Node>,
    /// `axis`, `keepdims` and the like, however they were written.
    pub(super) options: Vec<(&'static str, Node)>,
}

impl Call {
    pub(super) fn option(&self, name: &str) -> Option<&Node> {
        self.options.iter().find(|(option, _)| *option == name).map(|(_, node)| node)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Rem,
    Pow,
    MatMul,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl BinaryOp {
    pub(super) fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "+" => Self::Add,
            "-" => Self::Sub,
            "*" => Self::Mul,
            "/" => Self::Div,
            "//" => Self::FloorDiv,
            "%" => Self::Rem,
            "**" => Self::Pow,
            "@" => Self::MatMul,
            "<" => Self::Less,
            "<=" => Self::LessEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterEqual,
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            _ => return None,
        })
    }

    pub(super) fn is_comparison(self) -> bool {
        matches!(self, Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual | Self::Equal | Self::NotEqual)
    }
}

impl Node {
    pub(super) fn new(kind: NodeKind, span: Range<usize>) -> Self {
        let mut height = 0;
        kind.for_each_child(&mut |child| height = height.max(child.height + 1));
        Self { kind, span, height }
    }

    /// The names it looks up, each once, with the span of its first use.
    pub(super) fn collect_names<'a>(&'a self, seen: &mut BTreeSet<&'a str>, into: &mut Vec<(&'a str, Range<usize>)>) {
        if let NodeKind::Name(name) = &self.kind
            && seen.insert(name)
        {
            into.push((name, self.span.clone()));
        }
        self.kind.for_each_child(&mut |child| child.collect_names(seen, into));
    }
}

impl NodeKind {
    fn for_each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        match self {
            Self::Int(_) | Self::Float(_) | Self::Bool(_) | Self::Name(_) => {}
            Self::Negate(operand) | Self::TransposeAll(operand) => visit(operand),
            Self::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Self::Tuple(items) => items.iter().for_each(visit),
            Self::Call(call) => {
                call.operands.iter().for_each(&mut *visit);
                call.options.iter().for_each(|(_, node)| visit(node));
            }
        }
    }
}
