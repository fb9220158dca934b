"""The survey of a candidate: rules, places and entries asked of its scanner, and what hides missed secrets."""
