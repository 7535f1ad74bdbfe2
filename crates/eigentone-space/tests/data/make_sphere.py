"""Makes sphere.sofa: responses of a spherical head (Brown and Duda) every 30 degrees, 64 samples at 48 kHz.

Needs netCDF4 and numpy. Only the tests of the reader use the file; it holds no measured data.
"""
import numpy as np
from netCDF4 import Dataset

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

with Dataset("sphere.sofa", "w", format="NETCDF4") as f:
    f.setncatts({
        "Conventions": "SOFA", "Version": "1.0", "SOFAConventions": "SimpleFreeFieldHRIR",
        "SOFAConventionsVersion": "1.0", "DataType": "FIR", "RoomType": "free field", "Title": "A sphere",
    })
    for name, size in {"I": 1, "C": 3, "R": 2, "E": 1, "N": LENGTH, "M": count}.items():
        f.createDimension(name, size)

    def put(name, dimensions, data, kind="f8", **attributes):
        variable = f.createVariable(name, kind, dimensions, zlib=True)
        variable[:] = data
        variable.setncatts(attributes)

    put("Data.IR", ("M", "R", "N"), ir, "f4")
    put("Data.SamplingRate", ("I",), [RATE], Units="hertz")
    put("Data.Delay", ("I", "R"), np.zeros((1, 2)))
    put("SourcePosition", ("M", "C"), positions, Type="spherical", Units="degree, degree, metre")
    put("ListenerPosition", ("I", "C"), np.zeros((1, 3)), Type="cartesian", Units="metre")
    ears = np.array([[[0], [0.09], [0]], [[0], [-0.09], [0]]])
    put("ReceiverPosition", ("R", "C", "I"), ears, Type="cartesian", Units="metre")
