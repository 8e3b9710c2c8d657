"""Muons through the generic detector of ACTS: fast simulation, digitisation, seeding, combinatorial Kalman filter, ambiguities."""
import hashlib
import json
import pathlib
import sys
import tempfile
import time

began = time.perf_counter()
import acts  # noqa: E402  loading it is start-up
from acts import UnitConstants as u  # noqa: E402
from acts import examples  # noqa: E402
from acts.examples import reconstruction, simulation  # noqa: E402

MUONS = 200
PIXELS = (7, 8, 9)
STRIPS = (12, 13, 14, 16, 17, 18)


def smearing():
    """Resolutions in mm along the two directions of a sensor, by volume: 15 um pixels, strips of 43 um by 1.2 mm."""
    entries = []
    for volumes, widths in ((PIXELS, (0.015, 0.015)), (STRIPS, (0.043, 1.2))):
        gauss = [{"index": i, "mean": 0.0, "stddev": width, "type": "Gauss"} for i, width in enumerate(widths)]
        entries += [{"volume": volume, "value": {"smearing": gauss}} for volume in volumes]
    header = {"format-version": 0, "value-identifier": "digitization-configuration"}
    return {"acts-geometry-hierarchy-map": header, "entries": entries}


class Tally(examples.IAlgorithm):
    """What was found: tracks, and a digest of how many measurements each has."""

    def __init__(self, name):
        examples.IAlgorithm.__init__(self, name, acts.logging.WARNING)
        self.tracks = examples.ReadDataHandle(self, examples.ConstTrackContainer, "tracks")
        self.tracks.initialize("ambi_tracks")
        self.found, self.digest = 0, hashlib.sha256()

    def execute(self, context):
        counts = sorted(track.nMeasurements for track in self.tracks(context.eventStore))
        self.found += len(counts)
        self.digest.update(json.dumps([context.eventNumber, counts]).encode())
        return examples.ProcessCode.SUCCESS


def chain(events, seed, folder):
    """The sequence of algorithms, and the tally at its end."""
    detector = examples.GenericDetector()
    geometry, field = detector.trackingGeometry(), acts.ConstantBField(acts.Vector3(0, 0, 2 * u.T))
    (folder / "digitisation.json").write_text(json.dumps(smearing()))
    (folder / "seeding.json").write_text(json.dumps([{"volume": volume} for volume in PIXELS]))
    random = examples.RandomNumbers(seed=seed)
    sequence = examples.Sequencer(events=events, numThreads=1, logLevel=acts.logging.ERROR)
    simulation.addParticleGun(
        sequence,
        simulation.MomentumConfig(1 * u.GeV, 10 * u.GeV, transverse=True),
        simulation.EtaConfig(-2.0, 2.0, uniform=True),
        simulation.ParticleConfig(MUONS, acts.PdgParticle.eMuon, randomizeCharge=True),
        rnd=random,
    )
    simulation.addFatras(sequence, geometry, field, rnd=random)
    simulation.addDigitization(sequence, geometry, field, digiConfigFile=folder / "digitisation.json", rnd=random)
    simulation.addDigiParticleSelection(sequence, simulation.ParticleSelectorConfig(measurements=(9, None)))
    reconstruction.addSeeding(
        sequence,
        geometry,
        field,
        geoSelectionConfigFile=folder / "seeding.json",
        seedFinderConfigArg=reconstruction.SeedFinderConfigArg(
            r=(None, 200 * u.mm),
            deltaR=(1 * u.mm, 60 * u.mm),
            collisionRegion=(-250 * u.mm, 250 * u.mm),
            z=(-2000 * u.mm, 2000 * u.mm),
            maxSeedsPerSpM=1,
            sigmaScattering=5,
            radLengthPerSeed=0.1,
            minPt=500 * u.MeV,
            impactMax=3 * u.mm,
        ),
        seedFinderOptionsArg=reconstruction.SeedFinderOptionsArg(bFieldInZ=2 * u.T, beamPos=(0.0, 0.0)),
    )
    reconstruction.addCKFTracks(
        sequence,
        geometry,
        field,
        ckfConfig=reconstruction.CkfConfig(
            chi2CutOffMeasurement=15.0, chi2CutOffOutlier=25.0, numMeasurementsCutOff=1, seedDeduplication=True, stayOnSeed=True
        ),
        writePerformance=False,
        writeTrackSummary=False,
    )
    reconstruction.addAmbiguityResolution(
        sequence,
        reconstruction.AmbiguityResolutionConfig(maximumSharedHits=3, maximumIterations=100000, nMeasurementsMin=7),
        writePerformance=False,
        writeTrackSummary=False,
    )
    tally = Tally("tally")
    sequence.addAlgorithm(tally)
    return sequence, tally, detector


events, seed = int(sys.argv[1]), int(sys.argv[2])
with tempfile.TemporaryDirectory() as name:
    sequence, tally, detector = chain(events, seed, pathlib.Path(name))
    ready = time.perf_counter()
    sequence.run()
    done = time.perf_counter()
print(f"startup={ready - began:.6f}\nrate={events / (done - ready):.3f}\ntracks={tally.found}")
print(f"found={tally.found / (events * MUONS):.4f}\ndigest={tally.digest.hexdigest()[:16]}")
