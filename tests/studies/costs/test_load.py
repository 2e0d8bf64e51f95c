import pandas as pd

from spotsvm.studies.costs.load import LoadStudy, on_cluster, on_size, on_throughput
from tests.studies.small import ran


def test_a_simulated_cluster_waits_for_the_slowest_of_a_batch():
    study = ran("load")
    shares = study.part("cluster").set_index("how")["busy"]
    assert shares["batches"] < shares["asynchronous"] <= 1.0
    assert [panel.get_title() for panel in study.figure().axes] == ["A simulated cluster"]
    assert "32 virtual workers" in study.conclusion()


def test_records_of_many_trials_are_timed():
    study = LoadStudy(quick=True, parts=("size",))
    assert study.part("size")["trials"].tolist() == [100, 300]
    assert (study.part("size").drop(columns="search") > 0).all(axis=None)
    assert "At 300 trials" in study.conclusion()


def test_sentences_take_their_figures_from_the_table():
    run = {"search": "kriging", "how": "asynchronous", "workers": 256, "trials": 1000, "ask_milliseconds": 40.0}
    cases = pd.DataFrame([run | {"mean_seconds": 1.0, "busy": 0.3}, run | {"mean_seconds": 60.0, "busy": 0.96}])
    assert "30.0 % at 1 s, 96.0 % at 60 s" in on_cluster(cases)
    run = {"objective": "sleeping", "where": "killable workers", "one": 40.0, "runs": 7}
    cases = pd.DataFrame([run | {"search": "random", "two": 70.0, "ratio": 1.75},
                          run | {"search": "kriging", "one": 16.0, "two": 20.0, "ratio": 1.25}])  # fmt: skip
    assert "1.75 to 1.75 times with search='random' and 1.25" in on_throughput(cases)
    assert "Kriging takes 42 ms" in on_throughput(cases)
    assert "24 trials per second" in on_throughput(cases)
    run = {"tell_milliseconds": 3.0, "megabytes": 9.0, "resume_seconds": 11.0, "read_seconds": 1.0}
    cases = pd.DataFrame([run | {"search": "random", "trials": 1e4, "ask_seconds": 0.1},
                          run | {"search": "kriging", "trials": 1e4, "ask_seconds": 2.0}])  # fmt: skip
    assert "resuming 11.0 s and reading 1.0 s; the file has 9.0 MB" in on_size(cases)
    assert "A suggestion takes 2.000 s by kriging at 10000 trials" in on_size(cases)
