//! The header of a `.npy` file: magic, version, and a Python dictionary as text.
//!
//! Format: NumPy's `numpy.lib.format`, versions 1.0, 2.0 and 3.0.

use crate::{DType, Error, Shape};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longest header read. NumPy itself refuses more than 10 000 bytes unless told otherwise.
const MAX_HEADER: usize = 1 << 16;

/// NumPy's own limit.
const MAX_AXES: usize = 64;

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) descr: Descr,
    pub(super) fortran_order: bool,
    pub(super) shape: Shape,
    /// Where the elements begin.
    pub(super) data_at: usize,
}

/// The element type as the file spells it, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Descr {
    pub(super) text: String,
    pub(super) big_endian: bool,
    /// NumPy's letter: `f`, `i`, `u`, `b`, `V`.
    pub(super) kind: char,
    /// Bytes per element.
    pub(super) size: usize,
}

impl Descr {
    /// The dtype, unless the descr only says how large an element is.
    pub(super) fn dtype(&self) -> Option<DType> {
        let code = format!("{}{}", self.kind, self.size);
        DType::ALL.into_iter().find(|dtype| self.kind != 'V' && dtype.numpy_descr()[1..] == code)
    }

    fn parse(text: &str) -> Option<Self> {
        let order = text.chars().next().filter(|order| "<>=|".contains(*order))?;
        let kind = text[1..].chars().next().filter(char::is_ascii_alphabetic)?;
        let size = text[2..].parse().ok()?;
        Some(Self { text: text.to_owned(), big_endian: order == '>', kind, size })
    }
}

/// Reads the header at the start of `bytes`.
pub(super) fn parse(bytes: &[u8]) -> Result<Header, Error> {
    if !bytes.starts_with(MAGIC) {
        return Err(Error::malformed(0, "the file does not begin with `\\x93NUMPY`"));
    }
    let Some(&[major, minor]) = bytes.get(6..8) else {
        return Err(Error::malformed(6, "the file ends before the format version"));
    };
    let (len, text_at) = match (major, minor) {
        (1, 0) => (bytes.get(8..10).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]]))), 10),
        (2 | 3, 0) => (bytes.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize), 12),
        _ => return Err(Error::malformed(6, format!("format version {major}.{minor}, expected 1.0, 2.0 or 3.0"))),
    };
    let len = len.ok_or_else(|| Error::malformed(8, "the file ends before the length of the header"))?;
    if len > MAX_HEADER {
        return Err(Error::malformed(8, format!("a header of {len} bytes, at most {MAX_HEADER} are read")));
    }
    let data_at = text_at + len;
    let Some(text) = bytes.get(text_at..data_at) else {
        return Err(Error::malformed(bytes.len(), format!("the file ends inside its header of {len} bytes")));
    };
    Dictionary { text, base: text_at, at: 0 }.read(data_at)
}

/// The little of Python's literal syntax that a header uses.
struct Dictionary<'a> {
    text: &'a [u8],
    base: usize,
    at: usize,
}

impl<'a> Dictionary<'a> {
    fn read(mut self, data_at: usize) -> Result<Header, Error> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.eat(b'}') {
            let key_at = self.base + self.at;
            let key = self.string()?;
            self.expect(b':')?;
            let twice = match key {
                "descr" => descr.replace(self.descr()?).is_some(),
                "fortran_order" => fortran_order.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => {
                    let reason = format!("key `{}`, expected descr, fortran_order or shape", key.escape_debug());
                    return Err(Error::malformed(key_at, reason));
                }
            };
            if twice {
                return Err(Error::malformed(key_at, format!("key `{key}` a second time")));
            }
            if !self.eat(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        self.skip_space();
        if self.at < self.text.len() {
            return Err(self.wrong("only spaces behind the dictionary"));
        }
        let missing = |key| Error::malformed(self.base, format!("the header has no `{key}`"));
        Ok(Header {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
            data_at,
        })
    }

    fn skip_space(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.eat(byte) { Ok(()) } else { Err(self.wrong(&format!("`{}`", char::from(byte)))) }
    }

    fn wrong(&self, expected: &str) -> Error {
        let found = match self.text.get(self.at) {
            Some(byte) => format!("`{}`", byte.escape_ascii()),
            None => "the end of the header".to_owned(),
        };
        Error::malformed(self.base + self.at, format!("found {found}, expected {expected}"))
    }

    /// A quoted word without escapes; no key and no descr needs one.
    fn string(&mut self) -> Result<&'a str, Error> {
        self.skip_space();
        let Some(quote @ (b'\'' | b'"')) = self.text.get(self.at).copied() else {
            return Err(self.wrong("a quoted word"));
        };
        let rest = &self.text[self.at + 1..];
        let len = rest.iter().position(|byte| *byte == quote);
        let word = len.and_then(|len| std::str::from_utf8(&rest[..len]).ok()).filter(|word| !word.contains('\\'));
        let word = word.ok_or_else(|| self.wrong("a quoted word that ends"))?;
        self.at += word.len() + 2;
        Ok(word)
    }

    fn descr(&mut self) -> Result<Descr, Error> {
        self.skip_space();
        let at = self.base + self.at;
        if self.text.get(self.at) == Some(&b'[') {
            return Err(Error::malformed(at, "a structured element type, expected a simple one such as `<f4`"));
        }
        let text = self.string()?;
        let bad =
            || Error::malformed(at, format!("element type `{}`, expected one such as `<f4`", text.escape_debug()));
        Descr::parse(text).filter(|descr| descr.size > 0).ok_or_else(bad)
    }

    fn boolean(&mut self) -> Result<bool, Error> {
        self.skip_space();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("True or False"))
    }

    fn shape(&mut self) -> Result<Shape, Error> {
        let mut axes = Vec::new();
        self.expect(b'(')?;
        while !self.eat(b')') {
            if axes.len() == MAX_AXES {
                return Err(self.wrong(&format!("at most {MAX_AXES} axes")));
            }
            axes.push(self.integer()?);
            if !self.eat(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(Shape(axes))
    }

    fn integer(&mut self) -> Result<usize, Error> {
        self.skip_space();
        let digits: &[u8] = &self.text[self.at..];
        let digits = &digits[..digits.iter().take_while(|byte| byte.is_ascii_digit()).count()];
        let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        let value = value.ok_or_else(|| self.wrong("an axis of at least 0 that an address can count"))?;
        self.at += digits.len();
        self.at += usize::from(self.text.get(self.at) == Some(&b'L')); // written by Python 2
        Ok(value)
    }
}

/// Version, header and padding of a little-endian, row-major file: what NumPy writes, byte for byte.
pub(super) fn compose(dtype: DType, shape: &[usize]) -> Vec<u8> {
    /// The elements begin at a multiple of this, so that the file can be mapped.
    const ALIGN: usize = 64;
    let axes: String = match shape {
        [] => String::new(),
        [one] => format!("{one},"),
        many => many.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let descr = dtype.numpy_descr();
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    let (version, length_bytes) = if text.len() + ALIGN <= usize::from(u16::MAX) { (1, 2) } else { (2, 4) };
    let before = MAGIC.len() + 2 + length_bytes;
    let padded = (before + text.len() + 1).next_multiple_of(ALIGN) - before;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let mut bytes = [MAGIC.as_slice(), &[version, 0]].concat();
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes()[..length_bytes]);
    bytes.extend_from_slice(text.as_bytes());
    bytes
}
