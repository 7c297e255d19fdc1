"""Compiled inner loops: arrays in, arrays out, no names, no checks."""
