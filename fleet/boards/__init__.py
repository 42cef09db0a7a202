"""Boards of a node by state, and why free ones cannot be had."""
