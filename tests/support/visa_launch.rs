//! Builds launches of a test's vISA text: a folder with the text, a `.ze_info`, a manifest, and
//! data files.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fmt::Write;

use tempfile::TempDir;
use warploom::EngineKind;
use warploom_replay::Launch;

pub const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

pub struct Files {
    folder: TempDir,
    platform: &'static str,
    args: String,
    tables: String,
}

impl Files {
    /// Creates the files of a kernel `k` with `simd` lanes. `arguments` is a comma-separated list
    /// of payload entries, `type:offset:size`.
    ///
    /// After the size, arguments have `:index:addrmode:addrspace`, and images also `:type`. Values
    /// that the driver provides have `:addrmode` or `:bti:index`. Other entries describe the
    /// binding table, `binding:argument:index`, and the per-thread payload, `local_id:offset:size`
    /// or `packed_local_ids:offset:size`.
    pub fn new(platform: &'static str, simd: u32, arguments: &str) -> Files {
        let mut info = format!(
            "---\nversion: '1.73'\nkernels:\n  - name: k\n    execution_env:\n      simd_size: {simd}\n      slm_size: 4096\n    payload_arguments:\n"
        );
        let (mut table, mut per_thread) = (String::new(), String::new());
        for entry in arguments.split(',') {
            match entry.split(':').collect::<Vec<_>>()[..] {
                ["binding", argument, index] => {
                    let _ = write!(
                        table,
                        "      - bti_value: {index}\n        arg_index: {argument}\n"
                    );
                }
                [kind @ ("local_id" | "packed_local_ids"), offset, size] => {
                    let _ = write!(
                        per_thread,
                        "      - arg_type: {kind}\n        offset: {offset}\n        size: {size}\n"
                    );
                }
                [kind, offset, size, ref rest @ ..] => {
                    let _ = write!(
                        info,
                        "      - arg_type: {kind}\n        offset: {offset}\n        size: {size}\n"
                    );
                    let _ = match rest {
                        [index, mode, space, image @ ..] => {
                            let image = image
                                .first()
                                .map_or(String::new(), |ty| format!("        image_type: {ty}\n"));
                            write!(
                                info,
                                "        arg_index: {index}\n        addrmode: {mode}\n        addrspace: {space}\n{image}"
                            )
                        }
                        ["bti", index] => writeln!(info, "        bti_value: {index}"),
                        [mode] => writeln!(info, "        addrmode: {mode}"),
                        _ => Ok(()),
                    };
                }
                _ => panic!("an argument `{entry}`"),
            }
        }
        if !per_thread.is_empty() {
            info += "    per_thread_payload_arguments:\n";
            info += &per_thread;
        }
        if !table.is_empty() {
            info += "    binding_table_indices:\n";
            info += &table;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.zeinfo"), info).unwrap();
        Files { folder, platform, args: String::new(), tables: String::new() }
    }

    pub fn text(&self, text: &str) {
        std::fs::write(self.folder.path().join("k.visaasm"), text).unwrap();
    }

    /// Adds a buffer as the next argument.
    pub fn buffer(&mut self, name: &str, content: &[u8], dtype: &str) {
        std::fs::write(self.folder.path().join(name), content).unwrap();
        let _ = write!(self.args, "[[arg]]\nbuffer = \"{name}\"\n");
        let _ = write!(self.tables, "[buffer.{name}]\nfile = \"{name}\"\ndtype = \"{dtype}\"\n");
    }

    /// Adds a buffer at an address as the next argument.
    pub fn placed_buffer(&mut self, name: &str, content: &[u8], address: u64) {
        self.buffer(name, content, "u8");
        let _ = writeln!(self.tables, "address = {address}");
    }

    /// Adds a surface as the next argument.
    pub fn surface(&mut self, name: &str, dim: &str, size: [u32; 3], format: &str, content: &[u8]) {
        std::fs::write(self.folder.path().join(name), content).unwrap();
        let _ = write!(self.args, "[[arg]]\nsurface = \"{name}\"\n");
        let _ = write!(
            self.tables,
            "[surface.{name}]\ndim = \"{dim}\"\nsize = {size:?}\nformat = \"{format}\"\nfile = \"{name}\"\n"
        );
    }

    /// Adds the next argument, in the manifest's syntax.
    pub fn arg(&mut self, text: &str) {
        let _ = write!(self.args, "[[arg]]\n{text}\n");
    }

    pub fn launch(&self, grid: [u32; 3], block: [u32; 3]) -> Launch {
        let manifest = format!(
            "[kernel]\nbinary = \"k.visaasm\"\nze_info = \"k.zeinfo\"\nplatform = \"{}\"\n[launch]\ngrid = {grid:?}\nblock = {block:?}\n{}{}",
            self.platform, self.args, self.tables
        );
        let path = self.folder.path().join("m.toml");
        std::fs::write(&path, manifest).unwrap();
        Launch::read(&path).unwrap_or_else(|error| panic!("{error}"))
    }
}

pub fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}
