"""One file per method or small family; ``registry`` lists them by name."""
