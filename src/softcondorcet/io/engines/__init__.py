"""Engines that count votes which do not fit into memory: DuckDB, whatever Ibis knows, a Ray cluster."""
