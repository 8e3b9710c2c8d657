"""Hadronic Z decays: how many a second, and a digest of what came out."""
import hashlib
import sys
import time

began = time.perf_counter()
import pythia8mc  # noqa: E402  loading it is start-up

events, seed = int(sys.argv[1]), int(sys.argv[2])
pythia = pythia8mc.Pythia("", False)
for setting in (
    "Print:quiet = on", "Random:setSeed = on", f"Random:seed = {seed}", "Beams:idA = 11", "Beams:idB = -11",
    "Beams:eCM = 91.188", "PDF:lepton = off", "WeakSingleBoson:ffbar2gmZ = on", "23:onMode = off", "23:onIfAny = 1 2 3 4 5",
):
    pythia.readString(setting)
if not pythia.init():
    sys.exit("could not initialise Pythia")
ready = time.perf_counter()
digest, failed, charged = hashlib.sha256(), 0, 0
for _ in range(events):
    if not pythia.next():
        failed += 1
        continue
    size = pythia.event.size()
    charged += size
    digest.update(size.to_bytes(4, "little"))
done = time.perf_counter()
print(f"startup={ready - began:.6f}\nrate={events / (done - ready):.3f}\nfailed={failed}\nentries={charged}")
print(f"digest={digest.hexdigest()[:16]}")
