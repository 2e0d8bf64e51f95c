"""Which sets the study `alga` reads, by their names in the folder of data."""

from __future__ import annotations

#: the paper's benchmark sets
UCI = {"German": "german_numeric", "Ionosphere": "ionosphere", "Wisconsin": "wisconsin"}
#: sets of the IDA collection with more rows, not in the paper
LARGER = {"Banana": "ida_banana", "Twonorm": "ida_twonorm", "Waveform": "ida_waveform", "Titanic": "ida_titanic"}
