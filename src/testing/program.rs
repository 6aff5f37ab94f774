//! Programs as trees of lines, which stay programs when they are reduced.

use std::fmt::Write;

/// A part that can be left out as a whole: an instruction, a few instructions that belong together,
/// or an `if`, a loop or a function with bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node(pub Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Lines(Vec<String>),
    Body(Vec<Node>),
}

impl Node {
    pub fn lines(lines: impl IntoIterator<Item = impl Into<String>>) -> Node {
        Node(vec![Part::from_lines(lines)])
    }

    /// Returns a node of a body between lines.
    pub fn around(
        open: impl IntoIterator<Item = impl Into<String>>,
        body: Vec<Node>,
        close: impl IntoIterator<Item = impl Into<String>>,
    ) -> Node {
        Node(vec![Part::from_lines(open), Part::Body(body), Part::from_lines(close)])
    }

    /// Returns the last of its lines: for an instruction with its setup, the instruction.
    pub fn last_line(&self) -> &str {
        let mut parts = self.0.iter().rev();
        let last = parts.find_map(|part| match part {
            Part::Lines(lines) => lines.last().map(String::as_str),
            Part::Body(body) => body.last().map(Node::last_line),
        });
        last.unwrap_or_default()
    }

    /// Whether a program may have the node more than once, because it declares nothing.
    pub fn may_stand_again(&self) -> bool {
        let declares = |line: &String| {
            line.starts_with('.')
                || line.split_whitespace().next().is_some_and(|word| word.ends_with(':'))
        };
        self.0.iter().all(|part| match part {
            Part::Lines(lines) => !lines.iter().any(declares),
            Part::Body(body) => body.iter().all(Node::may_stand_again),
        })
    }

    /// Returns the number of lines of the node and of its bodies.
    pub fn count_lines(&self) -> usize {
        let lines = |part: &Part| match part {
            Part::Lines(lines) => lines.len(),
            Part::Body(body) => body.iter().map(Node::count_lines).sum(),
        };
        self.0.iter().map(lines).sum()
    }

    pub fn line(line: impl Into<String>) -> Node {
        Node::lines([line.into()])
    }
}

impl Part {
    pub fn from_lines(lines: impl IntoIterator<Item = impl Into<String>>) -> Part {
        Part::Lines(lines.into_iter().map(Into::into).collect())
    }
}

/// Prints a body to `text`, with labels at the margin.
pub fn print(body: &[Node], text: &mut String) {
    for part in body.iter().flat_map(|node| &node.0) {
        match part {
            Part::Lines(lines) => lines.iter().for_each(|line| print_line(line, text)),
            Part::Body(body) => print(body, text),
        }
    }
}

pub fn print_line(line: &str, text: &mut String) {
    let indent = if line.starts_with('.') { "" } else { "    " };
    // Writing to a string does not fail.
    let _ = writeln!(text, "{indent}{line}");
}

/// The most tests of a search for a needed subset.
const MAX_TESTS: usize = 400;

/// Returns the smallest program found that still fails. Nodes are left out, or replaced by their
/// bodies.
pub fn reduce(body: &[Node], fails: &mut dyn FnMut(&[Node]) -> bool) -> Vec<Node> {
    let mut smallest = body.to_vec();
    loop {
        let before = count(&smallest);
        let kept = subset(before, &mut |kept| fails(&select(&smallest, kept, Leave::Out)));
        smallest = select(&smallest, &kept, Leave::Out);
        let kept =
            subset(count(&smallest), &mut |kept| fails(&select(&smallest, kept, Leave::Bodies)));
        smallest = select(&smallest, &kept, Leave::Bodies);
        if count(&smallest) == before {
            return smallest;
        }
    }
}

/// Returns which of `count` things a test needs to fail. All other things can be left out together.
/// The result is not always the smallest one.
pub fn subset(count: usize, fails: &mut dyn FnMut(&[bool]) -> bool) -> Vec<bool> {
    let mut kept = vec![true; count];
    let mut size = count;
    let mut tests = 0;
    while size > 0 {
        for start in (0..count).step_by(size) {
            let range = start..(start + size).min(count);
            if tests == MAX_TESTS || kept[range.clone()].iter().all(|kept| !kept) {
                continue;
            }
            let mut fewer = kept.clone();
            fewer[range].fill(false);
            tests += 1;
            if fails(&fewer) {
                kept = fewer;
            }
        }
        size /= 2;
    }
    kept
}

/// Counts nodes, including nodes in bodies.
fn count(body: &[Node]) -> usize {
    body.iter().map(|node| 1 + bodies(node).map(|body| count(body)).sum::<usize>()).sum()
}

fn bodies(node: &Node) -> impl Iterator<Item = &Vec<Node>> {
    node.0.iter().filter_map(|part| match part {
        Part::Body(body) => Some(body),
        Part::Lines(_) => None,
    })
}

/// The treatment of a node that is not kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leave {
    Out,
    /// The node's bodies stay. A node without bodies stays itself.
    Bodies,
}

/// Returns the program with the nodes that are `kept`, by number. A node's number comes before the
/// numbers of nodes in its bodies.
fn select(body: &[Node], kept: &[bool], leave: Leave) -> Vec<Node> {
    fn walk(body: &[Node], kept: &[bool], leave: Leave, next: &mut usize) -> Vec<Node> {
        let mut selected = Vec::new();
        for node in body {
            let keep = kept[*next];
            *next += 1;
            let parts: Vec<Part> = (node.0.iter())
                .map(|part| match part {
                    Part::Body(body) => Part::Body(walk(body, kept, leave, next)),
                    Part::Lines(lines) => Part::Lines(lines.clone()),
                })
                .collect();
            let node = Node(parts);
            match leave {
                _ if keep => selected.push(node),
                Leave::Out => {}
                Leave::Bodies if bodies(&node).next().is_none() => selected.push(node),
                Leave::Bodies => selected.extend(bodies(&node).flatten().cloned()),
            }
        }
        selected
    }
    walk(body, kept, leave, &mut 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &[Node]) -> String {
        let mut text = String::new();
        print(body, &mut text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn program() -> Vec<Node> {
        let structure =
            |open: &str, body: Vec<Node>, close: &str| Node::around([open], body, [close]);
        let inner = structure("if", vec![Node::line("c"), Node::line("d")], "fi");
        let outer = structure("loop", vec![Node::line("b"), inner, Node::line("e")], "pool");
        vec![Node::line("a"), outer, Node::line("f")]
    }

    #[test]
    fn what_is_needed_stays() {
        let mut tests = 0;
        let reduced = reduce(&program(), &mut |body| {
            tests += 1;
            let text = text(body);
            text.contains('d') && text.contains("loop")
        });
        assert_eq!(text(&reduced), "loop d pool");
        assert!(tests < 60, "{tests}");
    }

    #[test]
    fn structures_go_with_all_their_lines() {
        let reduced = reduce(&program(), &mut |body| text(body).contains('f'));
        assert!(["f", "if fi"].contains(&text(&reduced).as_str()), "{}", text(&reduced));
    }
}
