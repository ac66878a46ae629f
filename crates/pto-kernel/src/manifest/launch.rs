//! `[launch]`: how many blocks, and in which order the launcher takes what it takes.

use super::arg_types::Arg;
use super::diagnostic::{Sink, nearest_help, quoted};
use super::dims::Dims;
use super::expression::{Scope, expression};
use super::fields::{At, Fields, Node, array, integer, string, wrong_type};
use super::model::{BLOCK_DIM, CORE_COUNTS, Launch, STREAM, SignatureItem};
use toml::de::DeValue;

pub(super) const KEYS: [&str; 3] = ["block_dim", "signature", "may_vary"];

pub(super) fn read(fields: &Fields<'_>, dims: &Dims, args: Option<&[At<Arg>]>, sink: &mut Sink<'_>) -> Option<Launch> {
    let block_dim = block_dim(fields, dims, sink);
    let args = args?;
    let signature = match fields.get("signature") {
        Some(node) => signature(node, args, sink),
        None => Some(default_signature(args.len())),
    };
    let may_vary = if fields.has("may_vary") { fields.required_string("may_vary", sink) } else { None };
    let may_vary = may_vary.map(|reason| reason.value);
    Some(Launch { block_dim: block_dim?, signature: signature?, may_vary })
}

/// `block_dim`, `stream`, then the arguments in their order.
fn default_signature(args: usize) -> Vec<SignatureItem> {
    [SignatureItem::BlockDim, SignatureItem::Stream].into_iter().chain((0..args).map(SignatureItem::Arg)).collect()
}

fn block_dim(fields: &Fields<'_>, dims: &Dims, sink: &mut Sink<'_>) -> Option<pto_golden::Expr> {
    let node = fields.require("block_dim", sink)?;
    let what = fields.what("block_dim");
    let text = match node.get_ref() {
        DeValue::String(text) => At::new(node.span(), text.to_string()),
        DeValue::Integer(_) => integer(node, &what, sink)?.map(|value| value.to_string()),
        other => return wrong_type(node, &what, "a whole number or an expression", other, sink),
    };
    let names = dims.keys().map(String::as_str).chain(CORE_COUNTS).collect();
    expression(&text, "`block_dim`", &Scope { noun: "name", names }, sink)
}

fn signature(node: &Node<'_>, args: &[At<Arg>], sink: &mut Sink<'_>) -> Option<Vec<SignatureItem>> {
    let mut items: Vec<SignatureItem> = Vec::new();
    let mut understood = true;
    for entry in array(node, "`signature`", sink)? {
        let Some(text) = string(entry, "an item of `signature`", sink) else {
            understood = false;
            continue;
        };
        match item(&text.value, args) {
            Some(item) if items.contains(&item) => {
                sink.error(text.span, format!("`signature` lists `{}` twice", text.value));
            }
            Some(item) => items.push(item),
            None => {
                understood = false;
                let known = args.iter().map(|arg| arg.value.name.as_str()).chain([BLOCK_DIM, STREAM]);
                let help = nearest_help(&text.value, known);
                sink.error_with(text.span, format!("`signature` lists `{}`, which is no argument", text.value), help);
            }
        }
    }
    // After a misspelt item the list of missing ones would only repeat the mistake.
    if understood {
        refuse_missing(node, &items, args, sink);
    }
    Some(items)
}

fn item(name: &str, args: &[At<Arg>]) -> Option<SignatureItem> {
    match name {
        BLOCK_DIM => Some(SignatureItem::BlockDim),
        STREAM => Some(SignatureItem::Stream),
        name => args.iter().position(|arg| arg.value.name == name).map(SignatureItem::Arg),
    }
}

/// A launcher may choose its own number of blocks, but the stream and every argument it must be given.
fn refuse_missing(node: &Node<'_>, items: &[SignatureItem], args: &[At<Arg>], sink: &mut Sink<'_>) {
    let mut missing = Vec::new();
    if !items.contains(&SignatureItem::Stream) {
        missing.push(STREAM);
    }
    let unlisted = |index: &usize| !items.contains(&SignatureItem::Arg(*index));
    missing.extend((0..args.len()).filter(unlisted).map(|index| args[index].value.name.as_str()));
    if !missing.is_empty() {
        sink.error(node.span(), format!("`signature` lacks {}", quoted(missing)));
    }
}
