"""What reviewers see in a pull request: comment.md, SARIF and Code Quality."""
