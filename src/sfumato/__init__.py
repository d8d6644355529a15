"""Sfumato: which version of this table of people should I publish?

`__init__.pyi` beside this file lists the public names, for readers, type checkers and the loader alike; each is
imported when it is first used, so that importing the package and starting the command line cost nothing.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
