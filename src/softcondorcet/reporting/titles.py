"""Methods under the names that people know them by."""

TITLES = {"sco": "SCO", "bradley_terry": "Bradley-Terry", "elo": "Elo", "copeland": "Copeland", "kemeny": "Kemeny"}


def title_of(method: str) -> str:
    return TITLES.get(method, method.replace("_", " "))
