//! Every kernel is accepted by the compiler of PTX for all generations of cards.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// `ptxas` of the search path, or of the Python wheel that `.ci/run` installs.
fn ptxas() -> Option<PathBuf> {
    let wheel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/tools/nvidia/cuda_nvcc/bin/ptxas");
    [wheel, "ptxas".into()].into_iter().find(|path| Command::new(path).arg("--version").output().is_ok())
}

#[test]
fn every_kernel_is_accepted_by_ptxas() {
    let Some(ptxas) = ptxas() else {
        testing::skip!("no ptxas; python3 -m pip install --target target/tools nvidia-cuda-nvcc-cu12");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut compiled = 0;
    for kernel in gpu::KERNELS {
        let path = folder.path().join("kernel.ptx");
        std::fs::write(&path, kernel.ptx()).unwrap();
        for target in [70, 80, 90].into_iter().filter(|target| *target >= kernel.target) {
            let output = Command::new(&ptxas)
                .args([format!("-arch=sm_{target}"), "-o".to_owned(), "/dev/null".to_owned()])
                .arg(&path)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} for sm_{target}: {said}", kernel.name);
            compiled += 1;
        }
    }
    // Matrix units begin with sm_80, all else with sm_70.
    assert_eq!(compiled, 3 * 14 + 2 * 5);
}

#[test]
fn texts_name_their_kernel_and_have_no_word_of_a_template() {
    for kernel in gpu::KERNELS {
        let (ptx, cl) = (kernel.ptx(), kernel.cl().unwrap_or_else(|| format!("kernel void {}(", kernel.name)));
        assert!(
            ptx.contains(&format!(".entry {}(", kernel.name))
                && ptx.contains(&format!(".target sm_{}\n", kernel.target))
        );
        assert!(cl.contains(&format!("kernel void {}(", kernel.name)), "{}", kernel.name);
        let left = ptx.lines().find(|line| !line.starts_with("//") && (line.contains(" * ") || line.contains('#')));
        assert_eq!(left, None, "{}", kernel.name);
    }
}
