"""What a verdict speaks for, as tests: each rule, each usual place, each entry of the configuration."""
