"""Where a pod or a gang could be bound now, by resource names: the scheduler's own questions."""
