//! Stand-ins for the readers of guests that this build leaves out. Each reader refuses its files
//! by name, so no module of these guests exists.

#[cfg(not(all(feature = "maxwell", feature = "gfx9", feature = "ptx", feature = "visa")))]
macro_rules! refused {
    ($what:literal, $feature:literal) => {
        Err(crate::Error::Absent { what: $what, feature: $feature })
    };
}

#[cfg(not(feature = "maxwell"))]
pub mod cubin {
    //! Cubins are refused.
    use crate::{Error, Module};

    pub fn parse(_: &[u8]) -> Result<Module, Error> {
        refused!("NVIDIA Maxwell", "maxwell")
    }
}

#[cfg(not(feature = "maxwell"))]
pub mod sph {
    //! Graphics programs of Maxwell are refused.
    use warploom_guest::header::Header;

    use crate::{Error, Module};

    pub(crate) fn parse(_: &[u8]) -> Result<Module, Error> {
        refused!("NVIDIA Maxwell", "maxwell")
    }

    pub fn with_header(_: &str, _: &[u8]) -> Result<Module, Error> {
        refused!("NVIDIA Maxwell", "maxwell")
    }

    pub fn without_header(_: &str, _: &[u8], _: &[u8]) -> Result<Module, Error> {
        refused!("NVIDIA Maxwell", "maxwell")
    }

    pub fn joined(_: &Module, _: Module) -> Result<Module, Error> {
        refused!("NVIDIA Maxwell", "maxwell")
    }
}

#[cfg(not(feature = "ptx"))]
pub mod ptx {
    //! PTX is refused.
    use crate::{Error, Module};

    #[derive(Clone, Debug)]
    pub enum PtxModule {}

    impl PtxModule {
        pub fn address_bits(&self) -> u8 {
            match *self {}
        }

        pub fn runs_on(&self, _: u32) -> bool {
            match *self {}
        }
    }

    pub(crate) fn parse(_: &[u8]) -> Result<Module, Error> {
        refused!("NVIDIA PTX", "ptx")
    }

    pub fn parse_linked(_: &[(&str, &[u8])]) -> Result<Module, Error> {
        refused!("NVIDIA PTX", "ptx")
    }
}

#[cfg(not(feature = "visa"))]
pub mod visa {
    //! vISA is refused.
    use warploom_guest::platform::Platform;

    use crate::{Error, Module};

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum VisaModule {}

    #[derive(Clone, Debug, PartialEq)]
    pub enum VisaKernel {}

    pub(crate) fn parse_zebin(_: &[u8]) -> Result<Module, Error> {
        refused!("Intel vISA", "visa")
    }

    pub(crate) use parse_zebin as parse_text;
    pub(crate) use parse_zebin as parse_binary;

    pub fn describe(_: &mut Module, _: Option<&[u8]>, _: Option<Platform>) -> Result<(), Error> {
        refused!("Intel vISA", "visa")
    }
}

#[cfg(not(feature = "gfx9"))]
pub mod hsaco {
    //! Code objects are refused.
    use crate::{Error, Module};

    pub fn parse(_: &[u8]) -> Result<Module, Error> {
        refused!("AMD GFX9", "gfx9")
    }

    pub mod opencl {
        //! Binaries of OpenCL 2 are refused.
        pub(crate) use super::parse;
    }
}
