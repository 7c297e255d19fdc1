"""How sure an order is: the bootstrap, posterior samples, intervals, and which matches to play next."""
