"""The shipped checks of the requirements: ordinary pytest functions, one module a category."""
