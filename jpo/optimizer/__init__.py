"""Where simulator, forecast, agent and prices meet: from runs to a decision. No store, no file, no clock."""
