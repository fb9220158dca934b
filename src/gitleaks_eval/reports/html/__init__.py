"""report.html, a self-contained page made of the JSON of a run or a comparison."""
