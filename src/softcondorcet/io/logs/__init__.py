"""Readers of evaluation logs, one file for each tool. ``LOGS`` lists their formats."""
