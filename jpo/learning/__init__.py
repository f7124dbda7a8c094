"""How the agent learns: from recorded runs, and by practice on simulated jobs; a release test decides where its policy may decide."""
