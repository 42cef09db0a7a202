"""Is this cluster ready to run AI? One file a check, a pure function from inventory to findings."""
