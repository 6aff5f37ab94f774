//! Directives of a graphics program: the facts of its header.

use warploom_guest::header::{Flag, Header, Interpolation, TARGETS};

use crate::Stage;

/// The letters of the four words from an address on. `COMPONENTS`: the letters of a target's
/// components.
const WORDS: [char; 4] = ['x', 'y', 'z', 'w'];
const COMPONENTS: [char; 4] = ['r', 'g', 'b', 'a'];

/// Returns the header that `.stage NAME` begins.
///
/// # Errors
/// The error says the expected names.
pub(super) fn header(name: &str) -> Result<Header, String> {
    let names = || Stage::ALL.map(Stage::name).join(", ");
    let stage = Stage::ALL.into_iter().find(|stage| stage.name() == name);
    stage.map(Header::new).ok_or_else(|| format!("`{name}`: expected {}", names()))
}

/// Applies a directive of a graphics program. Returns false if it is another directive.
///
/// # Errors
/// The error says the expected value.
pub(super) fn directive(header: &mut Header, name: &str, value: &str) -> Result<bool, String> {
    let words: Vec<&str> = value.split_whitespace().collect();
    match (name, words.as_slice()) {
        (".input", [address, letters, how @ ..]) => {
            let constant = header.stage() != Stage::Fragment;
            let how = match how {
                [] if constant => Interpolation::Constant,
                [] => Interpolation::Linear,
                [how] if !constant => Interpolation::named(how)
                    .ok_or_else(|| format!("`{how}`: expected constant, perspective or linear"))?,
                _ => {
                    return Err(format!(
                        "`{value}`: expected an address and its words, such as 0x80 xyz"
                    ));
                }
            };
            for address in addresses(address, letters)? {
                if !header.set_input(address, how) {
                    return Err(format!("{address:#x} cannot be an input that is {}", how.name()));
                }
            }
        }
        (".input", _) => {
            return Err(format!(
                "`{value}`: expected an address and its words, such as 0x80 xyz perspective"
            ));
        }
        (".output", ["mask"]) if header.stage() == Stage::Fragment => header.set_sample_mask(),
        (".output", ["depth"]) if header.stage() == Stage::Fragment => header.set_depth(),
        (".output", [target, letters]) if header.stage() == Stage::Fragment => {
            let number = target.strip_prefix("target").and_then(|number| number.parse().ok());
            let number = number.filter(|&number| number < TARGETS);
            let number = number
                .ok_or_else(|| format!("`{target}`: expected target0 to target{}", TARGETS - 1))?;
            let components = places(letters, COMPONENTS)?.fold(0, |all, n| all | 1 << n);
            header.set_target(number, components);
        }
        (".output", [address, letters]) if header.stage() != Stage::Fragment => {
            for address in addresses(address, letters)? {
                if !header.set_output(address) {
                    return Err(format!("{address:#x} cannot be an output"));
                }
            }
        }
        (".output", _) if header.stage() == Stage::Fragment => {
            return Err(format!(
                "`{value}`: expected mask, depth, or a target and components, such as target0 rgba"
            ));
        }
        (".output", _) => {
            return Err(format!("`{value}`: expected an address and its words, such as 0x70 xyzw"));
        }
        (".forbid", flags) => {
            for flag in flags {
                let known = Flag::ALL.into_iter().find(|known| known.name() == *flag);
                let names = || Flag::ALL.map(Flag::name).join(", ");
                header.set(known.ok_or_else(|| format!("`{flag}`: expected {}", names()))?, false);
            }
        }
        (".local", [bytes]) => {
            let bytes = bytes.parse().ok().filter(|&bytes: &u32| bytes < 1 << 24);
            header.set_local_bytes(
                bytes.ok_or_else(|| format!("`{value}`: expected bytes below 16 MiB"))?,
            );
        }
        (".threads", [count]) => {
            header.set_threads(count.parse().map_err(|_| format!("`{count}`: expected 0 to 255"))?);
        }
        (".max_vertices", [count]) => {
            let most = count.parse().ok().filter(|&count: &u16| count <= 1024);
            header.set_max_vertices(
                most.ok_or_else(|| format!("`{count}`: expected up to 1024 vertices"))?,
            );
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns the addresses of words, for example of `0x80 xz`.
fn addresses(first: &str, letters: &str) -> Result<impl Iterator<Item = u16>, String> {
    let address = first.strip_prefix("0x").and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let address = address.filter(|&address| address.is_multiple_of(4) && address < 0x3f8);
    let address = address
        .ok_or_else(|| format!("`{first}`: expected a multiple of 4 below 0x3f8, such as 0x80"))?;
    Ok(places(letters, WORDS)?.map(move |n| address + 4 * n))
}

/// Returns the numbers of letters, which must all be different.
fn places(text: &str, letters: [char; 4]) -> Result<impl Iterator<Item = u16>, String> {
    let numbers: Option<Vec<u16>> = text
        .chars()
        .map(|c| letters.iter().position(|&letter| letter == c).map(|n| n as u16))
        .collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty());
    let expected =
        || format!("`{text}`: expected letters of {}", letters.iter().collect::<String>());
    Ok(numbers.ok_or_else(expected)?.into_iter())
}
