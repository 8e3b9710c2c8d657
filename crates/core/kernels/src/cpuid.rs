//! The `CPUID` instruction, with which an x86 processor or its hypervisor describes itself (Intel SDM volume 2A;
//! hypervisor leaves as in `Documentation/virt/kvm/x86/cpuid.rst`).

/// Nominal and maximum clock in Hz (leaf 16h; Intel only, and often empty in virtual machines).
#[must_use]
pub fn clocks() -> Option<(f64, f64)> {
    let (base, most) = registers(0x16).map(|[eax, ebx, _, _]| (eax & 0xffff, ebx & 0xffff))?;
    (base > 0).then(|| (f64::from(base) * 1e6, f64::from(most) * 1e6))
}

/// Frequency of the time stamp counter in Hz (leaf 15h).
#[must_use]
pub fn tsc() -> Option<f64> {
    let [denominator, numerator, crystal, _] = registers(0x15)?;
    (denominator > 0 && numerator > 0 && crystal > 0)
        .then(|| f64::from(crystal) * f64::from(numerator) / f64::from(denominator))
}

/// Signature of the hypervisor (leaf 4000_0000h), if the processor reports one.
#[must_use]
pub fn hypervisor() -> Option<String> {
    let [_, _, features, _] = registers(1)?;
    if features >> 31 & 1 == 0 {
        return None;
    }
    let [_, b, c, d] = raw(0x4000_0000)?;
    let bytes: Vec<u8> = [b, c, d].iter().flat_map(|part| part.to_le_bytes()).collect();
    let name = String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned();
    let known = match name.as_str() {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU (emulation)",
        "bhyve bhyve" => "bhyve",
        "VBoxVBoxVBox" => "VirtualBox",
        "ACRNACRNACRN" => "ACRN",
        "" => "unnamed",
        other => other,
    };
    Some(known.to_owned())
}

/// A leaf, if the processor has it.
fn registers(leaf: u32) -> Option<[u32; 4]> {
    let [highest, ..] = raw(0)?;
    if leaf <= highest { raw(leaf) } else { None }
}

#[cfg(target_arch = "x86_64")]
fn raw(leaf: u32) -> Option<[u32; 4]> {
    // Newer compilers consider this instruction safe; the block is then unnecessary.
    #[allow(unused_unsafe, reason = "safe on newer compilers")]
    // SAFETY: every x86-64 processor has CPUID, and it changes only its registers.
    let answer = unsafe { std::arch::x86_64::__cpuid_count(leaf, 0) };
    Some([answer.eax, answer.ebx, answer.ecx, answer.edx])
}

#[cfg(not(target_arch = "x86_64"))]
fn raw(_leaf: u32) -> Option<[u32; 4]> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_plausible_where_told() {
        for clock in [clocks().map(|(base, _)| base), tsc()].into_iter().flatten() {
            assert!(clock > 1e6 && clock < 1e11, "{clock}");
        }
        assert!(hypervisor().is_none_or(|name| !name.is_empty()));
    }
}
