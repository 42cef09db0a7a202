"""What is known about GPU fleets: reading them, sizing for them, placing on them, pricing them.

Plain values in, plain values out. No module below this package imports Django, Celery or
Plotly, and imports run only down the floors: units, then inventory, workloads and catalogue,
then kubernetes, readiness and sizing, then placement, then costs and manifests, then the
command line.
"""
