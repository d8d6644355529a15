"""Flows of people between places: read them, publish synthetic ones, and measure how good these are."""

from sfumato.data.flows import Flows as Flows
from sfumato.data.places import Places as Places
from sfumato.data.places import read_weights as read_weights
from sfumato.measures.flows.evaluation import Evaluation as Evaluation
from sfumato.measures.flows.evaluation import evaluate as evaluate
from sfumato.mechanisms.dirichlet import Promise as Promise
from sfumato.mechanisms.dirichlet import promised_epsilon as promised_epsilon
from sfumato.methods.flows.domain import Domain as Domain
from sfumato.methods.flows.prior import Prior as Prior
from sfumato.methods.flows.synthesis import Synthesizer as Synthesizer
from sfumato.publish.flows import publish_flows as publish_flows
from sfumato.release import FlowRelease as FlowRelease
from sfumato.samples.commuters import commuters as commuters
