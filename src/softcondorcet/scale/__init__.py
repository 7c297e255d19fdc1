"""Engines for data that one core is too small for: a GPU, SQL engines, a cluster. Each is imported where it is used."""
