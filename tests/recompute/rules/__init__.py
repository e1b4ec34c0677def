"""The rules of each ruleset, implemented from services/games/docs alone."""

from .chess import Chess
from .cowry import Cowry
from .kalah import Kalah
from .ludo import ChineseLudo
from .oware import Abapa, AnanAnan

RULESETS = {
    "chess": Chess,
    "chinese-ludo": ChineseLudo,
    "cowry": Cowry,
    "kalah": Kalah,
    "oware-abapa": Abapa,
    "oware-anan-anan": AnanAnan,
}
