"""HTTP: routes, pages, limits."""
