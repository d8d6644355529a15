"""What releases promise: the classes of `release.claim`."""

from sfumato.privacy.claims import ApproximateDP as ApproximateDP
from sfumato.privacy.claims import Claim as Claim
from sfumato.privacy.claims import Conditional as Conditional
from sfumato.privacy.claims import LocalDP as LocalDP
from sfumato.privacy.claims import NoGuarantee as NoGuarantee
from sfumato.privacy.claims import ProbabilisticDP as ProbabilisticDP
from sfumato.privacy.claims import PureDP as PureDP
from sfumato.privacy.claims import Syntactic as Syntactic
