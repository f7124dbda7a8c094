"""The command line: names, options and help. One small click file per command; commands are imported when called."""
