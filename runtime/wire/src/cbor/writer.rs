//! Trees as CBOR.

use serde_json::Value;

/// Appends a tree.
pub(super) fn write(tree: &Value, out: &mut Vec<u8>) {
    match tree {
        Value::Null => out.push(0xf6),
        Value::Bool(false) => out.push(0xf4),
        Value::Bool(true) => out.push(0xf5),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), _, _) => head(0, value, out),
            // -1 is 0, -2 is 1: the complement.
            (None, Some(value), _) => head(1, (!value).cast_unsigned(), out),
            (None, None, Some(value)) => float(value, out),
            (None, None, None) => out.push(0xf6),
        },
        Value::String(text) => bytes(text.as_bytes(), out),
        Value::Array(elements) => {
            open_array(elements.len(), out);
            for element in elements {
                write(element, out);
            }
        }
        Value::Object(entries) => {
            head(5, entries.len() as u64, out);
            for (key, value) in entries {
                bytes(key.as_bytes(), out);
                write(value, out);
            }
        }
    }
}

/// Begins an array of `count` elements, which follow.
pub(super) fn open_array(count: usize, out: &mut Vec<u8>) {
    head(4, count as u64, out);
}

fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    head(2, bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Appends what every item starts with, in its shortest form.
fn head(major: u8, argument: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    let all = argument.to_be_bytes();
    match argument {
        0..=23 => out.push(major | all[7]),
        24..=0xff => out.extend_from_slice(&[major | 24, all[7]]),
        0x100..=0xffff => {
            out.push(major | 25);
            out.extend_from_slice(&all[6..]);
        }
        0x1_0000..=0xffff_ffff => {
            out.push(major | 26);
            out.extend_from_slice(&all[4..]);
        }
        _ => {
            out.push(major | 27);
            out.extend_from_slice(&all);
        }
    }
}

/// Appends a number with a fraction, in four bytes where these say the same.
fn float(value: f64, out: &mut Vec<u8>) {
    #[expect(clippy::cast_possible_truncation, reason = "whether something is lost is looked at")]
    let short = value as f32;
    if f64::from(short).to_bits() == value.to_bits() {
        out.push(0xfa);
        out.extend_from_slice(&short.to_be_bytes());
    } else {
        out.push(0xfb);
        out.extend_from_slice(&value.to_be_bytes());
    }
}
