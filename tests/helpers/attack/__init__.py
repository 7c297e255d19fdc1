"""Attacks on the live leaderboard by subject, and what runs them; `python tests/attacks.py` is the command."""
