// What OpenCL C calls, for a compiler of PTX without a library:
//   clang -x cl -cl-std=CL1.2 -target nvptx64-nvidia-nvcl -Xclang -finclude-default-header -include ptx.h -S -O2 -fno-vectorize \
//     -ffp-contract=off -Xclang -target-cpu -Xclang sm_70 -Xclang -target-feature -Xclang +ptx63 fit.cl -o fit.ptx
#define get_global_id(d) (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define get_global_size(d) (__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())
#define sqrt(x) __nvvm_sqrt_rn_d(x)
