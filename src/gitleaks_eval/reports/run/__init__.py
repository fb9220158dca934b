"""The values of a run, and the reports about it: evaluation_report.json, scorecard.json and scorecard.md."""
