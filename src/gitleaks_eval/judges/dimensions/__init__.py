"""The shipped judges, a module a dimension, and the evidence that they share."""
