"""The 39 checks of the requirements: ordinary pytest functions, one module a category."""
