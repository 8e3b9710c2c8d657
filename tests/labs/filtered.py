# Runs a command under a system-call filter of many instructions that allows everything: what filters of containers cost, made large.
import ctypes, os, struct, sys
count = 2000
# Loads the first argument again and again, so that the kernel cannot keep the verdict by number (classic BPF: LD|W|ABS, then RET ALLOW).
code = struct.pack("HBBI", 0x20, 0, 0, 16) * count + struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)
buffer = ctypes.create_string_buffer(code)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
program = Program(count + 1, ctypes.addressof(buffer))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit("no filter: %s" % os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
