"""The embedded default: web and job loop on one machine, started by one command."""
