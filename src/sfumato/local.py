"""Noise at the client: plan a survey, count its reports, and estimate the true distribution from them."""

from sfumato.collect.planning import Planner as Planner
from sfumato.collect.reports import count_reports as count_reports
from sfumato.collect.reports import read_answers as read_answers
from sfumato.collect.reports import write_reports as write_reports
from sfumato.collect.survey import Survey as Survey
from sfumato.collect.survey import read_survey as read_survey
from sfumato.estimation.estimate import Estimate as Estimate
from sfumato.estimation.estimate import estimate as estimate
from sfumato.mechanisms.channels import RandomizedResponse as RandomizedResponse
from sfumato.mechanisms.channels import RoundedLaplace as RoundedLaplace
from sfumato.mechanisms.channels import SquareWave as SquareWave
from sfumato.mechanisms.channels import TruncatedGeometric as TruncatedGeometric
