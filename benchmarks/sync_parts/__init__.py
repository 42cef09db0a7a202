"""What ``benchmarks.sync`` measures, each part in a process of its own."""
