import subprocess
import sys

CODE = """
import sys
sys.modules["optuna"] = None
try:
    import spotsvm.study.optuna
except ImportError as error:
    print(error)
"""


def test_it_says_what_is_missing():
    said = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout
    assert said == 'spotsvm.study.optuna needs Optuna, which is not installed: pip install "spotsvm[optuna]"\n'
