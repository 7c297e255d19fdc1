"""Methods compared: on the same votes, on held-out votes, and on votes with something changed."""
