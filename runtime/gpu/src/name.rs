//! How a device is called.

use std::fmt;
use std::str::FromStr;

use crate::error::{Api, NoGpu};

/// How a device is named in IREE: `vulkan` or `vulkan://0`, `cuda://1`, `vulkan://GPU-…`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GpuName {
    /// Its number, from 0.
    Index(u32),
    /// Its universally unique identifier, as the driver says.
    Uuid([u8; 16]),
}

impl Default for GpuName {
    fn default() -> Self {
        Self::Index(0)
    }
}

impl fmt::Display for GpuName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Uuid(bytes) => {
                f.write_str("GPU-")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// A text that names no device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the name of a device is a number, or GPU- and 32 hexadecimal digits")]
pub struct NoGpuName;

impl FromStr for GpuName {
    type Err = NoGpuName;

    fn from_str(text: &str) -> Result<Self, NoGpuName> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let Some(digits) = text.strip_prefix("GPU-") else {
            return text.parse().map(Self::Index).map_err(|_| NoGpuName);
        };
        let digits: String = digits.chars().filter(|digit| *digit != '-').collect();
        let value = u128::from_str_radix(&digits, 16).map_err(|_| NoGpuName)?;
        if digits.len() == 32 { Ok(Self::Uuid(value.to_be_bytes())) } else { Err(NoGpuName) }
    }
}

impl GpuName {
    /// The device of an interface that is called so: see [`Self::names`].
    ///
    /// # Errors
    /// There is none; `uri` says what the others are called.
    pub fn find<D>(
        self,
        api: Api,
        mut all: Vec<D>,
        names: impl Fn(&D) -> bool,
        uri: impl Fn(&D) -> String,
    ) -> Result<D, NoGpu> {
        if all.is_empty() {
            return Err(NoGpu::NoDevices(api));
        }
        match all.iter().position(names) {
            Some(found) => Ok(all.swap_remove(found)),
            None => Err(NoGpu::NoSuchDevice {
                api,
                wanted: format!("{}://{self}", api.driver()),
                known: all.iter().map(uri).collect(),
            }),
        }
    }

    /// Whether a device is called so.
    #[must_use]
    pub fn names(self, index: usize, uuid: [u8; 16]) -> bool {
        match self {
            Self::Index(wanted) => index == wanted as usize,
            Self::Uuid(wanted) => uuid == wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let uuid = "GPU-6d65736132322e332e36000000000000";
        for name in ["0", "3", uuid] {
            assert_eq!(name.parse::<GpuName>().unwrap().to_string(), name);
        }
        assert_eq!("".parse(), Ok(GpuName::Index(0)));
        let dashed = "GPU-6d657361-3232-2e33-2e36-000000000000".parse::<GpuName>();
        assert_eq!(dashed, uuid.parse());
        for wrong in ["a", "-1", "GPU-", "GPU-12", "4294967296"] {
            assert_eq!(wrong.parse::<GpuName>(), Err(NoGpuName), "{wrong}");
        }
    }
}
