"""How the agent learns: from recorded runs and by practice on simulated jobs, until a release test lets its policy decide."""
