"""The shipped checks of the requirements: ordinary pytest functions, one module a category."""

# The mark that makes a pytest function a check.
CHECK_MARK = "gitleaks_check"
