"""The live leaderboard: votes come in over HTTP, are stored for good, and the page shows what they say."""
