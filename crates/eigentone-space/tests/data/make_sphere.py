"""Makes sphere.sofa: responses of a spherical head (Brown and Duda) every 30 degrees, 64 samples at 48 kHz.

Needs h5py and numpy. Only the tests of the reader use the file; it holds no measured data.
"""
import h5py
import numpy as np

RATE, LENGTH, A_PER_C = 48000.0, 64, 0.0875 / 340.0
azimuths, elevations = np.arange(0, 360, 30), (-60, -30, 0, 30, 60)
positions = np.array([(a, e, 1.0) for e in elevations for a in azimuths] + [(0, 90, 1.0)], "f4")


def response(cosine):
    theta = np.arccos(np.clip(cosine, -1, 1))
    delay = A_PER_C * (1 - cosine if theta < np.pi / 2 else 1 + theta - np.pi / 2)
    alpha = 1.05 + 0.95 * np.cos(theta * 180 / 150)
    f = np.fft.rfftfreq(1024, 1 / RATE)
    s = 1j * f * np.pi * A_PER_C
    h = np.fft.irfft((1 + alpha * s) / (1 + s) * np.exp(-2j * np.pi * f * (delay + 2.5e-4)))
    return h[:LENGTH]


az, el = np.radians(positions[:, 0]), np.radians(positions[:, 1])
left = np.sin(az) * np.cos(el)
ir = np.array([[response(y), response(-y)] for y in left], "f4")
count = len(positions)

with h5py.File("sphere.sofa", "w", libver="latest", track_order=False) as f:
    for key, value in {
        "Conventions": "SOFA", "Version": "1.0", "SOFAConventions": "SimpleFreeFieldHRIR",
        "SOFAConventionsVersion": "1.0", "DataType": "FIR", "RoomType": "free field", "Title": "A sphere",
    }.items():
        f.attrs.create(key, np.bytes_(value))
    for name, size in {"I": 1, "C": 3, "R": 2, "E": 1, "N": LENGTH, "M": count}.items():
        f.create_dataset(name, data=np.zeros(size, "f4"))

    def put(name, data, **attrs):
        data = np.asarray(data)
        d = f.create_dataset(name, data=data, chunks=data.shape, compression="gzip", shuffle=True)
        for key, value in attrs.items():
            d.attrs.create(key, np.bytes_(value))

    put("Data.IR", ir)
    put("Data.SamplingRate", np.array([RATE]), Units="hertz")
    put("Data.Delay", np.zeros((1, 2)))
    put("SourcePosition", positions, Type="spherical", Units="degree, degree, metre")
    put("ListenerPosition", np.zeros((1, 3)), Type="cartesian", Units="metre")
    put("ReceiverPosition", np.array([[[0], [0.09], [0]], [[0], [-0.09], [0]]]), Type="cartesian", Units="metre")
