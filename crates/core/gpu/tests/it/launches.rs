//! A launch touches allocated memory only.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use gpu::{Api, Device, Launch, Ring, Tracks, kernel};

#[test]
fn launches_and_copies_beyond_their_memory_are_refused() {
    let device = match Api::OpenCl.open(0) {
        Ok(device) => Device::new(device),
        Err(reason) => return testing::skip!("{reason}; Debian: pocl-opencl-icd, ocl-icd-libopencl1"),
    };
    let buffer = device.poisoned(1024, 0).unwrap();
    let run = |name: &str, scalars: &[u64], buffers: &[&gpu::Buffer]| {
        let launch = Launch { kernel: kernel(name), blocks: 2, threads: 64, buffers, scalars };
        device.timed(&launch, 1).map_err(|error| error.to_string())
    };
    assert!(run("pattern", &[1, 128], &[&buffer]).is_ok());
    assert!(run("pattern", &[1, 129], &[&buffer]).unwrap_err().contains("beyond the 1024 allocated"));
    assert!(run("pattern", &[1, u64::MAX], &[&buffer]).is_err());
    assert!(run("pattern", &[1], &[&buffer]).unwrap_err().contains("other arguments than it has"));
    assert!(run("copy", &[64], &[&buffer]).unwrap_err().contains("other arguments than it has"));
    assert!(run("chase", &[8], &[&buffer, &buffer]).unwrap_err().contains("inputs that were checked"));
    assert!(buffer.write(&[0; 1025]).unwrap_err().to_string().contains("beyond"));
    assert!(buffer.words(1024, 1).is_err());
    assert!(Ring::new(&device, 256, &[0, 3, 1]).is_err() && Ring::new(&device, 0, &[0]).is_err());
    assert!(Tracks::new(&device, &[[0.0; 3]], &[0, 2], &[[0.0; 3]]).is_err());
    assert!(Api::OpenCl.open(99).err().unwrap().to_string().starts_with("there is no device 99: OpenCL has"));
}
