import copy
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from spotsvm import ExactSVC, ExpressionKernel
from spotsvm.errors import ArgumentError, StorageError
from spotsvm.kernels import Expression

X, Y = load_iris(return_X_y=True)
C1, C2 = Expression("c1"), Expression("c2")
PRODUCT = Expression("inner_product", (Expression("x_i"), Expression("x_j")))
AFFINE = Expression("add", (Expression("multiply", (C1, PRODUCT)), C2))
POLYNOMIAL = ExpressionKernel(Expression("square", (AFFINE,)), {"c1": 0.5, "c2": 1.0})
GAUSSIAN = ExpressionKernel(Expression("gaussian", value=0.3))
EVERY_DIGIT = ExpressionKernel(AFFINE, {"c1": 1 / 3, "c2": np.nextafter(1.0, 2.0)})


def test_values():
    np.testing.assert_allclose(POLYNOMIAL(X, X[:7]), polynomial_kernel(X, X[:7], degree=2, gamma=0.5, coef0=1.0))
    np.testing.assert_allclose(GAUSSIAN(X, X[:7]), rbf_kernel(X, X[:7], gamma=0.3), atol=1e-12)


@pytest.mark.parametrize("machine", [SVC, ExactSVC])
def test_as_the_kernel_of_a_machine(machine):
    plain = SVC(kernel="rbf", gamma=0.3, tol=1e-5).fit(X, Y)
    ours = machine(kernel=GAUSSIAN, tol=1e-5).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    np.testing.assert_array_equal(clone(ours).fit(X, Y).predict(X), plain.predict(X))
    assert cross_val_score(machine(kernel=POLYNOMIAL), X, Y).mean() > 0.95
    assert pickle.loads(pickle.dumps(ours)).kernel == GAUSSIAN


def test_the_formula_has_the_numbers():
    assert POLYNOMIAL.formula == "(0.5 * <x_i, x_j> + 1)^2"
    assert "0.5" in POLYNOMIAL.latex
    assert "c_1" not in POLYNOMIAL.latex


def test_equal_and_hashable():
    same = ExpressionKernel(Expression("square", (AFFINE,)), {"c2": 1.0, "c1": 0.5})
    assert same == POLYNOMIAL
    assert hash(same) == hash(POLYNOMIAL)
    assert copy.deepcopy(POLYNOMIAL) == POLYNOMIAL
    assert GAUSSIAN != POLYNOMIAL


@pytest.mark.parametrize("kernel", [POLYNOMIAL, GAUSSIAN, EVERY_DIGIT])
def test_json_and_back(kernel, tmp_path):
    assert ExpressionKernel.from_json(kernel.to_json()) == kernel
    kernel.save(tmp_path / "kernel.json")
    read = ExpressionKernel.load(str(tmp_path / "kernel.json"))
    assert read == kernel
    np.testing.assert_array_equal(read(X, X), kernel(X, X))


@pytest.mark.parametrize(
    ("expression", "constants", "words"),
    [
        ("<x_i, x_j>", {}, "use an Expression"),
        (Expression("x_i"), {}, "is a vector; a kernel is a scalar"),
        (AFFINE, {"c1": 1.0}, r"constants\['c2'\]=None; use a finite number"),
        (AFFINE, {"c1": 1.0, "c2": np.inf}, r"constants\['c2'\]=inf"),
        (AFFINE, {"c1": 1.0, "c2": 1.0, "c9": 1.0}, "has the entry 'c9'"),
        (AFFINE, {"c1": 1.0, "c2": 1.0, "c4": 1.0}, "has the entry 'c4', but the expression uses c1, c2; leave it out"),
        (PRODUCT, {"c1": 1.0}, "has the entry 'c1', but the expression uses no constants; leave it out"),
        (AFFINE, [1.0, 2.0], "use a dict"),
    ],
)
def test_what_is_no_kernel(expression, constants, words):
    with pytest.raises(ArgumentError, match=words):
        ExpressionKernel(expression, constants)


def changed(**entries):
    content = json.loads(POLYNOMIAL.to_json())
    content.update(entries)
    return json.dumps({name: value for name, value in content.items() if value != "gone"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        (POLYNOMIAL.to_json()[:60], "not valid JSON"),
        ("[1, 2]", "not a kernel expression"),
        ("[" * 100_000, "nested too deep"),
        (changed(format="a recipe"), "its 'format' is not"),
        (changed(version=99), "has version 99; this library reads version 1"),
        (changed(constants="gone"), "has no entry 'constants'; its entries are constants, expression, format, version"),
        (changed(constants={"c1": 1.0}), r"damaged: constants\['c2'\]=None"),
        (changed(constants={"c1": "x", "c2": 1.0}), r"damaged: constants\['c1'\]='x'"),
        (changed(constants={"c1": 1.0, "c2": 1.0, "c3": 1.0}), "damaged: constants has the entry 'c3', but"),
        (changed(constants=[1]), "damaged: constants=a list; use a dict"),
        (changed(constants={"x" * 500: 1.0}), "damaged: constants has the entry 'x{40}'...; constants are called"),
        (changed(version="9" * 500), "has version '9{40}'...; this"),
        (changed(more=1), "has the unknown entry 'more'; its entries are"),
        (changed(expression={"block": "__import__('os')"}), "damaged.*unknown block"),
        (changed(expression={"block": "x_i"}), "damaged.*is a vector"),
        (changed(expression=None), "damaged"),
        (POLYNOMIAL.to_json().replace("0.5", "NaN"), "damaged: constants"),
    ],
)
def test_damaged_text(text, words, tmp_path):
    with pytest.raises(StorageError, match=words):
        ExpressionKernel.from_json(text)
    path = tmp_path / "damaged.json"
    path.write_text(text)
    with pytest.raises(StorageError, match="damaged.json"):
        ExpressionKernel.load(path)


def test_a_file_of_bytes(tmp_path):
    path = tmp_path / "bytes.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StorageError, match="bytes.json"):
        ExpressionKernel.load(path)


def test_what_is_too_large_or_no_file_is_not_read(tmp_path):
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(10**12)  # sparse
    with pytest.raises(StorageError, match="large.json is larger than 16,777,216 bytes"):
        ExpressionKernel.load(large)
    with pytest.raises(StorageError, match="/dev/zero is not a regular file"):
        ExpressionKernel.load("/dev/zero")
    with pytest.raises(FileNotFoundError):
        ExpressionKernel.load(tmp_path / "none.json")


def test_a_value_that_overflows_is_infinite_and_silent():
    steep = ExpressionKernel(Expression("exp", (Expression("square", (PRODUCT,)),)))
    assert np.isinf(steep(X, X)).any()
    with pytest.raises(ValueError, match="gives inf"):
        ExactSVC(kernel=steep).fit(X, Y)
