"""What several tests use: servers, boards, ledgers, databases, crowds of voters and attacks."""
