"""The inventory in plain words and numbers, for machines: ``gpu-fleet inventory --json``."""
