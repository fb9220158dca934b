"""The verdict of a survey: which rules, places and entries fail, what is accepted, and the summary."""
