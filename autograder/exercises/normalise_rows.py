"""Cases and misconceptions of ``normalise_rows``."""

import numpy as np

from autograder import Exercise
from course_lib.warm_up import normalise_rows

exercise = Exercise(normalise_rows, lesson="00_start_here", minutes=5, difficulty=1)


@exercise.spec
def spec(x):
    shares = np.empty(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        total = 0.0
        for number in x[index]:
            total = total + float(number)
        for column, number in enumerate(x[index]):
            shares[*index, column] = float(number) / total
    return shares


@exercise.usual
def usual(rng):
    return (rng.uniform(0.5, 4.0, size=(2, 5, 7)),)


@exercise.case("Two rows that sum to 8 and to 10 give these shares")
def small_example_by_hand(student, rng):
    x = np.array([[1.0, 2.0, 5.0], [6.0, 3.0, 1.0]])
    expected = np.array([[0.125, 0.25, 0.625], [0.6, 0.3, 0.1]])
    student.expect(student(x), expected)
    student.agrees(rng.uniform(0.5, 4.0, size=(2, 3)))


@exercise.case("In a batch of tables, too, each row is divided by its own sum")
def batch_of_tables(student, rng):
    student.agrees(rng.uniform(0.5, 4.0, size=(2, 5, 7)))


@exercise.case("In a square table, too, each row is divided by its own sum")
def square_table(student, rng):
    x = np.array([[1.0, 3.0], [1.0, 1.0]])
    student.expect(student(x), np.array([[0.25, 0.75], [0.5, 0.5]]))


@exercise.case("Whole numbers give fractions")
def whole_numbers(student, rng):
    x = np.array([[1, 4], [2, 3], [8, 2]])
    expected = np.array([[0.2, 0.8], [0.4, 0.6], [0.8, 0.2]])
    student.expect(student(x), expected)


@exercise.case(
    "Three tables of three rows and three columns are divided row by row", visible=False
)
def all_sizes_equal(student, rng):
    student.agrees(rng.uniform(0.5, 4.0, size=(3, 3, 3)))


@exercise.case("Tiny and huge rows side by side each sum to 1", visible=False)
def tiny_and_huge_rows(student, rng):
    x = np.array([[1e-9, 3e-9], [2.0, 6.0], [1e9, 3e9]])
    student.expect(student(x).sum(axis=-1), np.ones(3), what="the sum of each row")
    student.agrees(x)


@exercise.case("The table x stays as it is")
def arguments_stay(student, rng):
    student.leaves_unchanged(np.array([[1.0, 3.0, 4.0], [5.0, 2.0, 3.0]]))


@exercise.misconception(
    "Your row sums have lost the axis they were summed over: broadcasting lays them "
    "along the columns, which fits only by luck.",
    "Which shape must the sums have, so that there is one for each row and it reaches "
    "every column?",
    why="x.sum(axis=-1) drops the axis; a square table hides it, others raise.",
)
def keepdims_missing(x):
    return x / x.sum(axis=-1)


@exercise.misconception(
    "Your numbers are divided by sums over the first axis.",
    "Along which axis do you walk when you stay within one row?",
    why="axis=0 reads like 'the rows', but it is the axis that a sum removes.",
)
def sums_over_first_axis(x):
    return x / x.sum(axis=0)


@exercise.misconception(
    "Your numbers are divided by the sums of their columns.",
    "Which of your sums are 1 now, those of the rows or those of the columns?",
    why="The last two axes are taken for each other.",
)
def divided_by_column_sums(x):
    return x / x.sum(axis=-2, keepdims=True)


@exercise.misconception(
    "Your single tables are right; in a batch your sums run over axis 1, and that is "
    "not where a row lies.",
    "How can you name the last axis without knowing how many come before it?",
    why="axis=1 is the last axis of a table, and the second of a batch of tables.",
)
def sums_over_axis_one(x):
    return x / x.sum(axis=1, keepdims=True)


@exercise.misconception(
    "Your single tables are right; in a batch each table is divided by the sum of the "
    "whole table.",
    "What does a loop over x give you when x has three axes?",
    why="`for row in x` walks along the first axis, whatever that is.",
)
def loop_over_first_axis(x):
    return np.array([row / row.sum() for row in x])


@exercise.misconception(
    "Your numbers are divided by the sum of everything.",
    "How many sums does a table of two rows need?",
    why="x.sum() without an axis adds up the whole array.",
)
def divided_by_total(x):
    return x / x.sum()


@exercise.misconception(
    "Your numbers are divided by the largest number of their row.",
    "What do your rows sum to?",
    why="Scaling to a largest value of 1 is called normalising as well.",
)
def divided_by_largest(x):
    return x / x.max(axis=-1, keepdims=True)


@exercise.misconception(
    "Your rows have length 1: they are divided by their Euclidean norm.",
    "Do the numbers of a row sum to 1, or do their squares?",
    why="'Normalise a vector' mostly means to give it length 1.",
)
def divided_by_euclidean_norm(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@exercise.misconception(
    "Your rows are a softmax: they sum to 1, but the proportions have changed.",
    "If one number is twice as large as another, should its share be twice as large?",
    why="Softmax is the best known way to make rows sum to 1.",
)
def softmax_of_rows(x):
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@exercise.misconception(
    "Your rows are standardised: mean 0 and standard deviation 1.",
    "Can a share of something be negative?",
    why="'Normalising' data often means the z-score.",
)
def standardised_rows(x):
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)


@exercise.misconception(
    "Your division leaves whole numbers only: what is behind the point is cut off.",
    "What is the difference between / and // in Python?",
    why="// is taken for the division of arrays, or for that of whole numbers.",
)
def floor_division(x):
    return x // x.sum(axis=-1, keepdims=True)


@exercise.misconception(
    "Your fractions are cut off when x holds whole numbers: your result takes its type "
    "from x.",
    "Which type of numbers does np.zeros_like(x) make room for?",
    why="zeros_like and empty_like copy the type along with the shape.",
)
def room_like_x(x):
    shares = np.zeros_like(x)
    shares[...] = x / x.sum(axis=-1, keepdims=True)
    return shares


@exercise.misconception(
    "Your shares are a little too small: something is added to each sum.",
    "When would a sum of positive numbers need help to be divided by?",
    why="A small number in the denominator is a habit from divisions that may meet 0.",
)
def eps_in_denominator(x):
    return x / (x.sum(axis=-1, keepdims=True) + 1e-8)


@exercise.misconception(
    "Your division writes its results into x itself.",
    "Whose array is x, and who may still need its numbers?",
    why="x /= … looks like x = x / …, but it changes the caller's array.",
)
def divided_in_place(x):
    x /= x.sum(axis=-1, keepdims=True)
    return x
