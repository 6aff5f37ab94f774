//! `run --out`: the results of a launch as files.

use std::path::Path;

use warploom_replay::array::Array;
use warploom_replay::{Launch, Session};

use super::Error;

/// Writes changed buffers, surfaces, variables and exports. Returns the names of the files.
pub fn write(session: &Session<'_>, out: &Path, launch: &Launch) -> Result<Vec<String>, Error> {
    let failed = |e| Error::exec(&launch.path)(e);
    let mut names = Vec::new();
    for (i, buffer) in launch.buffers.iter().enumerate() {
        if !session.has_changed(i).map_err(failed)? {
            continue;
        }
        let name = format!("{}.npy", buffer.name);
        warploom_replay::write::file(&out.join(&name), |into| {
            warploom_replay::npy::write_pieces(buffer.dtype, &buffer.shape, into, &mut |sink| {
                let mut result = Ok(());
                let write = |_: usize, piece: &[u8]| {
                    if result.is_ok() {
                        result = sink(piece);
                    }
                };
                session.read_buffer(i, write).map_err(std::io::Error::other)?;
                result
            })
        })?;
        names.push(name);
        if let Some(png) = &buffer.png {
            let name = format!("{}.png", buffer.name);
            let bytes = session.buffer(i).map_err(failed)?;
            let image = warploom_replay::image::draw(png, &bytes).map_err(Error::Other)?;
            warploom_replay::write::file(&out.join(&name), |into| into.write_all(&image))?;
            names.push(name);
        }
    }
    for (i, surface) in launch.surfaces.iter().enumerate() {
        let Some(bytes) = session.changed_surface(i).map_err(failed)? else { continue };
        if surface.description.png {
            let name = format!("{}.png", surface.name);
            let image = warploom_replay::surface::draw(surface, &bytes).map_err(Error::Other)?;
            warploom_replay::write::file(&out.join(&name), |into| into.write_all(&image))?;
            names.push(name);
        }
        let name = format!("{}.npy", surface.name);
        let array = Array { dtype: surface.dtype, shape: surface.shape.clone(), bytes };
        warploom_replay::write::array(&out.join(&name), &array)?;
        names.push(name);
    }
    for (i, symbol) in launch.symbols.iter().enumerate() {
        let Some(bytes) = session.changed_variable(i).map_err(failed)? else { continue };
        let name = format!("{}.npy", symbol.name);
        warploom_replay::write::array(&out.join(&name), &symbol.array(bytes))?;
        names.push(name);
    }
    if let (Some(shader), Some(exported)) = (&launch.shader, session.exported().map_err(failed)?) {
        for (name, array) in shader.arrays(&exported) {
            let name = format!("{name}.npy");
            warploom_replay::write::array(&out.join(&name), &array)?;
            names.push(name);
        }
        if let Some(picture) = shader.picture {
            let name = format!("{}.png", shader.colour_name());
            let image = shader.draw(picture, &exported).map_err(Error::Other)?;
            warploom_replay::write::file(&out.join(&name), |into| into.write_all(&image))?;
            names.push(name);
        }
    }
    Ok(names)
}
