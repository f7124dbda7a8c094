"""What is shown of launched runs, of runs that go on, and of a loop of runs."""
