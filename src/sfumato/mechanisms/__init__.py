"""How randomness is drawn: exact noise, channels at the client, Dirichlet urns, and the budget that pays for it."""
