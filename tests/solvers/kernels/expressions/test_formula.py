import pytest

from spotsvm.kernels import Expression

X_I, X_J = Expression("x_i"), Expression("x_j")
C1, C2 = Expression("c1"), Expression("c2")


def node(block, *arguments, value=None):
    return Expression(block, arguments, value)


LINEAR = node("inner_product", X_I, X_J)


def stretched(constant):
    """(c |x_i|^2) x_j, as the paper has it in two kernels."""
    return node("scalar_times_vector", node("multiply", constant, node("inner_product", X_I, X_I)), X_J)


TABLE_10 = {
    "Ionosphere": (
        node("add", C1, node("divide", node("square", LINEAR), node("square", node("inner_product", stretched(C2), X_J)))),
        r"c_1 + \frac{(\vec{X}_i^T \vec{X}_j)^2}{[((c_2(\vec{X}_i^T \vec{X}_i))\vec{X}_j)^T \vec{X}_j]^2}",
        "c1 + <x_i, x_j>^2 / <c2 * <x_i, x_i> * x_j, x_j>^2",
    ),
    "Glass2": (
        node("add", node("square", node("inner_product", X_J, stretched(C1))), node("square", LINEAR)),
        r"[\vec{X}_j^T ((c_1(\vec{X}_i^T \vec{X}_i))\vec{X}_j)]^2 + (\vec{X}_i^T \vec{X}_j)^2",
        "<x_j, c1 * <x_i, x_i> * x_j>^2 + <x_i, x_j>^2",
    ),
    "Heart": (LINEAR, r"\vec{X}_i^T \vec{X}_j", "<x_i, x_j>"),
    "Liver": (
        node("add", C1, node("square", node("multiply", C2, LINEAR))),
        r"c_1 + (c_2 \vec{X}_i^T \vec{X}_j)^2",
        "c1 + (c2 * <x_i, x_j>)^2",
    ),
    "Pima": (node("multiply", C1, LINEAR), r"c_1 \vec{X}_i^T \vec{X}_j", "c1 * <x_i, x_j>"),
}


@pytest.mark.parametrize("name", TABLE_10)
def test_the_kernels_of_table_10_are_printed_as_in_the_paper(name):
    """But for one pair of parentheses, about an inner product that ends a product in parentheses anyway, and spaces."""
    expression, latex, text = TABLE_10[name]
    for number in "12":
        latex = latex.replace(rf"(c_{number}(\vec{{X}}_i^T \vec{{X}}_i))", rf"(c_{number}\vec{{X}}_i^T \vec{{X}}_i)")
    assert expression.latex().replace(" ", "") == latex.replace(" ", "")
    assert expression.text() == text


PLUS, MINUS = node("add", C1, C2), node("subtract", C1, C2)


@pytest.mark.parametrize(
    ("expression", "text", "latex"),
    [
        (node("subtract", C1, MINUS), "c1 - (c1 - c2)", "c_1 - (c_1 - c_2)"),
        (node("subtract", PLUS, C1), "c1 + c2 - c1", "c_1 + c_2 - c_1"),
        (node("multiply", PLUS, C1), "(c1 + c2) * c1", "(c_1 + c_2) c_1"),
        (node("divide", C1, node("multiply", C1, C2)), "c1 / (c1 * c2)", r"\frac{c_1}{c_1 c_2}"),
        (node("divide", node("divide", C1, C2), C1), "c1 / c2 / c1", r"\frac{\frac{c_1}{c_2}}{c_1}"),
        (node("square", node("square", C1)), "(c1^2)^2", "(c_1^2)^2"),
        (node("square", node("divide", C1, C2)), "(c1 / c2)^2", r"(\frac{c_1}{c_2})^2"),
        (node("exp", node("exp", C1)), "exp(exp(c1))", r"\exp(\exp(c_1))"),
        (node("multiply", LINEAR, C1), "<x_i, x_j> * c1", r"(\vec{X}_i^T \vec{X}_j) c_1"),
        (node("multiply", LINEAR, LINEAR), "<x_i, x_j> * <x_i, x_j>", r"(\vec{X}_i^T \vec{X}_j) \vec{X}_i^T \vec{X}_j"),
        (
            node("squared_distance", node("add_vectors", X_I, X_J), node("subtract_vectors", X_I, X_J)),
            "|x_i + x_j - (x_i - x_j)|^2",
            r"\|\vec{X}_i + \vec{X}_j - (\vec{X}_i - \vec{X}_j)\|^2",
        ),
        (node("inner_product", node("add_vectors", X_I, X_J), X_J), "<x_i + x_j, x_j>", r"(\vec{X}_i + \vec{X}_j)^T \vec{X}_j"),
        (Expression("number", value=-2.0), "-2", "-2"),
        (node("add", C1, Expression("number", value=-2.0)), "c1 + (-2)", "c_1 + (-2)"),
        (node("square", Expression("number", value=-2.0)), "(-2)^2", "(-2)^2"),
        (node("multiply", C1, Expression("number", value=2.0)), "c1 * 2", r"c_1 \cdot 2"),
        (
            Expression("gaussian", value=1e-5),
            "exp(-1e-05 * |x_i - x_j|^2)",
            r"\exp(-1 \cdot 10^{-5} \|\vec{X}_i - \vec{X}_j\|^2)",
        ),
        (node("scale", Expression("linear", value=2.0), value=0.5), "0.5 * 2 * <x_i, x_j>", r"0.5 \cdot 2 \vec{X}_i^T \vec{X}_j"),
        (node("scale", PLUS, value=0.5), "0.5 * (c1 + c2)", "0.5 (c_1 + c_2)"),
        (
            node("cube", Expression("rational", value=2.0)),
            "(1 / (1 + 2 * |x_i - x_j|^2))^3",
            r"(\frac{1}{1 + 2 \|\vec{X}_i - \vec{X}_j\|^2})^3",
        ),
    ],
)
def test_parentheses(expression, text, latex):
    assert expression.text() == text
    assert expression.latex().replace("[", "(").replace("]", ")") == latex
