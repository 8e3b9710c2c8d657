# Runs a command under system-call filters of many instructions that allow everything: what filters of containers cost, made
# so large that it shows where a call alone takes long.
import ctypes, os, struct, sys
count = 4000
# Loads the first argument again and again, so that the kernel cannot keep the verdict by number (classic BPF: LD|W|ABS, then RET ALLOW).
code = struct.pack("HBBI", 0x20, 0, 0, 16) * count + struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)
buffer = ctypes.create_string_buffer(code)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
program = Program(count + 1, ctypes.addressof(buffer))
if libc.prctl(38, 1, 0, 0, 0) or any(libc.prctl(22, 2, ctypes.byref(program), 0, 0) for _ in range(3)):
    sys.exit("no filter: %s" % os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
