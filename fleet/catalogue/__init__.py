"""Figures about the world: accelerators, MIG profiles, models, instance types, prices, releases.

Each table is a CSV file with a source and a date per row; the modules beside it look things up.
"""
