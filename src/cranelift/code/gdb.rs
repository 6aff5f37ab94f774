//! GDB's JIT interface: a list of ELF images in this process's memory, and a function in which GDB
//! has a breakpoint.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};
use object::{Endianness, elf};
use target_lexicon::{Architecture, Triple};
use warploom_engine::Code;

/// An image that GDB knows, until this is dropped.
pub struct Image {
    entry: Box<Entry>,
    _elf: Vec<u8>,
}

// SAFETY: the list that entries are in is only touched under `LIST`.
unsafe impl Send for Image {}

/// `jit_code_entry`
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    image: *const u8,
    bytes: u64,
}

/// `jit_descriptor`
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// Guards the descriptor and all entries.
static LIST: Mutex<()> = Mutex::new(());

// SAFETY: the name is GDB's; no other code here has it.
#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: Descriptor =
    Descriptor { version: 1, action: 0, relevant: ptr::null_mut(), first: ptr::null_mut() };

/// GDB stops here and reads the descriptor.
// SAFETY: the name is GDB's; no other code here has it.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // The compiler could leave out a function without effect.
    std::hint::black_box(());
}

impl Image {
    pub fn new(name: &str, code: Code) -> Result<Image, object::write::Error> {
        let elf = image(name, code)?;
        let mut entry = Box::new(Entry {
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
            image: elf.as_ptr(),
            bytes: elf.len() as u64,
        });
        let _guard = LIST.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: all entries of the list live, for they leave it when they are dropped. The lock
        // keeps other threads out.
        unsafe {
            entry.next = __jit_debug_descriptor.first;
            if let Some(next) = entry.next.as_mut() {
                next.previous = &raw mut *entry;
            }
            __jit_debug_descriptor.first = &raw mut *entry;
            tell(REGISTER, &raw mut *entry);
        }
        Ok(Image { entry, _elf: elf })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _guard = LIST.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `new`; this entry is still in the list.
        unsafe {
            match self.entry.previous.as_mut() {
                Some(previous) => previous.next = self.entry.next,
                None => __jit_debug_descriptor.first = self.entry.next,
            }
            if let Some(next) = self.entry.next.as_mut() {
                next.previous = self.entry.previous;
            }
            tell(UNREGISTER, &raw mut *self.entry);
        }
    }
}

/// # Safety
/// The list is locked, and the entry lives.
unsafe fn tell(action: u32, entry: *mut Entry) {
    // SAFETY: the caller's promise.
    unsafe {
        __jit_debug_descriptor.action = action;
        __jit_debug_descriptor.relevant = entry;
    }
    __jit_debug_register_code();
}

/// Builds an executable with one section, at the address of the code, and one symbol.
fn image(name: &str, code: Code) -> Result<Vec<u8>, object::write::Error> {
    let machine = match Triple::host().architecture {
        Architecture::Aarch64(_) => elf::EM_AARCH64,
        Architecture::Riscv64(_) => elf::EM_RISCV,
        _ => elf::EM_X86_64,
    };
    let (address, bytes) = (code.address() as u64, code.bytes() as u64);
    let mut buffer = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut buffer);
    writer.reserve_file_header();
    writer.reserve_null_section_index();
    let text = writer.reserve_section_index();
    let text_name = writer.add_section_name(b".text");
    writer.reserve_null_symbol_index();
    let symbol_name = writer.add_string(name.as_bytes());
    writer.reserve_symbol_index(Some(text));
    writer.reserve_symtab_section_index();
    writer.reserve_symtab();
    writer.reserve_strtab_section_index();
    writer.reserve_strtab()?;
    writer.reserve_shstrtab_section_index();
    writer.reserve_shstrtab()?;
    writer.reserve_section_headers();

    writer.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_EXEC,
        e_machine: machine,
        e_entry: 0,
        e_flags: elf::FileFlags(0),
    })?;
    writer.write_null_symbol();
    writer.write_symbol(&Sym {
        section: Some(text.0),
        st_name: writer.string_offset(Some(symbol_name)),
        st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_FUNC),
        st_other: elf::SymbolOther(0),
        st_shndx: elf::SymbolSection(0),
        st_value: address,
        st_size: bytes,
    });
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    writer.write_section_header(&SectionHeader {
        sh_name: writer.section_name_offset(Some(text_name)),
        sh_type: elf::SHT_NOBITS,
        sh_flags: elf::SectionFlags((elf::SHF_ALLOC | elf::SHF_EXECINSTR).0),
        sh_addr: address,
        sh_offset: 0,
        sh_size: bytes,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 16,
        sh_entsize: 0,
    });
    writer.write_symtab_section_header(1);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    Ok(buffer)
}
