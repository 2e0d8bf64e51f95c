"""The command `spotsvm demo`."""

from __future__ import annotations

from typing import Any

import click

from spotsvm.commands.run_tuning import run_tuning
from spotsvm.commands.tuning_options import tuning_options
from spotsvm.commands.worker_options import worker_options


@click.command()
@tuning_options
@worker_options
def demo(**options: Any) -> None:
    """Tune an SVM on scikit-learn's breast-cancer data."""
    from sklearn.datasets import load_breast_cancer

    from spotsvm.tabular import make_table

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    click.echo("Breast cancer (Wisconsin, diagnostic): 569 tumours (malignant or benign), 30 measurements of their cells.")
    run_tuning(make_table(X, y), **options)
