"""From a workload to what one replica of it needs: memory, shapes, load time, and the sums."""
