"""The algorithms that methods share: descent, Newton, exact orders, bounds."""
