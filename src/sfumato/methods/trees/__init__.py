"""Differentially private methods that divide the domain into boxes and count them."""
