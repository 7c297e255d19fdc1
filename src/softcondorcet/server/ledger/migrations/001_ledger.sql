-- One row for each thing that happened, never changed and never deleted: votes, and what was later said of them.
-- Types are those that SQLite and PostgreSQL share. Weights are whole millionths, so that sums are exact in any order.

CREATE TABLE board (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    made DOUBLE PRECISION NOT NULL
);

CREATE TABLE agent (
    board BIGINT NOT NULL REFERENCES board (id),
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (board, number),
    UNIQUE (board, name)
);

-- kind: vote; retract (of one vote, its id in body); quarantine and release (of one voter, with the reason in body).
-- body of a vote: tiers of agent numbers, best first, as JSON: [[3], [1, 2]].
-- winner: what a battle said, a, b, tie or both_bad; NULL for a ranking.
CREATE TABLE ledger (
    id BIGINT PRIMARY KEY,
    board BIGINT NOT NULL REFERENCES board (id),
    kind TEXT NOT NULL,
    made DOUBLE PRECISION NOT NULL,
    token BIGINT,
    voter TEXT,
    grp TEXT,
    weight BIGINT NOT NULL,
    winner TEXT,
    body TEXT NOT NULL
);

CREATE INDEX ledger_by_board ON ledger (board, id);

-- What was answered to a request with an Idempotency-Key: the digest of its body, and the first and last row it wrote.
CREATE TABLE answer (
    board BIGINT NOT NULL REFERENCES board (id),
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (board, key)
);

-- Only digests of tokens are kept. board is NULL for a token that is good for every board.
CREATE TABLE token (
    id BIGINT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    board BIGINT REFERENCES board (id),
    scope TEXT NOT NULL,
    label TEXT NOT NULL,
    made DOUBLE PRECISION NOT NULL,
    revoked DOUBLE PRECISION
);

-- Ratings fitted to all rows of a board up to `last`, and what else was found out, as JSON.
CREATE TABLE fit (
    id BIGINT PRIMARY KEY,
    board BIGINT NOT NULL REFERENCES board (id),
    last BIGINT NOT NULL,
    made DOUBLE PRECISION NOT NULL,
    body TEXT NOT NULL
);

CREATE INDEX fit_by_board ON fit (board, id);

-- What agents answered to a task: shown side by side, without names, on the page where people vote.
CREATE TABLE sample (
    board BIGINT NOT NULL REFERENCES board (id),
    task TEXT NOT NULL,
    agent TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (board, task, agent)
);
