"""The claim that nothing is promised."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sfumato.privacy.claims.base import Choice, Claim


@dataclass(frozen=True, kw_only=True)
class NoGuarantee(Claim):
    """Nothing is promised, and why."""

    kind: ClassVar[str] = "none"
    promises: ClassVar[bool] = False
    reason: str

    def under(self, assumptions: tuple[str, ...]) -> Self:
        return self

    def chosen(self, choice: Choice) -> Self:
        return self

    def sentence(self) -> str:
        return f"nothing is promised: {self.reason}"

    def form(self, span: float) -> str:
        return f"Rows or counts without a promise: {self.reason}."

    def _spec(self) -> dict[str, Any]:
        return {"reason": self.reason}

    @classmethod
    def parse(cls, spec: Any) -> Self:
        return cls(reason=str(spec["reason"]))
