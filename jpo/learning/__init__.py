"""Learning of the agent: from recorded runs and by practice on simulated jobs, until a release test lets its policy decide."""
