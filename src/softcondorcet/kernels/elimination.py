"""Linear equations of a few hundred unknowns, on one core.

The library behind numpy shares even these between cores, and where the cores are busy the parts wait for each other:
on a loaded machine 0.2 ms of work took 5.
"""

from softcondorcet.kernels.compile import lean


@lean
def eliminate(matrix, right):
    """Solve matrix x = right for several right sides, its columns: Gauss with row pivots. Both are overwritten."""
    c = len(matrix)
    for k in range(c):
        pivot = k
        for i in range(k + 1, c):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            swap(matrix[k], matrix[pivot])
            swap(right[k], right[pivot])
        for i in range(k + 1, c):
            factor = matrix[i, k] / matrix[k, k]
            if factor != 0.0:
                subtract(matrix[i, k + 1 :], matrix[k, k + 1 :], factor)
                subtract(right[i], right[k], factor)
    for k in range(c - 1, -1, -1):
        for i in range(k + 1, c):
            subtract(right[k], right[i], matrix[k, i])
        for j in range(right.shape[1]):
            right[k, j] /= matrix[k, k]


@lean
def subtract(line, other, factor):
    for j in range(len(line)):
        line[j] -= factor * other[j]


@lean
def swap(line, other):
    for j in range(len(line)):
        line[j], other[j] = other[j], line[j]
