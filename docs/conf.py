"""The site that `nox -s docs` makes of this folder."""

project = "gitleaks-eval"
html_title = project
html_theme = "furo"
extensions = ["myst_parser"]
# Options begin with two hyphens, and are copied.
smartquotes = False
# Links to headings, as they are on GitHub.
myst_heading_anchors = 4
# `nox -s docs -- -b linkcheck` asks the network; pages of the service need somebody who is signed in.
linkcheck_anchors = False
