"""Where workloads go: the problem, its solution with a bound, and the reason for each answer."""
