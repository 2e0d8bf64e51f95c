"""The literature that a methods section cites, as BibTeX entries by key."""

from __future__ import annotations

from spotsvm.common.checkout import library_version

_LITERATURE = {
    "byrd1995": (
        "article",
        "Byrd, R. H. and Lu, P. and Nocedal, J. and Zhu, C.",
        "A limited memory algorithm for bound constrained optimization",
        1995,
        {"journal": "SIAM Journal on Scientific Computing"},
    ),
    "carrizosa2014": (
        "article",
        "Carrizosa, E. and Mart{\\'i}n-Barrag{\\'a}n, B. and Romero Morales, D.",
        "A nested heuristic for parameter tuning in Support Vector Machines",
        2014,
        {
            "journal": "Computers \\& Operations Research",
            "volume": "43",
            "pages": "328--334",
            "doi": "10.1016/j.cor.2013.10.002",
        },
    ),
    "caruana2004": (
        "inproceedings",
        "Caruana, R. and Niculescu-Mizil, A. and Crew, G. and Ksikes, A.",
        "Ensemble selection from libraries of models",
        2004,
        {"booktitle": "International Conference on Machine Learning"},
    ),
    "deb2002": (
        "article",
        "Deb, K. and Pratap, A. and Agarwal, S. and Meyarivan, T.",
        "A fast and elitist multiobjective genetic algorithm: NSGA-II",
        2002,
        {"journal": "IEEE Transactions on Evolutionary Computation", "volume": "6", "number": "2"},
    ),
    "efron1983": (
        "article",
        "Efron, B.",
        "Estimating the error rate of a prediction rule: improvement on cross-validation",
        1983,
        {"journal": "Journal of the American Statistical Association"},
    ),
    "gelbart2014": (
        "inproceedings",
        "Gelbart, M. A. and Snoek, J. and Adams, R. P.",
        "Bayesian optimization with unknown constraints",
        2014,
        {"booktitle": "Uncertainty in Artificial Intelligence"},
    ),
    "ginsbourger2010": (
        "incollection",
        "Ginsbourger, D. and Le Riche, R. and Carraro, L.",
        "Kriging is well-suited to parallelize optimization",
        2010,
        {"booktitle": "Computational Intelligence in Expensive Optimization Problems", "publisher": "Springer"},
    ),
    "hansen2016": (
        "misc",
        "Hansen, N.",
        "The CMA Evolution Strategy: A Tutorial",
        2016,
        {},
    ),
    "hvarfner2022": (
        "inproceedings",
        "Hvarfner, C. and Stoll, D. and Souza, A. and Lindauer, M. and Hutter, F. and Nardi, L.",
        "piBO: Augmenting acquisition functions with user beliefs for Bayesian optimization",
        2022,
        {"booktitle": "International Conference on Learning Representations"},
    ),
    "jones1998": (
        "article",
        "Jones, D. R. and Schonlau, M. and Welch, W. J.",
        "Efficient global optimization of expensive black-box functions",
        1998,
        {"journal": "Journal of Global Optimization", "volume": "13", "pages": "455--492"},
    ),
    "knowles2006": (
        "article",
        "Knowles, J.",
        "ParEGO: a hybrid algorithm with on-line landscape approximation for expensive multiobjective optimization problems",
        2006,
        {"journal": "IEEE Transactions on Evolutionary Computation", "volume": "10", "number": "1"},
    ),
    "koch2011": (
        "techreport",
        "Koch, P. and Bischl, B. and Flasch, O. and Bartz-Beielstein, T. and Konen, W.",
        "On the Tuning and Evolution of Support Vector Kernels",
        2011,
        {"institution": "Cologne University of Applied Sciences", "type": "CIOP Report", "number": "03/11"},
    ),
    "lacoste2014": (
        "inproceedings",
        "Lacoste, A. and Marchand, M. and Laviolette, F. and Larochelle, H.",
        "Agnostic Bayesian learning of ensembles",
        2014,
        {"booktitle": "International Conference on Machine Learning"},
    ),
    "nadeau2003": (
        "article",
        "Nadeau, C. and Bengio, Y.",
        "Inference for the generalization error",
        2003,
        {"journal": "Machine Learning", "volume": "52", "pages": "239--281"},
    ),
    "platt1999": (
        "incollection",
        "Platt, J. C.",
        "Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods",
        1999,
        {"booktitle": "Advances in Large Margin Classifiers", "publisher": "MIT Press"},
    ),
    "radhakrishnan2024": (
        "article",
        "Radhakrishnan, A. and Beaglehole, D. and Pandit, P. and Belkin, M.",
        "Mechanism for feature learning in neural networks and backpropagation-free machine learning models",
        2024,
        {"journal": "Science", "volume": "383"},
    ),
    "snoek2012": (
        "inproceedings",
        "Snoek, J. and Larochelle, H. and Adams, R. P.",
        "Practical Bayesian optimization of machine learning algorithms",
        2012,
        {"booktitle": "Advances in Neural Information Processing Systems"},
    ),
    "tibshirani2009": (
        "article",
        "Tibshirani, R. J. and Tibshirani, R.",
        "A bias correction for the minimum error rate in cross-validation",
        2009,
        {"journal": "The Annals of Applied Statistics"},
    ),
    "tsamardinos2018": (
        "article",
        "Tsamardinos, I. and Greasidou, E. and Borboudakis, G.",
        "Bootstrapping the out-of-sample predictions for efficient and accurate cross-validation",
        2018,
        {"journal": "Machine Learning"},
    ),
}  # fmt: skip

KEYS = ("spotsvm", *_LITERATURE)


def bibtex_entry(key: str) -> str:
    """Return the BibTeX entry of a key; the library's own entry has its version.

    Examples
    --------
    >>> print(bibtex_entry("platt1999"))
    @incollection{platt1999,
      author = {Platt, J. C.},
      title = {{Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods}},
      year = {1999},
      booktitle = {Advances in Large Margin Classifiers},
      publisher = {MIT Press}
    }
    """
    if key == "spotsvm":
        kind, fields = "software", {
            "author": "{The spotsvm developers}",
            "title": "{spotsvm}",
            "version": library_version(),
            "license": "BSD-3-Clause",
        }  # fmt: skip
    else:
        kind, author, title, year, further = _LITERATURE[key]
        fields = {"author": author, "title": f"{{{title}}}", "year": str(year), **further}
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}\n}}"
