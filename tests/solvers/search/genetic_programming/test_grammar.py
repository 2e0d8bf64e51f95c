from spotsvm.kernels import Expression

LINEAR = Expression("inner_product", (Expression("x_i"), Expression("x_j")))


class Asked:
    """Accepts what is of a size, and keeps what it was asked about."""

    def __init__(self, size):
        self.size, self.seen = size, []

    def __call__(self, expression):
        self.seen.append(expression)
        return expression.size == self.size


COMMUTING = {"add", "multiply", "add_vectors", "inner_product", "squared_distance"}
PRODUCT = Expression("inner_product", (Expression("x_i"), Expression("x_j")))


def shuffled(node, rng):
    arguments = [shuffled(child, rng) for child in node.arguments]
    name = node.block
    if name in COMMUTING and rng.random() < 0.5:
        arguments.reverse()
    if name in ("vector_times_scalar", "scalar_times_vector") and rng.random() < 0.5:
        arguments.reverse()
        name = "vector_times_scalar" if name == "scalar_times_vector" else "scalar_times_vector"
    return Expression(name, tuple(arguments), node.value)


def relabelled(node, names):
    return Expression(names.get(node.block, node.block), tuple(relabelled(c, names) for c in node.arguments), node.value)


C1, C2 = Expression("c1"), Expression("c2")
SCALED = Expression("multiply", (C1, PRODUCT))
