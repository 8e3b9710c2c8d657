//! Operating systems whose TCP state this crate does not support.

use std::os::fd::AsFd;

use crate::error::{Error, Result};
use crate::socket::TcpInfo;

pub fn congestion(_fd: impl AsFd) -> Result<String> {
    Err(Error::not_here("read the congestion control"))
}

pub fn set_congestion(_fd: impl AsFd, _name: &str) -> Result<()> {
    Err(Error::not_here("change the congestion control"))
}

pub fn tcp_info(_fd: impl AsFd) -> Result<TcpInfo> {
    Err(Error::not_here("read the state of a TCP connection"))
}

pub fn drops(_fd: impl AsFd) -> Result<u64> {
    Err(Error::not_here("count the drops of a socket"))
}

pub fn effective_buffers(_fd: impl AsFd) -> Result<(u64, u64)> {
    Err(Error::not_here("read the buffers of a socket"))
}

pub fn set_pacing(_fd: impl AsFd, _bytes_per_second: u32) -> Result<()> {
    Err(Error::not_here("limit the rate of a socket"))
}

/// The system's own limit stays.
pub fn set_connect_repeats(_fd: impl AsFd, _repeats: u8) -> Result<()> {
    Ok(())
}
