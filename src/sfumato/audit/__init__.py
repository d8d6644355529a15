"""Audit a program that claims differential privacy: canaries, one run, guesses, and the ε that they prove."""

from sfumato.audit.bound import chance, lower_bound
from sfumato.audit.one_run import Audit, audit_generator

__all__ = ["Audit", "audit_generator", "chance", "lower_bound"]
