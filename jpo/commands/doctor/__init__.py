"""`jpo doctor`: checks of the installation, the project, the machine and every source of runs. It writes nothing."""
