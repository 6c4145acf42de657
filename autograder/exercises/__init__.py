"""The exercises, one module each: spec, cases and misconceptions."""
