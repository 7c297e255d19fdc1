"""Ratings that follow votes as they arrive."""
