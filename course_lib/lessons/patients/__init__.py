"""The bug hunt of lesson 16: a small Transformer, and what can be wrong with it.

``parts`` has the parts of a healthy model, ``reader`` joins them to a model that reads
numbers, ``broken`` has the parts that are wrong, and ``ward`` the patients: which of
them has which.
"""
