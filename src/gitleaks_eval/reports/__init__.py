"""The reports of a run: one module a file, one function a report; all of them are written, or none."""
