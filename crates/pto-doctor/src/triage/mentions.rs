//! Codes in lines. A number is a code only where a word before it says so: sizes, ids and times look the same.

/// Words before a code, in lower case; a name that ends with one of them (`drvRetCode`, `runtime result`) counts.
const INTRODUCTIONS: [&str; 11] =
    ["failed", "fail", "error", "code", "ret", "result", "return", "returned", "rc", "status", "detail"];

/// Calls `found` with each number of six digits, and each negative one of four, that stands as a code. Most lines hold
/// no such number, so this is a single pass over the bytes.
pub(super) fn codes(line: &[u8], mut found: impl FnMut(i64)) {
    let mut at = 0;
    while at < line.len() {
        if !line[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < line.len() && line[at].is_ascii_digit() {
            at += 1;
        }
        let negative = start > 0 && line[start - 1] == b'-';
        let fits = (at - start == 6 && !negative) || (at - start == 4 && negative);
        let begin = start - usize::from(negative);
        if fits && stands_alone(line, begin, at) && is_introduced(&line[..begin]) {
            let digits = line[start..at].iter().fold(0_i64, |n, digit| n * 10 + i64::from(digit - b'0'));
            found(if negative { -digits } else { digits });
        }
    }
}

fn stands_alone(line: &[u8], begin: usize, end: usize) -> bool {
    let joins = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let before = begin.checked_sub(1).map(|at| line[at]);
    let after = line.get(end).copied();
    let decimal = after == Some(b'.') && line.get(end + 1).is_some_and(u8::is_ascii_digit);
    !before.is_some_and(|byte| joins(byte) || byte == b'.' || byte == b'-') && !after.is_some_and(joins) && !decimal
}

/// The last word of `before`, behind blanks, punctuation and other codes (`code 507018 / 507046`), introduces a code.
fn is_introduced(before: &[u8]) -> bool {
    let skipped = |byte: &u8| byte.is_ascii_digit() || b" :=(/,'\"`[-".contains(byte);
    let before = trim_end(before, skipped);
    let word = last_word(before);
    if word.eq_ignore_ascii_case(b"is") || word.eq_ignore_ascii_case(b"with") {
        return is_introduced(&before[..before.len() - word.len()]);
    }
    INTRODUCTIONS.iter().any(|introduction| ends_with(word, introduction.as_bytes()))
}

fn trim_end(bytes: &[u8], unwanted: impl Fn(&u8) -> bool) -> &[u8] {
    let end = bytes.iter().rposition(|byte| !unwanted(byte)).map_or(0, |at| at + 1);
    &bytes[..end]
}

fn last_word(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().rposition(|byte| !byte.is_ascii_alphabetic() && *byte != b'_').map_or(0, |at| at + 1);
    &bytes[start..]
}

/// `word` ends with `introduction` as a word of its own: `ErrCode` and `drvRet` do, `secret` does not.
fn ends_with(word: &[u8], introduction: &[u8]) -> bool {
    let Some(at) = word.len().checked_sub(introduction.len()) else { return false };
    let begins_a_word = at == 0 || word[at - 1] == b'_' || word[at].is_ascii_uppercase() || is_short(&word[..at]);
    begins_a_word && word[at..].eq_ignore_ascii_case(introduction)
}

/// `retcode`, `errcode`, `errorcode`: names in lower case throughout.
fn is_short(head: &[u8]) -> bool {
    [&b"ret"[..], b"err", b"error", b"drvret"].iter().any(|known| head.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes_of(line: &str) -> Vec<i64> {
        let mut all = Vec::new();
        codes(line.as_bytes(), |code| all.push(code));
        all
    }

    #[test]
    fn codes_are_found_as_every_layer_prints_them() {
        for (line, expected) in [
            ("aclrtSynchronizeStream(stream) failed: 507015 (main.cpp:8)", vec![507_015]),
            ("rtGetDeviceCount:ErrCode=507899, desc=[driver error]", vec![507_899]),
            ("get device num fail. ret = 507899", vec![507_899]),
            ("open device 2 failed, runtime result = 507033.[FUNC:f]", vec![507_033]),
            ("taskid: 0, retcode: 507018", vec![507_018]),
            ("simpler_run failed with code 507018 / 507046 / 507901", vec![507_018, 507_046, 507_901]),
            ("NPU function error: f, error code is 507014", vec![507_014]),
            ("ACL stream synchronize failed, error code:507018", vec![507_018]),
            ("npu get board type failed. ret is -9005", vec![-9005]),
            ("return -8020", vec![-8020]),
        ] {
            assert_eq!(codes_of(line), expected, "{line}");
        }
    }

    #[test]
    fn other_numbers_are_no_codes() {
        for line in [
            "size=507018",
            "pid 507018, serial number is 507018",
            "the secret 507018",
            "error code = 0x507018",
            "failed: 507018.25 ms",
            "failed: 5070181",
            "2026-8020 and ret=2026-01-02",
            "failed in file507018",
        ] {
            assert_eq!(codes_of(line), Vec::<i64>::new(), "{line}");
        }
    }
}
