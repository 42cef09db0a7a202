"""Reading clusters: where objects come from and what their fields mean."""
