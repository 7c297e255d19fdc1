"""Backends: who computes gradients, the processor, a GPU or a Ray cluster. Each is imported where it is used."""
