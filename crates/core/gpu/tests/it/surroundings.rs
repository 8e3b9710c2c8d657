//! Bad surroundings have one clear line each: with a driver that fails as named, each in a process of its own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

use gpu::{Api, Device, Error, Launch, kernel};
use model::FactValue;

/// Set in the process that uses the driver that fails.
const CHILD: &str = "PRONY_GPU_CHILD";

/// What a use of the first device says: its name and note, or the reason why it cannot be used.
fn used() -> Result<String, Error> {
    let device = Device::new(Api::Cuda.open(0)?);
    let buffer = device.poisoned(4 << 20, 1)?;
    let launch = Launch { kernel: kernel("write"), blocks: 1, threads: 1, buffers: &[&buffer], scalars: &[1, 1] };
    device.timed(&launch, 1)?;
    if device.sense().throttled.is_none() && std::env::var("FAKE").is_ok_and(|fake| fake == "volta") {
        let matrix = Launch {
            kernel: kernel("matrix_bf16"),
            threads: 32,
            scalars: &[1],
            buffers: &[&buffer, &buffer],
            ..launch
        };
        device.timed(&matrix, 1)?;
    }
    let (about, sense) = (device.about(), device.sense());
    Ok(format!("{}; {:?}; {:?}; {:?} J", about.name, about.note, sense.throttled, sense.energy))
}

/// Does the work of the other processes of this test.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let said = used().unwrap_or_else(|reason| reason.to_string());
    let facts: Vec<String> = gpu::facts(Api::Cuda)
        .iter()
        .map(|fact| {
            format!(
                "{}={}",
                fact.name,
                if let FactValue::Number(x) = fact.value { format!("{x:.4e}") } else { fact.value.text() }
            )
        })
        .collect();
    std::fs::write(std::env::var("SAID").unwrap(), format!("{said}\n{}", facts.join("\n"))).unwrap();
}

/// What is said with a driver from a folder that fails in a way: the line, then facts.
fn said(folder: &Path, fake: &str) -> String {
    let file = folder.join("said");
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "surroundings::child", "--quiet"])
        .env("LD_LIBRARY_PATH", folder)
        .env(CHILD, "1")
        .env("FAKE", fake)
        .env("SAID", &file)
        .output()
        .unwrap()
        .status;
    assert!(status.success(), "{fake}");
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn every_failure_has_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fake.c");
    let library = folder.path().join("libcuda.so.1");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(source).status();
    if !built.is_ok_and(|status| status.success()) {
        testing::skip!("no C compiler builds the driver that fails; Debian: gcc");
        return;
    }
    // Both libraries are one, so that they know the same state.
    std::fs::hard_link(&library, folder.path().join("libnvidia-ml.so.1")).unwrap();
    for (fake, expected) in [
        ("well", "NVIDIA H100; None; None; Some(5.0) J"),
        ("none", "the NVIDIA driver finds no device (in MIG mode, make a slice first)"),
        ("old", "the NVIDIA driver is too old: it is of CUDA 10.2, and 11.0 is needed"),
        (
            "mismatch",
            "the NVIDIA driver's library and kernel module are of different versions; reboot, or load the module again",
        ),
        (
            "exclusive",
            "device 0 is in exclusive mode, and another process uses it; end that, or set the mode by nvidia-smi -c 0",
        ),
        (
            "mig",
            "NVIDIA H100 MIG 1g.10gb; Some(\"a MIG slice, not the whole card: NVIDIA H100 MIG 1g.10gb\"); None; Some(5.0) J",
        ),
        ("lost", "the card fell off the bus while it worked: the device failed"),
        ("fault", "the device failed: CUDA_ERROR_LAUNCH_FAILED (719)"),
        ("full", "the device lacks memory: 4 MiB asked, 200 of 81920 MiB free"),
        ("ptx", "the driver refused write.ptx: ptxas application ptx input, line 5; fatal : Unsupported .version 7.0"),
        ("timer", "the device timed write at 0 s"),
        ("volta", "the device has compute capability 7.0, and matrix_bf16 needs 8.0"),
        ("hot", "NVIDIA H100; None; Some(\"its temperature\"); Some(5.0) J"),
        // The power limit is how a card works under load, and a fact.
        ("capped", "NVIDIA H100; None; None; Some(5.0) J"),
    ] {
        let said = said(folder.path(), fake);
        assert_eq!(said.lines().next(), Some(expected), "{fake}");
        if fake == "well" {
            for fact in [
                "gpu.0.model=NVIDIA H100",
                "gpu.0.driver=580.1",
                "gpu.0.power_limit=7.0000e2",
                "gpu.0.ecc=yes",
                "gpu.0.slices=unknown: the driver does not tell",
                "gpu.0.remapped_rows=3.0000e0",
                "gpu.0.clock_max=1.9800e9",
                "gpu.0.link_width=1.6000e1",
                "gpu.0.limit.link=6.3015e10",
                "gpu.0.limit.fma64=5.0688e11",
            ] {
                assert!(said.lines().any(|line| line == fact), "{fact}: {said}");
            }
        }
    }
    let empty = tempfile::tempdir().unwrap();
    std::fs::write(empty.path().join("libcuda.so.1"), "no library").unwrap();
    let broken = said(empty.path(), "well");
    assert!(broken.starts_with("could not load libcuda.so.1: "), "{broken}");
    // A library without the functions is one of an old driver.
    let source = empty.path().join("old.c");
    std::fs::write(&source, "int cuInit(unsigned f) { return 0; }").unwrap();
    let old = empty.path().join("libcuda.so.1");
    assert!(Command::new("cc").args(["-shared", "-o"]).arg(&old).arg(&source).status().unwrap().success());
    let said = said(empty.path(), "well");
    assert!(said.starts_with("the NVIDIA driver is too old: it lacks cuDriverGetVersion"), "{said}");
}

#[test]
fn a_machine_without_a_driver_says_so() {
    let absent = tempfile::tempdir().unwrap();
    let said = said(absent.path(), "well");
    if said.starts_with("there is no NVIDIA driver (libcuda.so.1)") {
        return;
    }
    testing::lacks!("a machine without NVIDIA's driver: {said}");
}
