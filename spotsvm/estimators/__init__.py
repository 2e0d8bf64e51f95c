"""Support vector machines as estimators of scikit-learn, a folder for each family.

It may import common and `spotsvm.solvers`.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
