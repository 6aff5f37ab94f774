//! Faces of cubes. Source: facts, `maxwell-surfaces.md`, section 5.6.

/// A component of a vector, and its sign.
type Part = (usize, i8);

/// For each face, the components of a direction that are m, which leads to the face, and s and t
/// along its rows and columns.
const FACES: [[Part; 3]; 6] = {
    const X: usize = 0;
    const Y: usize = 1;
    const Z: usize = 2;
    [
        [(X, 1), (Z, -1), (Y, -1)],
        [(X, -1), (Z, 1), (Y, -1)],
        [(Y, 1), (X, 1), (Z, 1)],
        [(Y, -1), (X, 1), (Z, -1)],
        [(Z, 1), (X, 1), (Y, -1)],
        [(Z, -1), (X, -1), (Y, -1)],
    ]
};

/// The face to which a direction leads, and the position on it, from 0 to 1, with more places than
/// a float has. Of equally long components z counts first, then y.
pub fn project(direction: [f32; 3]) -> (u32, [f64; 2]) {
    let [x, y, z] = direction.map(f32::abs);
    let major = if z >= x && z >= y { 2 } else { usize::from(y >= x) };
    let face = 2 * major + usize::from(direction[major] < 0.0);
    let [m, s, t] = FACES[face].map(|(axis, sign)| direction[axis] * f32::from(sign));
    (face as u32, [s, t].map(|along| (f64::from(along / m) + 1.0) / 2.0))
}

/// The texel of a cube at a position of a face, which may lie beyond an edge. Beyond a corner, it
/// is the texel at the corner.
pub fn texel(face: u32, place: [i64; 2], size: u32) -> (u32, [u32; 2]) {
    let size = i64::from(size);
    let last = size - 1;
    let near = place.map(|k| k.clamp(-1, size));
    let inside = near.map(|k| (0..size).contains(&k));
    let [_, s, t] = FACES[face as usize % 6];
    let beyond = match inside {
        [false, true] => s,
        [true, false] => t,
        _ => return (face, near.map(|k| k.clamp(0, last) as u32)),
    };
    // Twice the distance from the cube's centre to the centre of the texel, which is folded down
    // onto the next face.
    let mut vector = [0; 3];
    for ((axis, sign), distance) in
        FACES[face as usize % 6].into_iter().zip([last, 2 * near[0] - last, 2 * near[1] - last])
    {
        vector[axis] = i64::from(sign) * distance;
    }
    let next = 2 * beyond.0 + usize::from(vector[beyond.0] < 0);
    let [_, s, t] = FACES[next];
    (next as u32, [s, t].map(|(axis, sign)| ((i64::from(sign) * vector[axis] + last) / 2) as u32))
}

/// The rule that gives a column or row of the next face from a texel's position along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    First = 0,
    Last = 1,
    Along = 2,
    Back = 3,
}

/// The face beyond the left, right, upper or lower edge of a face, and the rules for the column and
/// the row there. This is `texel` for code that handles all sizes.
pub const fn beyond_face(face: usize, edge: usize) -> (u32, [Way; 2]) {
    let [own, s, t] = FACES[face];
    let (beyond, along) = if edge < 2 { (s, t) } else { (t, s) };
    // At the first edge of an axis, the direction's component is negative.
    let negative = edge.is_multiple_of(2) == (beyond.1 > 0);
    let next = 2 * beyond.0 + negative as usize;
    let mut ways = [Way::First; 2];
    let mut at = 0;
    while at < 2 {
        let (axis, sign) = FACES[next][1 + at];
        ways[at] = if axis == along.0 {
            if sign == along.1 { Way::Along } else { Way::Back }
        } else if sign == own.1 {
            Way::Last
        } else {
            Way::First
        };
        at += 1;
    }
    (next as u32, ways)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_lead_to_faces() {
        assert_eq!(project([1.0, 0.0, 0.0]), (0, [0.5, 0.5]));
        assert_eq!(project([-2.0, 0.0, 1.0]), (1, [0.75, 0.5]));
        assert_eq!(project([1.0, 1.0, 1.0]).0, 4);
        assert_eq!(project([1.0, -1.0, 0.5]).0, 3);
        assert_eq!(project([0.0, 0.0, -0.0]).0, 4);
    }

    #[test]
    fn ways_lead_to_the_texels() {
        const SIZE: u32 = 8;
        for face in 0..6 {
            for edge in 0..4 {
                let (next, ways) = beyond_face(face, edge);
                for k in 0..SIZE {
                    let far = if edge % 2 == 0 { -1 } else { i64::from(SIZE) };
                    let place = if edge < 2 { [far, i64::from(k)] } else { [i64::from(k), far] };
                    let at = ways.map(|way| [0, SIZE - 1, k, SIZE - 1 - k][way as usize]);
                    assert_eq!(texel(face as u32, place, SIZE), (next, at), "{face} {edge} {k}");
                }
            }
        }
    }

    #[test]
    fn who_crosses_an_edge_comes_back() {
        for size in [1, 2, 5] {
            let last = i64::from(size) - 1;
            for face in 0..6 {
                for k in 0..=last {
                    let here = [
                        ([0, k], [-1, k]),
                        ([last, k], [last + 1, k]),
                        ([k, 0], [k, -1]),
                        ([k, last], [k, last + 1]),
                    ];
                    for (own, place) in here {
                        let (next, at) = texel(face, place, size);
                        assert_ne!(next, face);
                        let at = at.map(i64::from);
                        let around = [[-1, 0], [1, 0], [0, -1], [0, 1]]
                            .map(|step| [at[0] + step[0], at[1] + step[1]]);
                        let back = around.map(|place| texel(next, place, size));
                        assert!(
                            back.contains(&(face, own.map(|k| k as u32))),
                            "{face} {place:?} {next} {at:?}"
                        );
                    }
                }
            }
        }
    }
}
