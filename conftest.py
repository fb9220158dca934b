"""What the project's own tests share."""

pytest_plugins = ["pytester"]
