"""The reading edition: a static book of the executed lessons, for ``make site``."""
