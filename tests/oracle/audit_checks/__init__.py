"""The checks of audit.py, a file for each part of a dataset."""
