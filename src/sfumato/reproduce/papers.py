"""The papers that can be reproduced, and what all of them come to together."""

from sfumato.reproduce.alhussaeni2018 import PAPER as ALHUSSAENI2018
from sfumato.reproduce.cormode2013 import PAPER as CORMODE2013
from sfumato.reproduce.kacem2018 import PAPER as KACEM2018
from sfumato.reproduce.li2009 import PAPER as LI2009
from sfumato.reproduce.machanavajjhala2008 import PAPER as MACHANAVAJJHALA2008
from sfumato.reproduce.paper import Paper
from sfumato.reproduce.together import PAPER as TOGETHER

PAPERS: dict[str, Paper] = {
    paper.name: paper for paper in (LI2009, CORMODE2013, ALHUSSAENI2018, MACHANAVAJJHALA2008, KACEM2018, TOGETHER)
}
