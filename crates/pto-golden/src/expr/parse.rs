//! Tokens to a tree, with Python's precedence.

use std::ops::Range;

use super::ExprError;
use super::ast::{BinaryOp, Call, MAX_HEIGHT, Node, NodeKind};
use super::function::{self, Signature};
use super::token::{Token, TokenKind, tokenize};

/// Binding powers, weakest first. `-x ** 2` is `-(x ** 2)`, as in Python.
mod power {
    pub(super) const COMPARISON: u8 = 1;
    pub(super) const SUM: u8 = 3;
    pub(super) const PRODUCT: u8 = 5;
    pub(super) const UNARY: u8 = 7;
    pub(super) const POWER: u8 = 9;
}

pub(super) fn parse(source: &str) -> Result<Node, ExprError> {
    let mut parser = Parser { source, tokens: tokenize(source)?, at: 0, depth: 0 };
    let node = parser.expression(0)?;
    match parser.peek().kind {
        TokenKind::End => Ok(node),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

/// Operator, left binding power, binding power its right side is read with.
fn binding(symbol: &str) -> Option<(BinaryOp, u8, u8)> {
    let op = BinaryOp::from_symbol(symbol)?;
    Some(match op {
        BinaryOp::Add | BinaryOp::Sub => (op, power::SUM, power::SUM + 1),
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem | BinaryOp::MatMul => {
            (op, power::PRODUCT, power::PRODUCT + 1)
        }
        BinaryOp::Pow => (op, power::POWER, power::UNARY), // right to left, and `2 ** -1` is allowed
        _ => (op, power::COMPARISON, power::COMPARISON + 1),
    })
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: u16,
}

/// An argument as written: `x`, or `axis=-1`.
struct Argument {
    keyword: Option<(String, Range<usize>)>,
    value: Node,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn text(&self, span: &Range<usize>) -> &str {
        &self.source[span.clone()]
    }

    /// The end token is never passed.
    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, symbol: &'static str) -> bool {
        let found = self.peek().kind == TokenKind::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn unexpected(&self, expected: &str) -> ExprError {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the end".to_owned(),
            _ => format!("`{}`", self.text(&token.span)),
        };
        let error = ExprError::new(format!("found {found}, expected {expected}"), token.span.clone());
        match self.text(&token.span) {
            "and" | "or" => error.with_help("write `logical_and(a, b)` or `logical_or(a, b)`"),
            "if" => error.with_help("write `where(condition, a, b)`"),
            "=" => error.with_help("equality is written `==`"),
            "[" => error.with_help("indexing is not part of the language; `reshape` and `expand_dims` change shapes"),
            _ => error,
        }
    }

    fn node(&self, kind: NodeKind, span: Range<usize>) -> Result<Node, ExprError> {
        let node = Node::new(kind, span);
        if node.height > MAX_HEIGHT { Err(too_deep(node.span)) } else { Ok(node) }
    }

    fn expression(&mut self, weakest: u8) -> Result<Node, ExprError> {
        if self.depth >= MAX_HEIGHT {
            return Err(too_deep(self.peek().span.clone()));
        }
        self.depth += 1;
        let node = self.operators(weakest);
        self.depth -= 1;
        node
    }

    fn operators(&mut self, weakest: u8) -> Result<Node, ExprError> {
        let mut left = self.prefix()?;
        let mut compared = false;
        while let TokenKind::Symbol(symbol) = self.peek().kind {
            let Some((op, strength, right_side)) = binding(symbol) else { break };
            if strength < weakest {
                break;
            }
            if op.is_comparison() && compared {
                let error = ExprError::new("comparisons cannot be chained", self.peek().span.clone());
                return Err(error.with_help("write `logical_and(a < b, b < c)`"));
            }
            compared = op.is_comparison();
            self.advance();
            let right = self.expression(right_side)?;
            let span = left.span.start..right.span.end;
            left = self.node(NodeKind::Binary(op, Box::new(left), Box::new(right)), span)?;
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Node, ExprError> {
        let start = self.peek().span.start;
        if self.eat("-") {
            let operand = self.expression(power::UNARY)?;
            let span = start..operand.span.end;
            return self.node(NodeKind::Negate(Box::new(operand)), span);
        }
        if self.eat("+") {
            return self.expression(power::UNARY);
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Node, ExprError> {
        let mut node = self.primary()?;
        while self.eat(".") {
            let attribute = self.advance();
            if attribute.kind != TokenKind::Name || self.text(&attribute.span) != "T" {
                let found = self.text(&attribute.span);
                let error = ExprError::new(format!("found `.{found}`, expected `.T`"), attribute.span.clone());
                return Err(error.with_help("functions are written without a module or an object: `exp(x)`"));
            }
            let span = node.span.start..attribute.span.end;
            node = self.node(NodeKind::TransposeAll(Box::new(node)), span)?;
        }
        Ok(node)
    }

    fn primary(&mut self) -> Result<Node, ExprError> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Int(value) => self.leaf(NodeKind::Int(value)),
            TokenKind::Float(value) => self.leaf(NodeKind::Float(value)),
            TokenKind::Name => self.name_or_call(),
            TokenKind::Symbol("(") => self.parenthesis(),
            _ => Err(self.unexpected("a name, a number or `(`")),
        }
    }

    fn leaf(&mut self, kind: NodeKind) -> Result<Node, ExprError> {
        let span = self.advance().span;
        self.node(kind, span)
    }

    fn name_or_call(&mut self) -> Result<Node, ExprError> {
        let token = self.advance();
        let name = self.text(&token.span).to_owned();
        if self.eat("(") {
            return self.call(&name, token.span);
        }
        let kind = match name.as_str() {
            "inf" => NodeKind::Float(f64::INFINITY),
            "nan" => NodeKind::Float(f64::NAN),
            "true" | "True" => NodeKind::Bool(true),
            "false" | "False" => NodeKind::Bool(false),
            _ => NodeKind::Name(name),
        };
        self.node(kind, token.span)
    }

    /// `(x)`, or a tuple: `(0, 1)`, `(0,)`.
    fn parenthesis(&mut self) -> Result<Node, ExprError> {
        let start = self.advance().span.start;
        let mut items = vec![self.expression(0)?];
        let mut tuple = false;
        while self.eat(",") {
            tuple = true;
            if self.peek().kind == TokenKind::Symbol(")") {
                break;
            }
            items.push(self.expression(0)?);
        }
        let end = self.close(start)?;
        match items.pop() {
            Some(mut inner) if !tuple => {
                inner.span = start..end; // so that an operator's span takes the parentheses in
                Ok(inner)
            }
            last => {
                items.extend(last);
                self.node(NodeKind::Tuple(items), start..end)
            }
        }
    }

    /// The closing parenthesis of the one at `open`; returns the byte behind it.
    fn close(&mut self, open: usize) -> Result<usize, ExprError> {
        let end = self.peek().span.end;
        if self.eat(")") {
            return Ok(end);
        }
        let error = self.unexpected("`)` or an operator");
        Err(if error.help.is_some() { error } else { error.with_help(format!("`(` was opened at byte {open}")) })
    }

    fn call(&mut self, name: &str, name_span: Range<usize>) -> Result<Node, ExprError> {
        let Some(signature) = function::signature(name) else {
            return Err(ExprError::unknown("function", name, name_span, function::names()));
        };
        let open = name_span.end;
        let mut arguments = Vec::new();
        while self.peek().kind != TokenKind::Symbol(")") {
            arguments.push(self.argument()?);
            if !self.eat(",") {
                break;
            }
        }
        let span = name_span.start..self.close(open)?;
        let call = bind(&signature, arguments, &span)?;
        self.node(NodeKind::Call(call), span)
    }

    fn argument(&mut self) -> Result<Argument, ExprError> {
        let token = self.peek().clone();
        let next = self.tokens.get(self.at + 1).map(|token| token.kind);
        let mut keyword = None;
        if token.kind == TokenKind::Name && next == Some(TokenKind::Symbol("=")) {
            keyword = Some((self.text(&token.span).to_owned(), token.span));
            self.advance();
            self.advance();
        }
        Ok(Argument { keyword, value: self.expression(0)? })
    }
}

fn too_deep(span: Range<usize>) -> ExprError {
    ExprError::new(format!("the expression is nested more than {MAX_HEIGHT} levels deep"), span)
}

/// Matches the arguments to operands and options.
fn bind(signature: &Signature, arguments: Vec<Argument>, span: &Range<usize>) -> Result<Call, ExprError> {
    let mut call = Call { function: signature.function, operands: Vec::new(), options: Vec::new() };
    let mut positional_options = signature.options.iter();
    for Argument { keyword, value } in arguments {
        match keyword {
            Some((word, word_span)) => {
                let Some(option) = signature.options.iter().find(|option| **option == word) else {
                    let what = format!("option of `{}`", signature.name);
                    return Err(ExprError::unknown(&what, &word, word_span, signature.options.iter().copied()));
                };
                if call.option(option).is_some() {
                    return Err(ExprError::new(format!("`{word}` is given twice"), word_span));
                }
                call.options.push((option, value));
            }
            None if call.operands.len() < signature.operands.1 => call.operands.push(value),
            None => match positional_options.next() {
                Some(option) if call.option(option).is_none() => call.options.push((option, value)),
                _ => return Err(ExprError::new(format!("`{}` takes fewer arguments", signature.name), value.span)),
            },
        }
    }
    let found = call.operands.len();
    if found < signature.operands.0 {
        let expected = signature.operands.0;
        let plural = if expected == 1 { "" } else { "s" };
        let message = format!("`{}` needs {expected} operand{plural}, found {found}", signature.name);
        return Err(ExprError::new(message, span.clone()));
    }
    Ok(call)
}
