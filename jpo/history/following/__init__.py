"""What followed a suggestion: the runs that took its values, those that contradict it, and those that do not say."""
