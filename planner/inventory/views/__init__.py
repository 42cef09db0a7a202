"""The pages of the inventory: a view parses, calls one service or some queries, renders."""
